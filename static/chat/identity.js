// Saying who you are, inline: an account, one order, or (in the demo shop) an invented customer.
// Words typed here go to the server over HTTP and never into the conversation.

import { byId, h, icon, loadStyle } from "./dom.js";

await loadStyle("later.css");

let ids = 0;

function field(label, attributes, hint) {
  ids += 1;
  const id = `id-${ids}`;
  const problem = h("p", { class: "field__problem", id: `${id}-problem` });
  const input = h("input", { class: "field__input", id, "aria-describedby": `${id}-problem${hint ? ` ${id}-hint` : ""}`, ...attributes });
  input.addEventListener("input", () => complain(""));
  const complain = (words) => {
    problem.textContent = words;
    input.toggleAttribute("aria-invalid", Boolean(words));
    if (words) input.setAttribute("aria-invalid", "true");
  };
  const element = h(
    "div",
    { class: "field" },
    h("label", { class: "field__label", for: id, text: label }),
    hint ? h("p", { class: "field__hint", id: `${id}-hint`, text: hint }) : null,
    input,
    problem,
  );
  return { element, input, complain };
}

const email = () => field("E-mail", { type: "email", name: "email", autocomplete: "email", spellcheck: "false", autocapitalize: "none" });

const WAYS = {
  login: {
    tab: "Sign in",
    action: "Sign in",
    fields: () => [
      email(),
      field("Password", { type: "password", name: "password", autocomplete: "current-password" }),
    ],
    send: (api, [address, password]) => api.login(address, password),
  },
  order: {
    tab: "One order",
    action: "Show this order",
    fields: () => [
      field("Order number", { name: "order", autocomplete: "off", spellcheck: "false" }, "It is in your order confirmation. Only this order will be shown."),
      email(),
    ],
    send: (api, [order, address]) => api.prove(order.replace(/^#/u, ""), address),
  },
};

const MISSING = {
  "E-mail": "Enter the e-mail address you ordered with.",
  Password: "Enter your password.",
  "Order number": "Enter the order number.",
};

/** The first empty field is told what it wants; true when there is none. */
function complete(fields) {
  let first = null;
  for (const { element, input, complain } of fields) {
    const label = element.querySelector("label").textContent;
    const empty = input.value.trim() === "";
    complain(empty ? MISSING[label] : "");
    if (empty) first ??= input;
  }
  first?.focus();
  return first === null;
}

export class Identity {
  #api;
  #hooks;
  #demo;
  #slot = byId("identity");
  #opener = null;
  #question = "";
  #tab = "";

  /** `hooks`: done(session, question). */
  constructor({ api, demo, hooks }) {
    this.#api = api;
    this.#demo = demo;
    this.#hooks = hooks;
    this.#slot.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen) return;
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen() {
    return this.#slot.firstChild !== null;
  }

  /** Show the card. `question` is what will be asked again once we know who asks. */
  open({ opener = null, question = "", way = "login", focus = true }) {
    this.#opener = opener;
    this.#question = question;
    document.body.dataset.identity = "open";
    this.#draw();
    this.#choose(way);
    if (focus) this.#panel.querySelector("input, button")?.focus({ preventScroll: true });
    if (focus) this.#slot.scrollIntoView({ block: "nearest" });
  }

  close({ refocus = true } = {}) {
    if (!this.isOpen) return;
    this.#slot.replaceChildren();
    delete document.body.dataset.identity;
    if (!refocus) return;
    const target = this.#opener?.isConnected ? this.#opener : byId("field");
    target.focus({ preventScroll: true });
  }

  get #panel() {
    return this.#slot.querySelector(".who-are-you__panel");
  }

  #draw() {
    const ways = Object.keys(WAYS).concat(this.#demo ? ["demo"] : []);
    const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "How to show who you are" });
    for (const way of ways) {
      tabs.append(
        h("button", {
          class: "tab",
          type: "button",
          role: "tab",
          id: `tab-${way}`,
          "aria-controls": "who-panel",
          text: way === "demo" ? "Demo customer" : WAYS[way].tab,
          on: { click: () => this.#choose(way, true) },
        }),
      );
    }
    tabs.addEventListener("keydown", (event) => this.#arrow(event, ways));
    const words = this.#question
      ? "Orders are shown to the person they belong to. Say who you are, and your question is asked again."
      : "Orders are shown to the person they belong to. Say who you are, and the assistant can look at them.";
    this.#slot.replaceChildren(
      h(
        "section",
        { class: "who-are-you", "aria-labelledby": "who-title" },
        h(
          "div",
          { class: "who-are-you__head" },
          h("h2", { class: "who-are-you__title", id: "who-title", text: "Who is asking?" }),
          h("button", { class: "quiet quiet--icon", type: "button", "aria-label": "Close", on: { click: () => this.close() } }, icon("close")),
        ),
        h("p", { class: "who-are-you__words", text: words }),
        tabs,
        h("div", { class: "who-are-you__panel", id: "who-panel", role: "tabpanel" }),
      ),
    );
  }

  #arrow(event, ways) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const forward = getComputedStyle(this.#slot).direction === "rtl" ? -step : step;
    const next = ways[(ways.indexOf(this.#tab) + forward + ways.length) % ways.length];
    this.#choose(next);
    byId(`tab-${next}`).focus();
  }

  #choose(way, scroll = false) {
    this.#tab = way;
    for (const tab of this.#slot.querySelectorAll("[role=tab]")) {
      const chosen = tab.id === `tab-${way}`;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.#panel.setAttribute("aria-labelledby", `tab-${way}`);
    if (way === "demo") this.#drawDemo();
    else this.#drawForm(WAYS[way]);
    if (scroll) this.#slot.scrollIntoView({ block: "nearest" });
  }

  #drawForm(way) {
    const fields = way.fields();
    const problem = h("p", { class: "form__problem", role: "alert" });
    const action = this.#question ? `${way.action} and ask again` : way.action;
    const submit = h("button", { class: "button button--full", type: "submit", text: action });
    const form = h("form", { class: "form", novalidate: true }, fields.map(({ element }) => element), problem, submit);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!complete(fields) || submit.disabled) return;
      problem.textContent = "";
      const values = fields.map(({ input }) => (input.type === "password" ? input.value : input.value.trim()));
      await this.#try(submit, problem, () => way.send(this.#api, values));
    });
    this.#panel.replaceChildren(form);
  }

  async #drawDemo() {
    const problem = h("p", { class: "form__problem", role: "alert" });
    const list = h("ul", { class: "people" });
    this.#panel.replaceChildren(
      h("p", { class: "who-are-you__words", text: "These people are invented. Choose one and ask about their orders." }),
      list,
      problem,
    );
    try {
      for (const person of await this.#api.demoCustomers()) list.append(this.#demoRow(person, problem));
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  #demoRow({ email: address, name, why }, problem) {
    const choose = h(
      "button",
      { class: "person", type: "button" },
      h("span", { class: "person__mark", "aria-hidden": "true", text: name.charAt(0) }),
      h("span", { class: "person__words" }, h("strong", { text: name }), h("span", { text: why })),
      icon("arrow"),
    );
    choose.addEventListener("click", () => this.#try(choose, problem, () => this.#api.demo(address)));
    return h("li", {}, choose);
  }

  async #try(control, problem, request) {
    control.disabled = true;
    try {
      const reply = await request();
      const session = reply.asker ? reply : await this.#api.session();
      const question = this.#question;
      this.close({ refocus: false });
      this.#hooks.done(session, question);
    } catch (error) {
      problem.textContent = error.message;
      control.disabled = false;
      control.focus();
    }
  }
}
