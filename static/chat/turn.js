// One answer in the making, and then the answer: the same row from the first moment to the last,
// so that the words appear where the reader is already looking.

import { button, h, icon, unseen } from "./dom.js";
import { duration, settled } from "./format.js";
import { byline, stamp } from "./messages.js";
import { rich, verbatim } from "./richtext.js";
import { Trace } from "./trace.js";

const SLOW = 15_000;
const SHOW_SECONDS = 3000;
// Steps of a few milliseconds would flicker; the line changes at most this often.
const LINE_PAUSE = 280;

const ENDINGS = {
  cancelled: "Stopped. Nothing further was done.",
  failed: "Something went wrong on our side, so there is no answer.",
  handed_over: "I could not finish this myself.",
  completed: "A person answers here.",
};

let ids = 0;

function sourceChip(source) {
  const { title, heading, version, url, stale } = source;
  const place = heading && heading !== title ? ` › ${heading}` : "";
  return h(
    "li",
    {},
    h(
      "a",
      { class: "source", href: url, target: "_blank", rel: "noopener", data: stale ? { stale: "" } : {} },
      icon("doc"),
      h("span", { class: "source__words" }, h("span", { class: "source__title", text: title }), place, ` v${version}`),
      stale ? h("span", { class: "source__stale", text: "changed since" }) : null,
      unseen("(opens in a new tab)"),
    ),
  );
}

/** Only addresses of this site become links; a source without one is left out. */
function ownAddress({ url }) {
  try {
    return new URL(url, location.origin).origin === location.origin;
  } catch {
    return false;
  }
}

export class Turn {
  trace = new Trace();
  done = false;
  #hooks;
  #run;
  #started = Date.now();
  #timer = 0;
  #lineTimer = 0;
  #lineAt = 0;

  /** `hooks`: cancel(run), person(), identity(), again(), help. */
  constructor(run, hooks) {
    this.#run = run;
    this.#hooks = hooks;
    this.#build();
    this.#timer = setInterval(() => this.#tick(), 1000);
  }

