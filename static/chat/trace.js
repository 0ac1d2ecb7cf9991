// What a run did, rebuilt from its events alone: one line in plain words while it works, and a
// tree of who did what. No DOM in here.

import { agentWords, plain, score, settled } from "./format.js";

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

/** What each event adds to its node, by type. */
const STEPS = {
  "model.called": (data) => ({
    kind: "model",
    title: data.role === "reviewer" ? "Reviewed the draft" : settled(data.text) || "Thinking",
    detail: joined(data.model, tokens(data)),
    ms: data.ms,
    state: "ok",
  }),
  "tool.called": (data) => ({
    kind: "tool",
    title: settled(data.text) || plain(data.tool),
    detail: joined(data.tool, argumentWords(data.arguments)),
    state: "running",
  }),
  "tool.finished": (data) => ({
    kind: "tool",
    result: data.summary ?? "",
    ms: data.ms,
    state: data.ok === false ? "error" : "ok",
  }),
  "retrieval.finished": (data) => ({
    kind: "search",
    title: `Searched the help articles for ${quoted(data.query ?? "")}`,
    hits: data.hits ?? [],
    cutoff: data.cutoff,
    result: (data.hits ?? []).length ? "" : "Nothing relevant was found.",
    state: "ok",
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
    state: "ok",
  }),
  "review.finished": (data) => ({
    kind: "review",
    title: data.approved ? "Checked the answer: passed" : "Checked the answer: sent back",
    result: (data.problems ?? []).join(" "),
    state: data.approved ? "ok" : "error",
  }),
  escalated: (data) => ({
    kind: "person",
    title: joined("Passed to a person", data.ticket),
    state: "ok",
  }),
};

/** What the living line says after each event. */
function lineAfter({ type, data }, open) {
  const pending = [...open.values()].at(-1);
  if (type === "tool.called") return data.text || `Using ${plain(data.tool)}…`;
  if (pending) return pending;
  if (type === "retrieval.finished" && data.hits?.length) return `Reading “${data.hits[0].title}”…`;
  if (type === "review.finished") return data.approved ? "Writing the answer…" : "Mending my answer…";
  if (type === "model.called" && data.role === "reviewer") return "Checking my answer…";
  if (type.startsWith("guardrail.")) return "Checking what I may do…";
  return data.text || "Thinking…";
}

export class Trace {
  line = "Waiting to start…";
  roots = [];
  nodes = 0;
  lookUps = 0;
  finished = null;
  confidence = null;
  #bySpan = new Map();
  #open = new Map();

  /** Take in one event; true when the tree has changed. */
  apply(event) {
    const { type, data = {} } = event;
    if (type === "run.finished") {
      this.finished = data;
      this.#open.clear();
      return true;
    }
    if (type === "answer") {
      this.confidence = data.confidence ?? null;
      return true;
    }
    if (type === "run.started") this.line = "Thinking…";
    if (!Object.hasOwn(STEPS, type)) return false;
    if (type === "tool.called") this.#open.set(event.span, data.text || plain(data.tool));
    if (type === "tool.finished") this.#open.delete(event.span);
    this.#merge(event, STEPS[type](data));
    this.line = lineAfter({ type, data }, this.#open);
    return true;
  }

  #merge(event, step) {
    const known = event.span ? this.#bySpan.get(event.span) : undefined;
    if (known?.kind === step.kind && known.state === "running") {
      Object.assign(known, step);
      return;
    }
    const node = {
      agent: agentWords(event.agent),
      title: "",
      detail: "",
      result: "",
      hits: [],
      children: [],
      ...step,
    };
    // A step that shares the span of another happened inside it.
    const parent = known ?? (event.parent ? this.#bySpan.get(event.parent) : undefined);
    (parent ? parent.children : this.roots).push(node);
    if (event.span && !known) this.#bySpan.set(event.span, node);
    this.nodes += 1;
    if (step.kind === "tool") this.lookUps += 1;
  }
}

export const hitWords = ({ title, heading }) =>
  heading && heading !== title ? `${title} › ${heading}` : title;

export const hitScore = (hit, cutoff) => ({
  text: score(hit.score),
  below: Number.isFinite(cutoff) && hit.score < cutoff,
});
