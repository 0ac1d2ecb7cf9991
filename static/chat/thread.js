// The column of messages: what stands where, and where the reader is looking.
//
// Every row has an order: the sequence of its event, or, while it has none, a place after all
// that have one. What is being worked on stands last, so nothing that is being read moves.

import { byId } from "./dom.js";
import { dayOf } from "./format.js";
import { dayMark } from "./messages.js";

export const UNSENT = 1e12;
export const WORKING = 2e12;
const NEAR = 140;
const GLIDE = 700;

export class Thread {
  #element = byId("thread");
  #newer = byId("newer");
  #orders = new WeakMap();
  #local = 0;
  #day = null;
  #reading = true;
  #gliding = 0;
  replaying = false;

  constructor() {
    this.#newer.addEventListener("click", () => this.toEnd(true));
    addEventListener("scroll", () => this.#watch(), { passive: true });
  }

  get empty() {
    return !this.#element.firstElementChild;
  }

  /** An order for something local that belongs after everything the server has said so far. */
  unsent() {
    this.#local += 1;
    return UNSENT + this.#local;
  }

  working() {
    this.#local += 1;
    return WORKING + this.#local;
  }

  place(row, order) {
    this.#orders.set(row, order);
    let before = this.#element.lastElementChild;
    while (before && (before === row || this.#orderOf(before) > order)) {
      before = before.previousElementSibling;
    }
    const next = before ? before.nextElementSibling : this.#element.firstElementChild;
    if (next !== row && (row.parentNode !== this.#element || row.nextElementSibling !== next)) {
      this.#element.insertBefore(row, next);
    }
  }

  /** Mark a new day above the first event of that day. */
  mark(event) {
    const today = dayOf(event.at);
    const first = this.#day === null;
    if (today === this.#day) return;
    this.#day = today;
    if (first && today === dayOf()) return;
    this.place(dayMark(event.at), event.seq - 0.5);
  }

  clear() {
    this.#element.replaceChildren();
    this.#day = null;
    this.#newer.hidden = true;
  }

  toEnd(smooth = false) {
    this.#newer.hidden = true;
    this.#reading = true;
    this.#scroll(document.documentElement.scrollHeight, smooth);
  }

  /** Bring new content into view, its beginning first, unless the reader has scrolled away. */
  follow(row) {
    if (this.replaying || !row.isConnected) return;
    if (!this.#reading) {
      this.#newer.hidden = false;
      return;
    }
    const edge = byId("main").offsetTop + 12;
    const top = row.getBoundingClientRect().top + scrollY - edge;
    this.#scroll(Math.min(top, document.documentElement.scrollHeight - innerHeight), true);
  }

  #scroll(top, smooth) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#gliding = smooth && !still ? performance.now() + GLIDE : 0;
    scrollTo({ top, behavior: smooth && !still ? "smooth" : "instant" });
  }

  #watch() {
    // On the way to a place we chose ourselves the reader has not scrolled away.
    if (performance.now() < this.#gliding) return;
    const rest = document.documentElement.scrollHeight - innerHeight - scrollY;
    this.#reading = rest < NEAR;
    if (this.#reading) this.#newer.hidden = true;
  }

  #orderOf(row) {
    return this.#orders.get(row) ?? 0;
  }
}
