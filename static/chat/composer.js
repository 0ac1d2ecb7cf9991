// The one field. It is never locked, and what is typed in it outlives a reload.

import { byId } from "./dom.js";

export const LIMIT = 8000;
const COUNT_FROM = 7500;

/** Length as the server counts it: in characters, not in UTF-16 units. */
const lengthOf = (text) => (text.length < COUNT_FROM ? text.length : [...text].length);

export class Composer {
  #form = byId("composer");
  #field = byId("field");
  #counter = byId("counter");
  #draft;
  #send;

  constructor({ draft, send }) {
    this.#draft = draft;
    this.#send = send;
    this.#field.value = draft.get() ?? "";
    this.#field.addEventListener("input", () => this.#typed());
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#typed();
  }

  focus() {
    this.#field.focus({ preventScroll: true });
  }

  /** Put words back for editing, in front of what is there already. */
  restore(text) {
    const rest = this.#field.value.trim();
    this.#field.value = rest ? `${text}\n\n${rest}` : text;
    this.#typed();
    this.focus();
  }

  clear() {
    this.#field.value = "";
    this.#typed();
  }

  #key(event) {
    // While a word is being composed (Japanese, Chinese …) Enter belongs to the input method.
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.#submit();
  }

  #typed() {
    const text = this.#field.value;
    this.#draft.set(text || null);
    this.#grow();
    this.#count(lengthOf(text));
    this.#form.dataset.filled = String(text.trim() !== "");
  }

  #grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.#field.style.blockSize = "auto";
    this.#field.style.blockSize = `${this.#field.scrollHeight}px`;
  }

  #count(length) {
    const over = length - LIMIT;
    const near = length >= COUNT_FROM;
    const shown = `${length.toLocaleString("en")} / ${LIMIT.toLocaleString("en")}`;
    this.#counter.textContent = near ? shown : "";
    if (over > 0) {
      this.#counter.textContent = `${shown}: ${over.toLocaleString("en")} too many. Shorten it, or send it in two messages.`;
    }
    this.#counter.dataset.over = String(over > 0);
    this.#field.setAttribute("aria-invalid", String(over > 0));
  }

  #submit() {
    const text = this.#field.value.trim();
    if (!text || lengthOf(text) > LIMIT) {
      this.focus();
      return;
    }
    this.clear();
    this.focus();
    this.#send(text);
  }
}
