// Messages that are not answers: the customer's own, a person's, the system's, and day marks.

import { button, h, icon, unseen } from "./dom.js";
import { dayWords, isoOf, timeOf } from "./format.js";
import { rich, verbatim } from "./richtext.js";

export const stamp = (at) =>
  h("time", { class: "stamp", datetime: isoOf(at), text: timeOf(at) });

const SENT_WORDS = { queued: "Waiting to send", sending: "Sending", sent: "Sent" };

function failedRow(item, { retry, edit }) {
  return h(
    "span",
    { class: "sent__failed" },
    icon("warn"),
    h("span", { text: `Not sent. ${item.error}` }),
    button("Try again", () => retry(item), "link"),
    button("Edit", () => edit(item), "link"),
  );
}

/** The customer's own words, with the mark that says how far they got. */
export class OwnMessage {
  constructor(item, hooks) {
    this.hooks = hooks;
    this.mark = h("p", { class: "sent" });
    this.element = h(
      "li",
      { class: "row row--own" },
      h(
        "div",
        { class: "slip" },
        unseen("You wrote:"),
        h("div", { class: "slip__text", dir: "auto" }, verbatim(item.text)),
      ),
      this.mark,
    );
    this.update(item);
  }

  update(item) {
    this.element.dataset.state = item.state;
    if (item.state === "failed") {
      this.mark.replaceChildren(failedRow(item, this.hooks));
      return;
    }
    const words = h("span", { text: SENT_WORDS[item.state] ?? "Sent" });
    const mark = icon(item.state === "sent" ? "check" : "clock");
    this.mark.replaceChildren(mark, words, " ", item.state === "sent" ? stamp(item.at) : "");
  }
}

const LABELS = { AI: "AI assistant", person: "Person", system: "System" };
const NODES = { AI: "AI", person: "", system: "" };

/** The line above a message: the node on the thread, who it is, and when. */
export function byline({ label, name, at }) {
  const node = h("span", { class: "node", "aria-hidden": "true", data: { label } });
  node.textContent = label === "person" ? (name || "P").charAt(0).toUpperCase() : NODES[label];
  const who = h("span", { class: "who", text: label === "person" ? name || "Support" : LABELS[label] });
  const kind = label === "person" ? h("span", { class: "tag tag--person", text: "Person" }) : null;
  return h("div", { class: "byline" }, node, who, kind, at ? stamp(at) : null);
}

/** A message of staff or of the assistant outside a run. */
export function otherMessage({ data, at }, help) {
  const label = data.label ?? (data.author === "staff" ? "person" : "AI");
  const text = label === "person" ? verbatim(data.text) : rich(data.text, help);
  return h(
    "li",
    { class: "row row--other" },
    h("article", {}, byline({ label, name: data.name, at }), h("div", { class: "prose", dir: "auto" }, text)),
  );
}

/** One quiet line that the system says, with an optional control. */
export function note(text, at, control) {
  return h(
    "li",
    { class: "row row--note" },
    h("span", { class: "node", "aria-hidden": "true", data: { label: "system" } }),
    h("p", { class: "note" }, h("span", { class: "tag", text: "System" }), " ", text, " ", at ? stamp(at) : "", control ?? ""),
  );
}

export const dayMark = (at) => h("li", { class: "row row--day" }, h("span", { text: dayWords(at) }));
