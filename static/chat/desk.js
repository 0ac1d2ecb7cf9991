// The conversation on this page: what each event does to it, and what the customer can do.

import { Cards } from "./cards.js";
import { Connection } from "./connection.js";
import { Delivery } from "./delivery.js";
import { announce } from "./dom.js";
import { plain } from "./format.js";
import { note, otherMessage, OwnMessage } from "./messages.js";
import { Outbox } from "./outbox.js";
import { People } from "./people.js";
import { Thread } from "./thread.js";
import { Turn } from "./turn.js";

const WATCH = 8000;

const POSTURES = {
  off: (who) => `${who} joined. The assistant is silent now.`,
  draft_only: (who) => `${who} now reads the assistant’s answers before they are sent.`,
  auto: () => "The assistant answers again. A person can take over at any time.",
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
  #questions = new Map();
  #needs = null;
  #silent = false;
  #heard = Date.now();
  leaving = false;

  /** `hooks`: stage(stage), link(down), remark(text), identity({question, opener, focus}), edit(text), news(), person(name). */
  constructor({ api, store, config, ready, hooks }) {
    this.#api = api;
    this.#store = store;
    this.#hooks = hooks;
    this.#help = config.help;
    this.connection = new Connection({
      api,
      base: config.ws,
      hooks: {
        event: (event) => this.#take(event),
        fault: (frame) => this.delivery.fault(frame),
        state: (state) => this.#linked(state),
        gone: () => this.leaving || this.#lost(),
      },
    });
    this.delivery = new Delivery({
      api,
      store,
      ready,
      connection: this.connection,
      hooks: {
        run: (run) => this.#turnOf(run),
        link: (down) => hooks.link(down),
        lost: () => this.#lost(),
        remark: (text) => hooks.remark(text),
      },
    });
    this.people = new People({
      api,
      store,
      thread: this.#thread,
      hooks: {
        conversation: () => this.delivery.conversation(),
        stage: hooks.stage,
        arrived: (row, words, follow) => this.#arrived(row, words, follow),
      },
    });
    this.outbox = new Outbox({
      store: store.outbox,
      deliver: (item) => this.delivery.send(item),
      changed: (item) => this.#own.get(item.client_id)?.update(item),
    });
    this.cards = new Cards({
      api,
      remark: (text) => hooks.remark(text),
      place: (row, seq) => this.#thread.place(row, seq),
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
    if (this.people.wished) this.people.ask();
  }

  async #join(id) {
    this.#thread.replaying = true;
    this.connection.start(id);
    this.#catchUp();
    try {
      const { tickets } = await this.#api.conversation(id);
      if (this.#store.conversation.get() !== id) return;
      for (const ticket of tickets ?? []) this.people.keep(ticket);
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
    this.leaving = false;
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
      escalated: () => {
        this.people.escalated(event, Boolean(event.run) && !this.#turns.get(event.run)?.done);
      },
      "run.finished": () => this.#finished(event),
      "posture.changed": () => this.#postureChanged(event),
      error: () => this.#line(event, event.data?.message),
      "confirmation.asked": () => this.cards.asked(event),
      "proposal.created": () => this.cards.moved(event),
      "proposal.decided": () => this.cards.moved(event),
      "proposal.executed": () => this.cards.moved(event),
    };
    if (run && type !== "message" && type !== "error") this.#turnOf(run).apply(event);
    if (Object.hasOwn(handlers, type)) handlers[type]();
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
      this.delivery.confirm(clientId);
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
      this.#systemMessage(event);
      return;
    }
    const row = otherMessage(event, this.#help);
    this.#thread.place(row, event.seq);
    this.#arrived(row, `${author === "staff" ? name || "A person" : "AI assistant"}: ${spoken(text)}`);
  }

  /** What the desk itself says: about a hand-over, at the end of a run, or at large. */
  #systemMessage(event) {
    if (this.people.explained(event)) return;
    const { run, seq, at, data } = event;
    const turn = this.#turns.get(run);
    if (turn?.close(data.text, at)) this.#thread.place(turn.element, seq);
    else this.#line(event, data.text);
  }

  #answer(event) {
    const { data, run, seq } = event;
    const turn = this.#turnOf(run ?? `answer-${seq}`);
    if (turn.done) return;
    turn.answer(event);
    this.#thread.mark(event);
    this.#thread.place(turn.element, seq);
    this.#arrived(turn.element, `AI assistant: ${spoken(data.answer)}`, false);
    if (data.escalated) this.people.announced(run, data.ticket_id);
    this.people.show(run, seq + 0.2, event.at);
    this.cards.show(run, seq, this.#thread.replaying);
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

  #finished(event) {
    const turn = this.#turnOf(event.run);
    if (event.data.ending === "a_person_answers") turn.dismiss();
    if (!turn.done) {
      turn.end(event, this.people.has(event.run));
      this.#thread.place(turn.element, event.seq);
    }
    this.people.show(event.run, event.seq + 0.2, event.at);
    this.cards.show(event.run, event.seq, this.#thread.replaying);
    this.#thread.follow(turn.element);
  }

  #postureChanged(event) {
    const { posture, name, role, by } = event.data;
    const who = [name || by || "A person", role].filter(Boolean).join(", ");
    this.#silent = posture === "off";
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
        person: () => this.people.ask(),
        again: (id) => this.send(this.#questionOf(id)),
        identity: (opener) => this.#hooks.identity({ question: this.#questionOf(run), opener, focus: true }),
      });
      this.#turns.set(run, turn);
      if (!this.#silent) {
        this.#thread.place(turn.element, this.#thread.working());
        this.#thread.follow(turn.element);
      }
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

  #forget() {
    for (const turn of this.#turns.values()) if (!turn.done) turn.dismiss();
    for (const map of [this.#turns, this.#own, this.#questions]) map.clear();
    this.#needs = null;
    this.#silent = false;
    this.#thread.clear();
    this.#thread.replaying = false;
    this.people.forget();
    this.cards.clear();
    this.#hooks.person("");
  }

  // ---- the line -------------------------------------------------------------------------------

  #linked(state) {
    const up = state === "open" || state === "polling";
    this.#hooks.link(!up && state !== "idle");
    if (!up) return;
    if (this.#thread.replaying) this.#catchUp();
    this.outbox.wake();
    if (this.people.wished) this.people.ask();
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
