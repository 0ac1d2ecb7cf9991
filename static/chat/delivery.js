// Bringing a message to the server: over the socket when there is one, else over HTTP, into a
// conversation that is opened with the first message.

import { ApiError } from "./api.js";

const ACK_WAIT = 4000;

export class Delivery {
  #api;
  #store;
  #connection;
  #ready;
  #hooks;
  #opening = null;
  #acks = new Map();

  /** `hooks`: run(run), link(down), lost(), remark(text). */
  constructor({ api, store, connection, ready, hooks }) {
    this.#api = api;
    this.#store = store;
    this.#connection = connection;
    this.#ready = ready;
    this.#hooks = hooks;
  }

  /** Return the id of the conversation, which is opened when there is none. */
  conversation() {
    const id = this.#store.conversation.get();
    if (id) return Promise.resolve(id);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Resolve when the server has the message; `again` allows one new conversation for it. */
  async send(item, again = true) {
    const { text, client_id: clientId } = item;
    try {
      const id = await this.conversation();
      if (await this.#overSocket({ type: "message", text, client_id: clientId })) return;
      const { run_id: run } = await this.#api.send(id, { text, client_id: clientId });
      if (run) this.#hooks.run(run);
      this.#hooks.link(false);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.gone && again) {
        this.#hooks.lost();
        await this.send(item, false);
        return;
      }
      if (error.status === 0) this.#hooks.link(true);
      throw error;
    }
  }

  /** The event of a message has come back. */
  confirm(clientId) {
    this.#acks.get(clientId)?.resolve(true);
  }

  /** The server refused a frame. */
  fault({ data = {} }) {
    const ack = this.#acks.get(data.client_id);
    if (ack) ack.reject(new ApiError(data.code, data.message, 400));
    else if (data.message) this.#hooks.remark(data.message);
  }

  async #open() {
    await this.#ready;
    const { id } = await this.#api.open();
    this.#store.conversation.set(id);
    this.#connection.start(id);
    return id;
  }

  /** True when the server confirmed the message over the socket in time. */
  async #overSocket(frame) {
    if (this.#connection.state !== "open" || !this.#connection.send(frame)) return false;
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        this.#acks.set(frame.client_id, { resolve, reject });
        timer = setTimeout(() => resolve(false), ACK_WAIT);
      });
    } finally {
      clearTimeout(timer);
      this.#acks.delete(frame.client_id);
    }
  }
}