  #build() {
    ids += 1;
    const panelId = `how-${ids}`;
    this.seconds = h("span", { class: "seconds", "aria-hidden": "true" });
    this.stopButton = h(
      "button",
      { class: "mini", type: "button", on: { click: () => this.#stop() } },
      icon("stop"),
      "Stop",
    );
    this.howMs = h("span", { class: "mini__ms" });
    this.howButton = h(
      "button",
      {
        class: "mini mini--how",
        type: "button",
        "aria-expanded": "false",
        "aria-controls": panelId,
        on: { click: () => this.toggle() },
      },
      "How",
      unseen(" this answer was made"),
      this.howMs,
      icon("chevron"),
    );
    this.head = byline({ label: "AI" });
    this.tools = h("div", { class: "row__tools" }, this.seconds, this.stopButton, this.howButton);
    this.panel = h("div", { class: "how", id: panelId, hidden: true });
    this.lineText = h("span", { class: "living__words", text: this.trace.line });
    this.line = h("p", { class: "living" }, this.lineText);
    this.slow = h("div", { class: "slow", hidden: true });
    this.body = h("article", {}, h("div", { class: "row__head" }, this.head, this.tools), this.panel, this.line, this.slow);
    this.body.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.panel.hidden) return;
      event.stopPropagation();
      this.toggle(false);
      this.howButton.focus();
    });
    this.element = h("li", { class: "row row--turn", data: { working: "" } }, this.body);
  }

  toggle(open = this.panel.hidden) {
    this.panel.hidden = !open;
    this.howButton.setAttribute("aria-expanded", String(open));
    if (open) this.#draw();
  }

  /** The tree is drawn by a module that the first paint does not need. */
  async #draw() {
    try {
      const { drawTree } = await import("./how.js");
      drawTree(this.panel, this.trace);
    } catch {
      this.panel.textContent = "This could not be loaded. Check your connection and open it again.";
    }
  }

  /** Take in one event of the run. */
  apply(event) {
    if (event.type === "run.started") this.#started = Date.parse(event.at) || Date.now();
    if (!this.trace.apply(event)) return;
    if (!this.done) this.#showLine();
    if (!this.panel.hidden) this.#draw();
    if (this.trace.finished) this.howMs.textContent = duration(this.trace.finished.ms);
  }

  #showLine() {
    clearTimeout(this.#lineTimer);
    const wait = this.#lineAt + LINE_PAUSE - performance.now();
    if (wait > 0) {
      this.#lineTimer = setTimeout(() => this.#showLine(), wait);
      return;
    }
    this.#lineAt = performance.now();
    this.lineText.textContent = this.trace.line;
    if (!this.slow.hidden) this.#showSlow();
  }

  #tick() {
    const waited = Date.now() - this.#started;
    if (waited >= SHOW_SECONDS) this.seconds.textContent = `${Math.floor(waited / 1000)} s`;
    if (waited >= SLOW && this.slow.hidden) this.#showSlow();
  }

  #showSlow() {
    this.slow.hidden = false;
    this.slow.replaceChildren(
      h("span", { text: `This takes longer than usual: “${settled(this.trace.line)}”. You can keep waiting, or ` }),
      button("talk to a person", () => this.#hooks.person(), "link"),
      ".",
    );
  }

  #stop() {
    this.stopButton.disabled = true;
    this.lineText.textContent = "Stopping…";
    this.#hooks.cancel(this.#run);
  }

  /** Stopping did not reach the server: the work goes on and so does the line. */
  keepGoing() {
    this.stopButton.disabled = false;
    if (!this.done) this.#showLine();
  }

  #settle(at) {
    this.done = true;
    clearInterval(this.#timer);
    clearTimeout(this.#lineTimer);
    delete this.element.dataset.working;
    const focused = this.tools.contains(document.activeElement);
    this.seconds.remove();
    this.stopButton.remove();
    if (focused) this.howButton.focus();
    this.slow.remove();
    if (at) this.head.append(stamp(at));
  }

  /** Put the answer where the living line was. */
  answer({ data, at }) {
    if (this.done) return;
    this.#settle(at);
    const prose = h("div", { class: "prose", dir: "auto" }, rich(data.answer, this.#hooks.help));
    this.line.replaceWith(prose);
    const sources = (data.sources ?? []).filter(ownAddress);
    if (sources.length) {
      this.body.append(h("ul", { class: "sources", "aria-label": "Sources" }, sources.map(sourceChip)));
    }
    if (data.notice) this.body.append(h("p", { class: "by-rules", text: data.notice }));
    if (data.needs === "identity") {
      this.body.append(
        h("p", { class: "follow" }, button("Sign in or prove one order", (event) => this.#hooks.identity(event.currentTarget))),
      );
    }
  }

  /** The run ended and no answer came of it; `handed` when a person has it now. */
  end({ data, at }, handed = false) {
    if (this.done) return;
    this.#settle(at);
    const words = ENDINGS[data.status] ?? ENDINGS.failed;
    this.ending = h("div", { class: "ending" }, h("p", { text: words }));
    this.line.replaceWith(this.ending);
    if (data.status !== "failed" || handed) return;
    this.body.append(
      h(
        "p",
        { class: "follow" },
        button("Ask again", () => this.#hooks.again(this.#run)),
        button("Talk to a person", () => this.#hooks.person()),
      ),
    );
  }

  /** Show how the desk itself puts the end of a run; false when an answer stands here. */
  close(text, at) {
    if (!this.done) this.end({ data: { status: "cancelled" }, at });
    this.ending?.replaceChildren(...verbatim(text));
    return Boolean(this.ending);
  }

  /** Take the row away: what it waited for will not start. */
  dismiss() {
    this.#settle(null);
    this.element.remove();
  }
}
