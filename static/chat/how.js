// The tree behind an answer: who did what, which articles were read with which score, how long.

import { h, icon, loadStyle, unseen } from "./dom.js";
import { cost, count, duration } from "./format.js";
import { hitWords } from "./trace.js";

await loadStyle("later.css");

const ICONS = {
  agent: "person",
  model: "model",
  tool: "tool",
  search: "search",
  guard: "shield",
  review: "review",
  person: "person",
};

const STATE_WORDS = { error: "did not succeed", running: "still working" };

function hit(item, { cutoff, hits }) {
  const value = Number(item.score) || 0;
  // Scores of two searches put together may pass 1; the bars compare within one list.
  const most = Math.max(1, ...hits.map((other) => Number(other.score) || 0));
  const bar = h("span", { class: "hit__bar", "aria-hidden": "true" }, h("span"));
  bar.firstChild.style.inlineSize = `${Math.round((Math.max(0, value) / most) * 100)}%`;
  return h(
    "li",
    { class: "hit", data: value < (cutoff ?? 0) ? { below: "" } : {} },
    h("span", { class: "hit__title" }, hitWords(item), " ", h("span", { class: "hit__version", text: `v${item.version}` })),
    bar,
    h("span", { class: "hit__score" }, unseen("score "), value.toFixed(2)),
  );
}

const hitList = (node) =>
  node.hits.length ? h("ul", { class: "hits" }, node.hits.map((item) => hit(item, node))) : null;

const line = (name, text) => (text ? h("span", { class: `step__${name}`, text }) : null);

function step(node) {
  // An agent that did one thing needs no heading above it.
  if (node.kind === "agent" && node.children.length === 1 && !node.children[0].children.length) {
    return step({ ...node.children[0], actor: node.title });
  }
  const result = node.nothing ? "Nothing relevant was found." : node.result;
  return h(
    "li",
    { class: "step", data: { kind: node.kind, state: node.state } },
    h(
      "div",
      { class: "step__row" },
      h("span", { class: "step__icon" }, icon(ICONS[node.kind] ?? "model")),
      h(
        "div",
        { class: "step__words" },
        line("title", node.title),
        line("agent", node.actor),
        line("state", STATE_WORDS[node.state]),
        line("detail", node.detail),
        line("result", result),
      ),
      line("ms", duration(node.ms)),
    ),
    hitList(node),
    node.children.length ? steps(node.children) : null,
  );
}

const steps = (nodes) => h("ul", { class: "steps" }, nodes.map(step));

function totals(trace) {
  const { finished, confidence } = trace;
  const parts = [count(trace.count, "step", "steps")];
  if (finished) {
    const calls = finished.model_calls;
    if (Number.isFinite(calls)) parts.push(count(calls, "model call", "model calls"));
    parts.push(duration(finished.ms), cost(finished.cost));
  }
  if (Number.isFinite(confidence)) parts.push(`confidence ${Math.round(confidence * 100)} %`);
  return h("p", { class: "how__totals", text: parts.filter(Boolean).join(" · ") });
}

/** Draw the tree into its panel. */
export function drawTree(panel, trace) {
  const body = trace.roots.length
    ? steps(trace.roots)
    : h("p", { class: "how__empty", text: "Nothing has happened yet." });
  panel.replaceChildren(totals(trace), body);
}
