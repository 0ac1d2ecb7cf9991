// The conversation on this page: what each event does to it, and what the customer can do.

import { Connection } from "./connection.js";
import { announce, byId, h, icon, unseen } from "./dom.js";
import { plain } from "./format.js";
import { handover, handoverWords } from "./handover.js";
import { note, otherMessage, OwnMessage } from "./messages.js";
import { Outbox } from "./outbox.js";
import { Thread } from "./thread.js";
import { Turn } from "./turn.js";
import { ApiError } from "./api.js";

const ACK_WAIT = 4000;
const WATCH = 8000;

const POSTURES = {
  off: (who) => `${who} joined. The assistant is silent now.`,
  draft_only: (who) => `${who} now reads the assistant’s answers before they are sent.`,
  auto: () => "The assistant answers again. A person can take over at any time.",
};

const LINES = {
  "confirmation.asked": "This needs your confirmation.",
  "proposal.created": "A request was prepared.",
  "proposal.decided": "A person decided about the request.",
  "proposal.executed": "The request was carried out.",
};

/** Words for the ear: the marks of the renderer are left out. */
const spoken = (text) => String(text ?? "").replaceAll("**", "").replaceAll(/\]\([^)]*\)/gu, "").replaceAll("[", "");

export class Desk {
  #api;
  #store;
  #hooks;
  #help;
  #thread = new Thread();
  #turns = new Map();
  #own = new Map();
  #acks = new Map();
  #questions = new Map();
  #handovers = new Map();
  #tickets = [];
  #opening = null;
  #personNote = null;
  #needs = null;
  #asking = false;
  #handedOver = 0;
  #posture = "auto";
  #heard = Date.now();

