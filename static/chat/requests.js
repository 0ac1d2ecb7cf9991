// Requests that act: the card that asks for a yes, and the line that says how it goes on.

import { announce, button, h, icon, loadStyle } from "./dom.js";
import { dayWords, timeOf } from "./format.js";
import { byline } from "./messages.js";

await loadStyle("later.css");

const STATES = {
  asked: "",
  sending: "One moment…",
  declined: "Not asked for. Nothing was changed.",
  refused: "Not asked for: something had changed.",
  late: "This card is too old to confirm. Ask again if you still want it.",
  superseded: "A person has changed the details and passed it on.",
  pending: "Waiting for a person",
  approved: "A person has agreed. It is being carried out.",
  executing: "Being carried out.",
  unknown: "Being carried out.",
  executed: "Done",
  rejected: "A person has decided against it. Nothing was changed.",
  expired: "Nobody decided in time. Nothing was changed.",
  cancelled: "Withdrawn. Nothing was changed.",
  conflict: "Something had changed meanwhile. Nothing was done.",
  failed: "It could not be carried out. Nothing was changed.",
};
const GOOD = new Set(["executed"]);
const BAD = new Set(["rejected", "expired", "conflict", "failed", "refused", "late"]);

const until = (at) => (dayWords(at) === "Today" ? timeOf(at) : `${dayWords(at)}, ${timeOf(at)}`);

/** One card, from the question to the outcome; it stays where it is and its line stays true. */
class Request {
  constructor({ id, hash, title, lines, warning, expires_at: expires }, at, hooks) {
    Object.assign(this, { id, hash, expires, hooks, state: "asked", proposal: "", decideBy: "" });
    this.line = h("p", { class: "request__state" });
    this.yes = button("Confirm", () => this.answer("confirm"), "button");
    this.no = button("Not now", () => this.answer("decline"));
    this.buttons = h("div", { class: "request__buttons" }, this.yes, this.no);
    const facts = (lines ?? []).map(({ label, value }) => [h("dt", { text: label }), h("dd", { text: value })]);
    this.card = h(
      "section",
      { class: "request", "aria-label": "Please confirm" },
      h("h3", { class: "request__title", text: title }),
      facts.length ? h("dl", { class: "request__facts" }, facts) : null,
      warning ? h("p", { class: "request__warning" }, icon("warn"), h("span", { text: warning })) : null,
      this.buttons,
      this.line,
    );
    this.element = h("li", { class: "row row--request" }, byline({ label: "system", at }), this.card);
    this.show();
  }

  async answer(answer) {
    this.become("sending");
    try {
      await this.hooks.api.answer(this.id, answer, this.hash);
    } catch (error) {
      if (error.retryable) this.become("asked");
      else this.become(error.code === "expired" ? "late" : "refused");
      this.hooks.remark(error.message);
    }
  }

  async withdraw() {
    try {
      await this.hooks.api.withdraw(this.proposal);
    } catch (error) {
      this.hooks.remark(error.message);
    }
  }

  become(state, at) {
    this.state = state;
    this.at = at ?? this.at;
    this.show();
  }

  show() {
    const { state } = this;
    if (state === "asked" && Date.parse(this.expires) < Date.now()) this.state = "late";
    this.card.dataset.state = this.state;
    this.card.dataset.tone = GOOD.has(this.state) ? "good" : BAD.has(this.state) ? "bad" : "";
    this.buttons.hidden = this.state !== "asked";
    this.line.replaceChildren(...this.#words());
  }

  #words() {
    const words = STATES[this.state] ?? this.state;
    if (this.state === "executed" && this.at) return [icon("check"), `${words} · ${until(this.at)}`];
    if (this.state !== "pending") return words ? [words] : [];
    const by = this.decideBy ? ` · until ${until(this.decideBy)}` : "";
    return [icon("clock"), `${words}${by} · `, button("Cancel request", () => this.withdraw(), "link")];
  }
}

export class Requests {
  #cards = new Map();
  #byProposal = new Map();
  #waiting = new Map();

  /** `hooks`: api, remark(text), place(row, seq). */
  constructor(hooks) {
    this.hooks = hooks;
  }

  /** Hold a card until the answer that speaks of it stands above it. */
  asked({ data, at, run, seq }) {
    const card = new Request(data, at, this.hooks);
    this.#cards.set(data.id, card);
    this.#waiting.set(run ?? seq, [...(this.#waiting.get(run ?? seq) ?? []), card]);
  }

  show(run, seq, quiet) {
    for (const card of this.#waiting.get(run) ?? []) {
      this.hooks.place(card.element, seq);
      if (!quiet) announce(`Please confirm: ${card.card.querySelector("h3").textContent}`);
    }
    this.#waiting.delete(run);
  }

  /** Say on its card how a request goes on; false when there is no such card here. */
  moved({ data, at }) {
    const card = this.#cards.get(data.card) ?? this.#byProposal.get(data.id);
    if (!card) return false;
    if (data.id) {
      card.proposal = data.id;
      this.#byProposal.set(data.id, card);
    }
    card.decideBy = data.expires_at ?? card.decideBy;
    card.become(data.state, at);
    return true;
  }
}
