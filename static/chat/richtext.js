// A very small renderer for an answer: paragraphs, "- " lists, **bold** and links into the
// shop's own help. Everything else is shown as the characters it is.

import { h } from "./dom.js";

const INLINE = /\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\(([^)\s]+)\)/gu;
const ITEM = /^\s*[-•]\s+/u;
const NUMBERED = /^\s*\d{1,2}[.)]\s+/u;

/** Return the address when it stays inside this origin's help pages, else null. */
export function helpAddress(href, help) {
  let url;
  try {
    url = new URL(href, location.origin);
  } catch {
    return null;
  }
  const inside = url.pathname === help || url.pathname.startsWith(`${help}/`);
  const same = url.origin === location.origin && !url.username;
  return same && inside ? url.href : null;
}

function inline(text, help) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, label, href] = match;
    const address = label ? helpAddress(href, help) : null;
    if (label && !address) continue;
    nodes.push(text.slice(end, match.index));
    nodes.push(
      bold
        ? h("strong", { text: bold })
        : h("a", { href: address, target: "_blank", rel: "noopener", text: label }),
    );
    end = match.index + whole.length;
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}

function paragraph(lines, help) {
  const element = h("p");
  lines.forEach((line, index) => {
    if (index) element.append(h("br"));
    element.append(...inline(line, help));
  });
  return element;
}

const kindOf = (line) => {
  if (line.trim() === "") return "gap";
  if (ITEM.test(line)) return "ul";
  return NUMBERED.test(line) ? "ol" : "p";
};

function block(kind, lines, help) {
  if (kind === "p") return paragraph(lines, help);
  const mark = kind === "ul" ? ITEM : NUMBERED;
  const list = h(kind, {}, lines.map((line) => h("li", {}, inline(line.replace(mark, ""), help))));
  const first = kind === "ol" ? Number.parseInt(lines[0], 10) : 1;
  if (first > 1) list.setAttribute("start", String(first));
  return list;
}

/** Return the blocks of a text. `help` is the path under which help articles live. */
export function rich(text, help = "/help") {
  const blocks = [];
  let kind = "gap";
  let lines = [];
  const close = () => {
    if (lines.length) blocks.push(block(kind, lines, help));
    lines = [];
  };
  for (const line of String(text ?? "").split(/\r?\n/u)) {
    const next = kindOf(line);
    if (next !== kind) close();
    kind = next;
    if (kind !== "gap") lines.push(line);
  }
  close();
  return blocks;
}

/** Return a customer's own words: paragraphs and line breaks, no marks are interpreted. */
export function verbatim(text) {
  return String(text ?? "")
    .split(/\n{2,}/u)
    .map((part) => {
      const element = h("p");
      part.split("\n").forEach((line, index) => {
        if (index) element.append(h("br"));
        element.append(line);
      });
      return element;
    });
}
