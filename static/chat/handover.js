// The block that says a person takes over: why, what was passed on, the number to keep, what next.

import { h, icon, unseen } from "./dom.js";
import { reasonWords } from "./format.js";
import { byline } from "./messages.js";
import { verbatim } from "./richtext.js";

function nextWords(opens) {
  if (!opens) return "People are here now. Somebody reads this next and answers in this chat.";
  const when = String(opens).replace(/^(we are |we're )?(back|open|opens)\s+/iu, "");
  return `Nobody is here right now. We are back ${when}, and somebody answers in this chat then.`;
}

async function copy(event, ticket) {
  const control = event.currentTarget;
  const words = control.querySelector(".copy__words");
  try {
    await navigator.clipboard.writeText(ticket);
    words.textContent = "Copied";
  } catch {
    words.textContent = "Select it to copy";
  }
  setTimeout(() => {
    words.textContent = "Copy";
  }, 2500);
}

function ticketRow(ticket) {
  return h(
    "div",
    { class: "handover__ticket" },
    icon("ticket"),
    h("div", {}, h("span", { class: "handover__label", text: "Your ticket number" }), h("strong", { class: "handover__number", text: ticket })),
    h(
      "button",
      { class: "copy", type: "button", on: { click: (event) => copy(event, ticket) } },
      icon("copy"),
      h("span", { class: "copy__words", text: "Copy" }),
      unseen(` ticket number ${ticket}`),
    ),
  );
}

const fact = (label, text) =>
  text ? [h("dt", { text: label }), h("dd", { text })] : [];

/** Nobody takes over before the desk opens. */
const title = (opens) => (opens ? "Passed to our team" : "A person takes over");

/**
 * A row for the `data` of an `escalated` event: reason, ticket, text, opens. `words` are what the
 * desk itself says about it; they hold the reason and what comes next.
 */
export function handover({ reason, ticket, text, opens, words }, at) {
  const facts = words
    ? fact("Passed on", text)
    : [fact("Why", reasonWords(reason)), fact("Passed on", text), fact("What happens next", nextWords(opens))];
  const block = h(
    "section",
    { class: "handover", "aria-label": "Passed to a person", data: ticket ? { ticket } : {} },
    h("h3", { class: "handover__title" }, icon("person"), title(opens)),
    ticket ? ticketRow(ticket) : null,
    words ? h("div", { class: "prose" }, verbatim(words)) : null,
    facts.length ? h("dl", { class: "handover__facts" }, facts) : null,
  );
  return h("li", { class: "row row--handover" }, byline({ label: "system", at }), block);
}

export const handoverWords = ({ ticket, opens, words }) =>
  words ?? `${title(opens)}. ${ticket ? `Your ticket number is ${ticket}. ` : ""}${nextWords(opens)}`;
