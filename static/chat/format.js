// How times, durations and codes look to the reader.

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

const dateOf = (at) => {
  const date = at ? new Date(at) : new Date();
  return Number.isNaN(date.getTime()) ? new Date() : date;
};

export const timeOf = (at) => clock.format(dateOf(at));

export const dayOf = (at) => day.format(dateOf(at));

export const isoOf = (at) => dateOf(at).toISOString();

export function dayWords(at) {
  const written = dayOf(at);
  if (written === dayOf()) return "Today";
  return written === dayOf(Date.now() - 86_400_000) ? "Yesterday" : written;
}

export function duration(ms) {
  if (!Number.isFinite(ms)) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min`;
}

export const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

/** What a run cost, given in millionths of a dollar. Local rules cost nothing: that is said. */
export function cost(millionths) {
  if (!Number.isFinite(millionths)) return "";
  return millionths === 0 ? "no cost" : `$${(millionths / 1e6).toFixed(4)}`;
}

/** Turn `no_answer` into "no answer" for codes that came after this page was written. */
export const plain = (code) => String(code ?? "").replaceAll(/[_.-]+/g, " ").trim();

const REASONS = {
  customer_request: "You asked for a person.",
  no_answer: "I found nothing reliable that answers this.",
  unsupported_request: "I cannot do this myself.",
  policy_restriction: "The shop’s rules leave this to a person.",
  tool_failure: "A system I need did not answer.",
  limit_reached: "It took more steps than I may take.",
  checks_failed: "My answer did not pass its checks.",
  complaint: "A complaint is for a person to read.",
  action_needed: "Somebody has to do something about it.",
};

export const reasonWords = (reason) => REASONS[reason] ?? (reason ? `${plain(reason)}.` : "");

const AGENTS = {
  solo: "Assistant",
  assistant: "Assistant",
  orchestrator: "Coordinator",
  knowledge: "Help articles",
  orders: "Orders",
  escalation: "Hand-over",
  reviewer: "Reviewer",
};

export function agentWords(agent) {
  if (!agent) return "";
  const words = AGENTS[agent] ?? plain(agent);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Cut a trailing ellipsis: "Looking up order 1042…" becomes the name of a finished step. */
export const settled = (text) => String(text ?? "").replace(/(…|\.\.\.)\s*$/u, "");
