// Building elements. Text reaches the page as text nodes only; nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** Make an element. `props`: class, text, on (listeners), data; the rest are attributes. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  const { class: className, text, on = {}, data = {}, ...attributes } = props;
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  Object.assign(element.dataset, data);
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Draw one of the page's symbols; it is decoration, the words beside it carry the meaning. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

export const unseen = (text) => h("span", { class: "unseen", text });

export const button = (label, listener, className = "button button--line") =>
  h("button", { class: className, type: "button", text: label, on: { click: listener } });

/** Say something to a screen reader. Used for answers and people, never for steps. */
export function announce(text) {
  const live = byId("live");
  live.textContent = "";
  // A region that is filled in the same task as it is emptied may stay silent.
  setTimeout(() => {
    live.textContent = text;
  }, 60);
}

const sheets = new Map();

/** Fetch a style sheet that lies beside this module, once; resolves when it applies. */
export function loadStyle(name) {
  if (!sheets.has(name)) {
    const link = h("link", { rel: "stylesheet", href: new URL(name, import.meta.url).href });
    const loaded = new Promise((resolve) => {
      link.addEventListener("load", resolve);
      link.addEventListener("error", resolve);
    });
    document.head.append(link);
    sheets.set(name, loaded);
  }
  return sheets.get(name);
}
