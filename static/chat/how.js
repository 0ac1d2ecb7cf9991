// The tree behind an answer: who did what, which articles were read with which score, how long.

import { h, icon, unseen } from "./dom.js";
import { cost, count, duration } from "./format.js";
import { hitScore, hitWords } from "./trace.js";

const ICONS = {
  model: "model",
  tool: "tool",
  search: "search",
  guard: "shield",
  review: "review",
  person: "person",
};

const STATE_WORDS = { error: "did not succeed", running: "still working" };

function hit(item, cutoff) {
  const { text, below } = hitScore(item, cutoff);
  const bar = h("span", { class: "hit__bar", "aria-hidden": "true" }, h("span"));
  const share = Math.max(0, Math.min(1, Number(item.score) || 0));
  bar.firstChild.style.inlineSize = `${Math.round(share * 100)}%`;
  return h(
    "li",
    { class: "hit", data: below ? { below: "" } : {} },
    h("span", { class: "hit__title" }, hitWords(item), " ", h("span", { class: "hit__version", text: `v${item.version}` })),
    bar,
    h("span", { class: "hit__score" }, unseen("score "), text),
  );
}

function hits(node) {
  if (!node.hits.length) return null;
  return h("ul", { class: "hits" }, node.hits.map((item) => hit(item, node.cutoff)));
}

/** `known` is who acted last here; only a change of actor is worth a label. */
function step(node, known) {
  const agent = node.agent && node.agent !== known ? node.agent : "";
  const words = STATE_WORDS[node.state];
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
        h("span", { class: "step__title", text: node.title }),
        agent ? h("span", { class: "step__agent", text: agent }) : null,
        words ? h("span", { class: "step__state", text: words }) : null,
        node.detail ? h("span", { class: "step__detail", text: node.detail }) : null,
        node.result ? h("span", { class: "step__result", text: node.result }) : null,
      ),
      h("span", { class: "step__ms", text: duration(node.ms) }),
    ),
    hits(node),
    node.children.length ? steps(node.children, node.agent || known) : null,
  );
}

const steps = (nodes, above = "") =>
  h("ul", { class: "steps" }, nodes.map((node, index) => step(node, nodes[index - 1]?.agent || above)));

function totals(trace) {
  const { finished, confidence } = trace;
  const parts = [count(trace.nodes, "step", "steps")];
  if (finished) {
    parts.push(count(finished.model_calls ?? 0, "model call", "model calls"));
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
