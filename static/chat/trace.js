// What a run did, rebuilt from its events alone: one line in plain words while it works, and a
// tree of who did what. No DOM in here.

import { agentWords, plain, settled } from "./format.js";

const quoted = (text) => `“${text}”`;

function argumentWords(values) {
  return Object.entries(values ?? {})
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${plain(name)} ${typeof value === "string" ? quoted(value) : value}`)
    .join(", ");
}

const tokens = ({ input_tokens: read, output_tokens: written }) =>
  read || written ? `${read ?? 0} tokens read, ${written ?? 0} written` : "";

const joined = (...parts) => parts.filter(Boolean).join(" · ");

/** What each event tells about a step, by type. A span holds the steps of one agent or tool. */
const STEPS = {
  "model.called": (data, agent) => ({
    kind: "model",
    title: agent === "reviewer" ? "Reviewed the draft" : settled(data.text) || "Thinking",
    detail: joined(data.model, tokens(data)),
    result: data.notice ?? "",
    ms: data.ms,
  }),
  "model.failed": (data) => ({
    kind: "model",
    title: "The model did not answer",
    detail: joined(data.provider, plain(data.code)),
    ms: data.ms,
    state: "error",
  }),
  "run.waiting": (data) => ({ kind: "model", title: settled(data.text) }),
  "tool.called": (data) => ({
    kind: "tool",
    title: settled(data.text) || plain(data.tool),
    detail: joined(data.tool, argumentWords(data.arguments)),
    state: "running",
  }),
  "guardrail.denied": (data) => ({
    kind: "guard",
    title: `Stopped by a rule ${plain(data.point)}`,
    result: plain(data.reason),
    state: "error",
  }),
  "guardrail.modified": (data) => ({
    kind: "guard",
    title: `Changed by a rule ${plain(data.point)}`,
    result: plain(data.reason),
  }),
  "review.finished": (data) => ({
    kind: "review",
    title: data.approved ? "Checked the answer: passed" : "Checked the answer: sent back",
    result: (data.problems ?? []).join(" "),
    state: data.approved ? "ok" : "error",
  }),
  "answerability.finished": (data) => ({
    kind: "review",
    title: data.proven ? "The help articles answer this" : "No help article answers this",
    state: data.proven ? "ok" : "error",
  }),
  escalated: (data) => ({ kind: "person", title: joined("Passed to a person", data.ticket) }),
};

/** What later events of a tool's span add to the tool's own step. */
const ADDITIONS = {
  "tool.finished": (data) => ({
    result: data.summary ?? "",
    ms: data.ms,
    state: data.ok === false ? "error" : "ok",
  }),
  "retrieval.finished": (data) => ({
    hits: data.hits ?? [],
    cutoff: data.cutoff,
    nothing: !(data.hits ?? []).length,
  }),
};

/** What the living line says after each event. */
function lineAfter({ type, data, agent }, open) {
  if (type === "retrieval.finished" && data.hits?.length) return `Reading “${data.hits[0].title}”…`;
  if (type === "tool.called") return data.text || `Using ${plain(data.tool)}…`;
  if (type === "run.waiting" || type === "model.failed") return data.text || "Thinking…";
  const pending = [...open.values()].at(-1);
  if (pending) return pending;
  if (type === "review.finished") return data.approved ? "Writing the answer…" : "Mending my answer…";
  const drafted = type === "model.called" && data.stop === "end_turn" && !["reviewer", "answerability"].includes(agent);
  if (drafted) return "Checking my answer…";
  if (type.startsWith("guardrail.")) return "Checking what I may do…";
  return (type === "run.started" || type === "model.called") && data.text ? data.text : "Thinking…";
}

const EMPTY = { title: "", detail: "", result: "", state: "ok", nothing: false };

export class Trace {
  line = "Waiting to start…";
  roots = [];
  count = 0;
  finished = null;
  confidence = null;
  #bySpan = new Map();
  #open = new Map();

  /** Take in one event; true when something to show has changed. */
  apply(event) {
    const { type, span } = event;
    const data = event.data ?? {};
    if (type === "run.finished") this.finished = data;
    if (type === "answer") this.confidence = data.confidence ?? null;
    if (type === "tool.called") this.#open.set(span, data.text || plain(data.tool));
    if (type === "tool.finished") this.#open.delete(span);
    if (Object.hasOwn(STEPS, type)) this.#add(event, STEPS[type](data, event.agent));
    else if (Object.hasOwn(ADDITIONS, type)) this.#extend(event, ADDITIONS[type](data));
    else if (!["run.started", "run.finished", "answer"].includes(type)) return false;
    this.line = lineAfter({ type, data, agent: event.agent }, this.#open);
    return true;
  }

  #add(event, step) {
    const node = { ...EMPTY, children: [], hits: [], ...step };
    this.count += 1;
    const { span } = event;
    if (step.kind === "tool" && span && !this.#bySpan.has(span)) {
      this.#childrenOf(event.parent, "").push(node);
      this.#bySpan.set(span, node);
      return;
    }
    this.#childrenOf(span, event.agent, event.parent).push(node);
  }

  /** A search or a result belongs to its tool; one whose tool is unknown stands alone. */
  #extend(event, addition) {
    const known = this.#bySpan.get(event.span);
    if (known) Object.assign(known, addition);
    else this.#add(event, { kind: "search", title: event.data.query || "A step", ...addition });
  }

  /** The list that steps of a span belong to; an agent gets a heading of its own. */
  #childrenOf(span, agent, parent) {
    if (!span) return this.roots;
    let group = this.#bySpan.get(span);
    if (!group) {
      group = { ...EMPTY, kind: "agent", title: agentWords(agent), children: [], hits: [] };
      const above = parent && parent !== span ? this.#bySpan.get(parent) : undefined;
      (above ? above.children : this.roots).push(group);
      this.#bySpan.set(span, group);
    }
    return group.children;
  }
}

export const hitWords = ({ title, heading }) =>
  heading && heading !== title ? `${title} › ${heading}` : title;
