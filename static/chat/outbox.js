// Messages on their way. One at a time and in order; each carries a client_id by which the
// server knows a repeated one, so sending again is always safe.

const PAUSES = [1000, 2000, 4000, 8000, 15_000];
const SERVER_TROUBLE_LIMIT = 4;

/** A random id. `crypto.randomUUID` is missing on plain http, where a first try-out may run. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Outbox {
  #store;
  #deliver;
  #changed;
  #items;
  #busy = false;
  #timer = 0;
  #tries = 0;

  /** `deliver(item)` resolves when the server has the message; `changed(item)` redraws it. */
  constructor({ store, deliver, changed }) {
    this.#store = store;
    this.#deliver = deliver;
    this.#changed = changed;
    this.#items = store.get().map((item) =>
      item.state === "failed" ? item : { ...item, state: "queued" },
    );
  }

  get items() {
    return this.#items;
  }

  find(clientId) {
    return this.#items.find((item) => item.client_id === clientId);
  }

  add(text) {
    const item = { client_id: newId(), text, at: Date.now(), state: "queued" };
    this.#items.push(item);
    this.#save();
    return item;
  }

  /** The server has it: by reply or by event, whichever came first. */
  settle(clientId) {
    const item = this.find(clientId);
    if (item) this.#remove(item, "sent");
  }

  discard(clientId) {
    const item = this.find(clientId);
    if (item) this.#remove(item, "discarded");
  }

  retry(clientId) {
    const item = this.find(clientId);
    if (!item) return;
    this.#mark(item, "queued");
    this.wake();
  }

  clear() {
    this.#items = [];
    this.#save();
  }

  /** Send now: the connection is back, or somebody asked for it. */
  wake() {
    clearTimeout(this.#timer);
    this.#tries = 0;
    this.#pump();
  }

  async #pump() {
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (let item = this.#next(); item; item = this.#next()) {
        if (!(await this.#attempt(item))) break;
      }
    } finally {
      this.#busy = false;
    }
  }

  #next() {
    return this.#items.find((item) => item.state === "queued");
  }

  /** True when the next message may go. */
  async #attempt(item) {
    this.#mark(item, "sending");
    try {
      await this.#deliver(item);
    } catch (error) {
      return this.#failed(item, error);
    }
    this.#tries = 0;
    this.settle(item.client_id);
    return true;
  }

  #failed(item, error) {
    if (!this.#items.includes(item)) return true;
    this.#tries += 1;
    const again = error.retryable && (!error.status || this.#tries < SERVER_TROUBLE_LIMIT);
    if (!again) {
      this.#mark(item, "failed", error.message);
      return true;
    }
    this.#mark(item, "queued");
    const pause = PAUSES[Math.min(this.#tries, PAUSES.length) - 1];
    this.#timer = setTimeout(() => this.#pump(), pause);
    return false;
  }

  #mark(item, state, error = "") {
    Object.assign(item, { state, error });
    this.#save();
    this.#changed(item);
  }

  #remove(item, state) {
    this.#items = this.#items.filter((other) => other !== item);
    item.state = state;
    this.#save();
    this.#changed(item);
  }

  #save() {
    this.#store.set(this.#items.length ? this.#items : null);
  }
}
