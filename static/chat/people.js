// Everything about a person taking over: the wish, the block that tells, the tickets.

import { byId, h, icon, unseen } from "./dom.js";
import { handover, handoverWords } from "./handover.js";
import { note } from "./messages.js";

/** When the desk opens, as the page was told; empty while people are there. */
function opensFromPage() {
  const hours = document.querySelector(".brand__hours");
  return hours.dataset.open === "yes" ? "" : hours.textContent.trim();
}

export class People {
  #api;
  #store;
  #thread;
  #hooks;
  #byRun = new Map();
  #tickets = [];
  #note = null;
  #asking = false;
  #shown = 0;

  /** `hooks`: conversation(), stage(stage), arrived(row, words, follow). */
  constructor({ api, store, thread, hooks }) {
    this.#api = api;
    this.#store = store;
    this.#thread = thread;
    this.#hooks = hooks;
  }

  get wished() {
    return this.#store.wantsPerson.get();
  }

  async ask() {
    if (this.#asking) return;
    this.#asking = true;
    this.#hooks.stage("chat");
    this.#store.wantsPerson.set(true);
    this.#say("Asking for a person…");
    const before = this.#shown;
    try {
      await this.#api.person(await this.#hooks.conversation());
      this.#store.wantsPerson.set(null);
      // The event may have overtaken the reply, and then it has said this already.
      if (this.#shown === before) this.#say("You asked for a person.");
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#asking = false;
    }
  }

  #failed(error) {
    if (error.status === 0) {
      this.#say("You asked for a person. This is passed on as soon as the connection is back.");
      return;
    }
    this.#store.wantsPerson.set(null);
    this.#say(`A person could not be asked: ${error.message}`);
  }

  /** Take in an `escalated` event; inside a run the block waits for the words that announce it. */
  escalated({ data, run, seq, at }, wait) {
    if (data.ticket) this.keep(data.ticket);
    this.#byRun.set(run, { ...data, seq });
    if (!wait) this.show(run, seq, at);
  }

  has(run) {
    return this.#byRun.has(run);
  }

  /** An answer says that it handed over; usually an event has told the details before. */
  announced(run, ticket) {
    if (!this.#byRun.has(run)) this.#byRun.set(run, { ticket, opens: opensFromPage() });
  }

  /** The desk's own words about a hand-over follow its event; true when these are such words. */
  explained({ data, run, seq, at }) {
    const handed = this.#byRun.get(run);
    if (handed?.seq !== seq - 1) return false;
    handed.words = data.text;
    if (handed.row) {
      const row = handover(handed, at);
      handed.row.replaceWith(row);
      this.#thread.place(row, handed.seq);
    }
    return true;
  }

  /** Show the block of a run, once. */
  show(run, order, at) {
    const handed = this.#byRun.get(run);
    if (!handed || handed.shown) return;
    handed.shown = true;
    this.#shown += 1;
    this.#store.wantsPerson.set(null);
    this.#note?.remove();
    this.#note = null;
    const { ticket } = handed;
    if (ticket) this.keep(ticket);
    const twice = ticket && document.querySelector(`[data-ticket="${CSS.escape(ticket)}"]`);
    const row = twice
      ? note(`This was added to ticket ${ticket}, which is already with a person.`, at)
      : handover(handed, at);
    if (!twice) handed.row = row;
    this.#thread.place(row, order);
    this.#hooks.arrived(row, twice ? row.textContent : handoverWords(handed), !run);
  }

  /** Keep a ticket's number in the header. */
  keep(ticket) {
    if (!this.#tickets.includes(ticket)) this.#tickets.push(ticket);
    const more = this.#tickets.length > 1 ? ` +${this.#tickets.length - 1}` : "";
    const number = h("span", { text: `${this.#tickets.at(-1)}${more}` });
    const badge = byId("tickets");
    badge.hidden = false;
    badge.replaceChildren(icon("ticket"), unseen("Your ticket "), number);
  }

  /** Scroll to where the latest ticket was given out. */
  showTicket() {
    const block = [...document.querySelectorAll(".handover")].at(-1);
    block?.scrollIntoView({ block: "center" });
  }

  forget() {
    this.#byRun.clear();
    this.#tickets = [];
    this.#note = null;
    byId("tickets").hidden = true;
  }

  #say(text) {
    this.#note?.remove();
    this.#note = note(text);
    this.#thread.place(this.#note, this.#thread.unsent());
    this.#thread.follow(this.#note);
  }
}