  /** `hooks`: stage(stage), link(down), remark(text), identity({question, opener, focus}), edit(text), news(), person(name). */
  constructor({ api, store, config, hooks }) {
    this.#api = api;
    this.#store = store;
    this.#hooks = hooks;
    this.#help = config.help;
    this.connection = new Connection({
      api,
      base: config.ws,
      hooks: {
        event: (event) => this.#take(event),
        fault: (frame) => this.#fault(frame),
        state: (state) => this.#linked(state),
        gone: () => this.#lost(),
      },
    });
    this.outbox = new Outbox({
      store: store.outbox,
      deliver: (item) => this.#deliver(item),
      changed: (item) => this.#own.get(item.client_id)?.update(item),
    });
    setInterval(() => this.#watch(), WATCH);
  }

  /** Continue where this tab left off, unsent messages included. */
  resume() {
    const id = this.#store.conversation.get();
    const unsent = this.outbox.items;
    if (!id && !unsent.length) return;
    this.#hooks.stage("chat");
    for (const item of unsent) this.#showOwn(item);
    if (id) this.#join(id);
    this.outbox.wake();
    if (this.#store.wantsPerson.get()) this.askPerson();
  }

  async #join(id) {
    this.#thread.replaying = true;
    this.connection.start(id);
    this.#catchUp();
    try {
      const { posture, tickets } = await this.#api.conversation(id);
      if (this.#store.conversation.get() !== id) return;
      this.#posture = posture ?? this.#posture;
      for (const ticket of tickets ?? []) this.#keepTicket(ticket);
    } catch {
      // The stream tells whether the conversation is gone or only the network.
    }
  }

  async #catchUp() {
    if (!(await this.connection.pull())) return;
    if (!this.#thread.replaying) return;
    this.#thread.replaying = false;
    this.#thread.toEnd();
    this.#remindIdentity();
  }

  // ---- what the customer does -----------------------------------------------------------------

  send(text) {
    this.#hooks.stage("chat");
    const item = this.outbox.add(text);
    const own = this.#showOwn(item);
    this.#thread.toEnd(!this.#thread.replaying);
    this.outbox.wake();
    return own;
  }

  async askPerson() {
    if (this.#asking) return;
    this.#asking = true;
    this.#hooks.stage("chat");
    this.#store.wantsPerson.set(true);
    this.#showPersonNote("Asking for a person…");
    const before = this.#handedOver;
    try {
      await this.#api.person(await this.#ensure());
      this.#store.wantsPerson.set(null);
      // The event may have overtaken the reply, and then it has said this already.
      if (this.#handedOver === before) this.#showPersonNote("You asked for a person.");
    } catch (error) {
      const later = error.retryable && !error.status;
      if (!later) this.#store.wantsPerson.set(null);
      this.#showPersonNote(
        later
          ? "You asked for a person. This is passed on as soon as the connection is back."
          : `A person could not be asked: ${error.message}`,
      );
    } finally {
      this.#asking = false;
    }
  }

  /** Start afresh; the old conversation stays one click away. */
  renew() {
    const id = this.#store.conversation.get();
    const unsent = this.outbox.items.map(({ text }) => text);
    this.reset();
    this.#store.previous.set(id);
    if (unsent.length) this.#hooks.edit(unsent.join("\n\n"));
  }

  back() {
    const id = this.#store.previous.get();
    this.reset();
    this.#store.previous.set(null);
    this.#store.conversation.set(id);
    this.resume();
  }

  reset() {
    this.connection.stop();
    this.outbox.clear();
    this.#forget();
    this.#store.conversation.set(null);
    this.#store.wantsPerson.set(null);
    this.#hooks.stage("first");
  }

  /** Who is asking has changed: the socket must know, and an open question is asked again. */
  identified(words, question) {
    this.connection.restart();
    this.#say(words);
    if (question) this.send(question);
  }

  // ---- what the server says -------------------------------------------------------------------

  #take(event) {
    this.#heard = Date.now();
    const { type, run } = event;
    const handlers = {
      message: () => this.#message(event),
      answer: () => this.#answer(event),
      escalated: () => this.#escalated(event),
      "run.finished": () => this.#finished(event),
      "posture.changed": () => this.#postureChanged(event),
      error: () => this.#line(event, event.data?.message),
    };
    if (run && type !== "message" && type !== "error") this.#turnOf(run).apply(event);
    if (Object.hasOwn(handlers, type)) handlers[type]();
    else if (Object.hasOwn(LINES, type)) this.#line(event, event.data?.text ?? LINES[type]);
  }

  #message(event) {
    const { author, client_id: clientId, text } = event.data;
    this.#thread.mark(event);
    if (author !== "customer") {
      this.#otherMessage(event);
      return;
    }
    const known = this.#own.get(clientId);
    const own = known ?? new OwnMessage({ text, at: event.at, state: "sent" }, this.#ownHooks);
    own.update({ text, at: event.at, state: "sent" });
    this.#thread.place(own.element, event.seq);
    if (clientId) {
      this.#own.set(clientId, own);
      this.outbox.settle(clientId);
      this.#acks.get(clientId)?.resolve(true);
      own.update({ text, at: event.at, state: "sent" });
    }
    if (event.run) {
      this.#questions.set(event.run, text);
      this.#turnOf(event.run);
    }
    if (!known) this.#thread.follow(own.element);
  }

  #otherMessage(event) {
    const { author, label, name, text } = event.data;
    if (author === "system" || label === "system") {
      this.#line(event, text);
      return;
    }
    const row = otherMessage(event, this.#help);
    this.#thread.place(row, event.seq);
    this.#arrived(row, `${author === "staff" ? name || "A person" : "AI assistant"}: ${spoken(text)}`);
  }

  #answer(event) {
    const { data, run, seq } = event;
    const turn = this.#turnOf(run ?? `answer-${seq}`);
    if (turn.done) return;
    turn.answer(event);
    this.#thread.mark(event);
    this.#thread.place(turn.element, seq);
    this.#arrived(turn.element, `AI assistant: ${spoken(data.answer)}`, false);
    if (data.escalated && !this.#handovers.has(run)) {
      this.#handovers.set(run, { ticket: data.ticket_id, opens: this.#opens });
    }
    this.#showHandover(run, seq + 0.2, event.at);
    const question = this.#questionOf(run);
    this.#needs = data.needs === "identity" ? { question } : null;
    if (this.#needs && !this.#thread.replaying) this.#hooks.identity({ question, focus: false });
    // What came with the answer may reach below the edge; the answer's first line stays in view.
    this.#thread.follow(turn.element);
  }

  #questionOf(run) {
    return this.#questions.get(run) ?? [...this.#questions.values()].at(-1) ?? "";
  }

  /** After a reload the form is offered again when it was the last thing asked for. */
  #remindIdentity() {
    if (this.#needs) this.#hooks.identity({ ...this.#needs, focus: false });
  }

  #escalated(event) {
    const { data, run } = event;
    if (data.ticket) this.#keepTicket(data.ticket);
    this.#handovers.set(run, data);
    // Inside a run the block follows the words that announce it.
    if (run && !this.#turns.get(run)?.done) return;
    this.#showHandover(run, event.seq, event.at);
  }

  #showHandover(run, order, at) {
    const data = this.#handovers.get(run);
    if (!data || data.shown) return;
    this.#handovers.set(run, { ...data, shown: true });
    this.#store.wantsPerson.set(null);
    this.#personNote?.remove();
    this.#personNote = null;
    this.#handedOver += 1;
    if (data.ticket) this.#keepTicket(data.ticket);
    const twice = data.ticket && document.querySelector(`[data-ticket="${CSS.escape(data.ticket)}"]`);
    const row = twice
      ? note(`This was added to ticket ${data.ticket}, which is already with a person.`, at)
      : handover(data, at);
    this.#thread.place(row, order);
    this.#arrived(row, twice ? row.textContent : handoverWords(data), !run);
  }

