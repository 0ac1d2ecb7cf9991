// The way to the cards of requests: they are drawn by a module that the first paint does not need.

export class Cards {
  #loading = null;

  /** `hooks`: api, remark(text), place(row, seq). */
  constructor(hooks) {
    this.hooks = hooks;
  }

  asked = (event) => this.#tell((cards) => cards.asked(event));

  moved = (event) => this.#tell((cards) => cards.moved(event));

  show(run, seq, quiet) {
    if (this.#loading) this.#tell((cards) => cards.show(run, seq + 0.3, quiet));
  }

  clear() {
    this.#loading = null;
  }

  /** Calls keep their order, however long the module takes. */
  #tell(act) {
    this.#loading ??= import("./requests.js").then(({ Requests }) => new Requests(this.hooks));
    this.#loading.then(act).catch(() => this.hooks.remark("A card could not be loaded. Reload the page."));
  }
}
