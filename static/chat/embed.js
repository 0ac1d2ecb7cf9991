// The chat inside a frame on a shop's page: how it speaks with the page around it.

import { byId, h, icon } from "./dom.js";

const GREETING = 3000;

/** The page that frames this one; the desk's `frame-ancestors` has already chosen who may. */
export class Host {
  #origin = "";
  #hooks;
  #shown = true;
  #greet;
  /** What the page says of its visitor: nothing, "" for nobody, or a token; resolved once. */
  greeted = new Promise((resolve) => {
    this.#greet = resolve;
  });

  /** `hooks`: shown(). */
  constructor(hooks) {
    this.#hooks = hooks;
    // A page without our script says nothing at all.
    setTimeout(() => this.#greet(undefined), parent === window ? 0 : GREETING);
    addEventListener("message", (event) => this.#hear(event));
    addEventListener("keydown", (event) => {
      // What is open inside closes first, and keeps the key to itself.
      if (event.key === "Escape" && !event.isComposing) this.close();
    });
    const control = h(
      "button",
      { class: "quiet quiet--icon", id: "close", type: "button", "aria-label": "Close the chat", on: { click: () => this.close() } },
      icon("close"),
    );
    byId("account").after(control);
    // Nothing is in this word but that the page stands; what follows goes to one origin only.
    parent.postMessage({ dsupport: 1, type: "ready" }, "*");
  }

  close() {
    this.#tell("close");
  }

  news() {
    if (!this.#shown) this.#tell("news");
  }

  #tell(type) {
    if (this.#origin) parent.postMessage({ dsupport: 1, type }, this.#origin);
  }

  #hear({ source, origin, data }) {
    if (source !== parent || data?.dsupport !== 1) return;
    this.#origin ||= origin;
    if (data.type === "hidden") this.#shown = false;
    if (data.type === "shown") {
      this.#shown = true;
      this.#hooks.shown();
    }
    if (data.type === "hello") this.#greet(typeof data.token === "string" ? data.token : undefined);
  }
}

/** Some browsers keep no cookie in a frame; then the chat works in a tab of its own. */
export function offerOwnTab(page) {
  const link = h("a", { href: page, target: "_blank", rel: "noopener", text: "Open the chat in its own tab" });
  byId("main").prepend(h("p", { class: "intro__notice", role: "status" }, icon("warn"), h("span", {}, "Your browser keeps nothing for a chat inside another page. ", link)));
  document.querySelector(".dock").hidden = true;
}
