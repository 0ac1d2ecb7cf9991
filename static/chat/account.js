// Who is asking, in the header: sign in, or the name with a small menu to sign out.

import { byId, h, icon } from "./dom.js";

const ANONYMOUS = { asker: "anonymous", name: "", orders: [] };

function shortName({ asker, name, orders }) {
  if (asker === "signed_in") return name || "Signed in";
  if (asker === "guest_with_order") return `Order ${orders.at(-1) ?? ""}`.trim();
  return "Sign in";
}

function longWords({ asker, name, orders }) {
  if (asker === "signed_in") return `Signed in as ${name}. The assistant can look at your orders.`;
  const list = orders.join(", ");
  return `You proved order ${list}. The assistant can look at ${orders.length > 1 ? "these orders" : "this order"} only.`;
}

export class Account {
  session = ANONYMOUS;
  #root = byId("account");
  #button = byId("account-button");
  #menu = null;
  #hooks;

  /** `hooks`: identify(opener), signOut(). */
  constructor(hooks) {
    this.#hooks = hooks;
    this.#button.addEventListener("click", () => this.#pressed());
    document.addEventListener("click", (event) => {
      if (this.#menu && !this.#root.contains(event.target)) this.#close();
    });
    this.#root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#menu) return;
      event.stopPropagation();
      this.#close();
      this.#button.focus();
    });
  }

  get known() {
    return this.session.asker !== "anonymous";
  }

  show(session) {
    this.session = { ...ANONYMOUS, ...session, orders: session.proved_orders ?? session.orders ?? [] };
    this.#close();
    this.#root.dataset.asker = this.session.asker;
    this.#button.replaceChildren(
      icon("person"),
      h("span", { class: "account__name", text: shortName(this.session) }),
    );
    if (this.known) this.#button.append(icon("chevron"));
  }

  #pressed() {
    if (!this.known) this.#hooks.identify(this.#button);
    else if (this.#menu) this.#close();
    else this.#open();
  }

  #open() {
    const act = (listener) => () => {
      this.#close();
      listener();
    };
    const guest = this.session.asker === "guest_with_order";
    const more = guest ? "Prove another order or sign in" : null;
    this.#menu = h(
      "div",
      { class: "menu", id: "account-menu" },
      h("p", { class: "menu__words", text: longWords(this.session) }),
      more ? h("button", { class: "menu__item", type: "button", text: more, on: { click: act(() => this.#hooks.identify(this.#button)) } }) : null,
      h("button", { class: "menu__item", type: "button", text: guest ? "Forget this order" : "Sign out", on: { click: act(() => this.#hooks.signOut()) } }),
    );
    this.#root.append(this.#menu);
    this.#button.setAttribute("aria-expanded", "true");
    this.#button.setAttribute("aria-controls", "account-menu");
    this.#menu.querySelector("button").focus({ preventScroll: true });
  }

  #close() {
    this.#menu?.remove();
    this.#menu = null;
    if (this.known) this.#button.setAttribute("aria-expanded", "false");
    else this.#button.removeAttribute("aria-expanded");
  }
}