  #finished(event) {
    const turn = this.#turnOf(event.run);
    if (turn.done) return;
    // Another message joined in and one answer covers both.
    if (event.data.reason === "superseded") {
      turn.dismiss();
      return;
    }
    turn.end(event);
    this.#thread.place(turn.element, event.seq);
    this.#showHandover(event.run, event.seq + 0.2, event.at);
    this.#thread.follow(turn.element);
  }

  #postureChanged(event) {
    const { posture, name, role, by } = event.data;
    this.#posture = posture;
    const who = [name || by || "A person", role].filter(Boolean).join(", ");
    this.#hooks.person(posture === "off" ? who : "");
    const words = POSTURES[posture] ?? (() => `This conversation is now ${plain(posture)}.`);
    this.#line(event, words(who));
    if (!this.#thread.replaying) announce(words(who));
  }

  #line(event, text) {
    if (!text) return;
    const row = note(text, event.at);
    this.#thread.place(row, event.seq);
    this.#thread.follow(row);
  }

  /** A line of our own, after everything that has been said. */
  #say(text) {
    if (this.#thread.empty) {
      this.#hooks.remark(text);
      return;
    }
    const row = note(text, new Date().toISOString());
    this.#thread.place(row, this.connection.lastSeq + 0.4);
    this.#thread.follow(row);
  }

  #arrived(row, words, follow = true) {
    if (this.#thread.replaying) return;
    if (follow) this.#thread.follow(row);
    announce(words);
    this.#hooks.news();
  }

  // ---- pieces ---------------------------------------------------------------------------------

  #turnOf(run) {
    let turn = this.#turns.get(run);
    if (!turn) {
      turn = new Turn(run, {
        help: this.#help,
        cancel: (id) => this.#cancel(id),
        person: () => this.askPerson(),
        again: (id) => this.send(this.#questionOf(id)),
        identity: (opener) => this.#hooks.identity({ question: this.#questionOf(run), opener, focus: true }),
      });
      this.#turns.set(run, turn);
      this.#thread.place(turn.element, this.#thread.working());
      this.#thread.follow(turn.element);
    }
    return turn;
  }

  get #ownHooks() {
    return {
      retry: (item) => this.outbox.retry(item.client_id),
      edit: (item) => {
        this.#own.get(item.client_id)?.element.remove();
        this.#own.delete(item.client_id);
        this.outbox.discard(item.client_id);
        this.#hooks.edit(item.text);
      },
    };
  }

  #showOwn(item) {
    const own = new OwnMessage(item, this.#ownHooks);
    this.#own.set(item.client_id, own);
    this.#thread.place(own.element, this.#thread.unsent());
    return own;
  }

  #showPersonNote(text) {
    this.#personNote?.remove();
    this.#personNote = note(text);
    this.#thread.place(this.#personNote, this.#thread.unsent());
    this.#thread.follow(this.#personNote);
  }

  #keepTicket(ticket) {
    if (!this.#tickets.includes(ticket)) this.#tickets.push(ticket);
    const badge = byId("tickets");
    const more = this.#tickets.length > 1 ? ` +${this.#tickets.length - 1}` : "";
    badge.hidden = false;
    badge.replaceChildren(icon("ticket"), unseen("Your ticket "), h("span", { text: `${this.#tickets.at(-1)}${more}` }));
  }

  /** Scroll to where the latest ticket was given out. */
  showTicket() {
    const block = [...document.querySelectorAll(".handover")].at(-1);
    block?.scrollIntoView({ block: "center" });
  }

  get #opens() {
    const hours = document.querySelector(".brand__hours");
    return hours.dataset.open === "yes" ? null : hours.textContent.trim();
  }

  #forget() {
    for (const turn of this.#turns.values()) if (!turn.done) turn.dismiss();
    for (const map of [this.#turns, this.#own, this.#questions, this.#handovers]) map.clear();
    this.#tickets = [];
    this.#personNote = null;
    this.#needs = null;
    this.#posture = "auto";
    this.#thread.clear();
    this.#thread.replaying = false;
    byId("tickets").hidden = true;
    this.#hooks.person("");
  }

  // ---- delivery -------------------------------------------------------------------------------

  #ensure() {
    const id = this.#store.conversation.get();
    if (id) return Promise.resolve(id);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open() {
    const { id } = await this.#api.open();
    this.#store.conversation.set(id);
    this.connection.start(id);
    return id;
  }

  async #deliver(item, again = true) {
    const { text, client_id: clientId } = item;
    try {
      const id = await this.#ensure();
      if (await this.#overSocket({ type: "message", text, client_id: clientId })) return;
      const { run_id: run } = await this.#api.send(id, { text, client_id: clientId });
      if (run) this.#turnOf(run);
      this.#hooks.link(false);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.gone && again) {
        this.#lost();
        await this.#deliver(item, false);
        return;
      }
      if (error.status === 0) this.#hooks.link(true);
      throw error;
    }
  }

  /** True when the server confirmed the message over the socket in time. */
  async #overSocket(frame) {
    if (this.connection.state !== "open" || !this.connection.send(frame)) return false;
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

  #fault({ data = {} }) {
    const ack = this.#acks.get(data.client_id);
    if (ack) ack.reject(new ApiError(data.code, data.message, 400));
    else if (data.message) this.#hooks.remark(data.message);
  }

  #linked(state) {
    const up = state === "open" || state === "polling";
    this.#hooks.link(!up && state !== "idle");
    if (!up) return;
    if (this.#thread.replaying) this.#catchUp();
    this.outbox.wake();
    if (this.#store.wantsPerson.get()) this.askPerson();
  }

  /** The server does not know this conversation for us any more. */
  #lost() {
    if (!this.#store.conversation.get()) return;
    this.connection.stop();
    this.#store.conversation.set(null);
    this.#forget();
    for (const item of this.outbox.items) this.#showOwn(item);
    this.#hooks.remark("The earlier conversation cannot be opened any more. Your next message starts a new one.");
    if (this.#thread.empty) this.#hooks.stage("first");
  }

  async #cancel(run) {
    try {
      await this.#api.cancel(run);
    } catch (error) {
      this.#turns.get(run)?.keepGoing();
      this.#hooks.remark(error.message);
    }
  }

  /** While an answer is due, silence is checked: the socket may have died without a word. */
  #watch() {
    const due = [...this.#turns.values()].some((turn) => !turn.done);
    if (due && Date.now() - this.#heard > WATCH) this.connection.verify();
  }
}
