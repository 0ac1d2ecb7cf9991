// The quiet bar under the header: connection trouble, and short remarks that pass.

import { byId, button } from "./dom.js";

const PATIENCE = 900;
const BACK = 2000;
const REMARK = 7000;

export class LinkBar {
  #bar = byId("link-bar");
  #timer = 0;
  #down = false;
  #shown = false;
  #retry;

  constructor(retry) {
    this.#retry = retry;
  }

  /** Most breaks heal before anybody would notice; only a lasting one is worth a word. */
  set down(down) {
    if (down === this.#down) return;
    this.#down = down;
    clearTimeout(this.#timer);
    if (down) this.#timer = setTimeout(() => this.#complain(), PATIENCE);
    else if (this.#shown) this.#say("Connected again.", "good", BACK);
  }

  remark(text) {
    if (!this.#shown) this.#say(text, "plain", REMARK);
  }

  #complain() {
    this.#shown = true;
    const what = navigator.onLine ? "Reconnecting…" : "You are offline.";
    this.#draw(`${what} What you write is kept and sent later.`, "bad");
    this.#bar.append(button("Try now", () => this.#retry(), "link"));
  }

  #say(text, tone, time) {
    this.#draw(text, tone);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#shown = false;
      this.#bar.hidden = true;
      this.#bar.replaceChildren();
    }, time);
  }

  #draw(text, tone) {
    this.#bar.hidden = false;
    this.#bar.dataset.tone = tone;
    const words = document.createElement("span");
    words.textContent = text;
    this.#bar.replaceChildren(words);
  }
}
