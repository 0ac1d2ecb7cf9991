// The chat on a shop's own page:
//
//   <script src="https://DESK/widget.js" data-shop="SHOP" async></script>
//
// It adds one button and, once that is pressed, one frame. `data-token` is the shop's signed token
// for the customer whom its site knows, fresh for each page; empty, it says that nobody is signed in
// there, and whoever used the chat before on this device is signed out. Pages steer it by DSupport.open() and DSupport.close().

(() => {
  const script = document.currentScript;
  if (!script || window.DSupport) return;
  const desk = new URL(script.src).origin;
  const shop = script.dataset.shop ?? "";
  if (!/^[\w-]+$/u.test(shop)) {
    console.error("DSupport: name the shop, as in <script … data-shop=\"demo\">.");
    return;
  }
  const PATIENCE = 12_000;

  const STYLE = `
    :host { all: initial; position: fixed; inset: 0; z-index: 2147483000; pointer-events: none; color-scheme: light dark;
      font: 16px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
    .button, .panel { pointer-events: auto; }
    .button { position: absolute; inset-block-end: max(20px, env(safe-area-inset-bottom)); inset-inline-end: 20px; display: flex; align-items: center; gap: 8px;
      block-size: 52px; padding-inline: 18px 20px; border: 0; border-radius: 26px; cursor: pointer; font: 600 16px/1 inherit; font-family: inherit;
      background: #1c4a3f; color: #f4faf7; box-shadow: 0 2px 6px rgb(10 30 24 / 22%), 0 12px 32px -10px rgb(10 30 24 / 45%); transition: background .15s; }
    .button:hover { background: #0d5f4c; }
    .button:focus-visible { outline: 3px solid #86d3b8; outline-offset: 2px; }
    .button svg { inline-size: 22px; block-size: 22px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linejoin: round; stroke-linecap: round; }
    .news { position: absolute; inset-block-start: -3px; inset-inline-end: -1px; inline-size: 16px; block-size: 16px; border: 3px solid #fff; border-radius: 50%; background: #c2410c; }
    .panel { position: absolute; inset-block-end: max(20px, env(safe-area-inset-bottom)); inset-inline-end: 20px; display: flex; flex-direction: column; overflow: hidden;
      inline-size: 416px; max-inline-size: calc(100% - 40px); block-size: 680px; max-block-size: calc(100% - 40px); border-radius: 16px; background: #f3f5f3; color: #17211d;
      box-shadow: 0 0 0 1px rgb(10 30 24 / 14%), 0 24px 64px -16px rgb(10 30 24 / 50%); animation: rise .18s ease-out; }
    .frame { flex: 1; inline-size: 100%; border: 0; color-scheme: light dark; }
    .note { position: absolute; inset: 0; display: grid; place-content: center; justify-items: center; gap: 12px; padding: 28px; text-align: center; background: inherit; }
    .note p { margin: 0; max-inline-size: 34ch; }
    .note a { color: inherit; font-weight: 600; }
    .note button { border: 1px solid currentColor; border-radius: 10px; padding: 8px 16px; background: none; color: inherit; font: inherit; cursor: pointer; }
    .wait { inline-size: 22px; block-size: 22px; border: 2px solid rgb(120 140 132 / 40%); border-block-start-color: currentColor; border-radius: 50%; animation: turn .9s linear infinite; }
    [hidden] { display: none !important; }
    @keyframes rise { from { opacity: 0; translate: 0 10px; } }
    @keyframes turn { to { rotate: 1turn; } }
    @media (max-width: 520px), (max-height: 480px) {
      .panel { inset: 0; inline-size: auto; max-inline-size: none; block-size: auto; max-block-size: none; border-radius: 0; box-shadow: none; }
    }
    @media (prefers-color-scheme: dark) {
      .panel { background: #101513; color: #e5ece8; box-shadow: 0 0 0 1px rgb(230 240 235 / 16%), 0 24px 64px -16px #000; }
      .button { background: #22503f; box-shadow: 0 0 0 1px rgb(230 240 235 / 18%), 0 12px 32px -10px #000; }
      .news { border-color: #101513; }
    }
    @media (prefers-reduced-motion: reduce) { .panel, .wait { animation: none; } .button { transition: none; } }
    @media print { :host { display: none; } }`;

  const MARKUP = `
    <button class="button" type="button" aria-expanded="false" aria-haspopup="dialog">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 5.5h16v10.5H11l-4.5 3.7V16H4z"/><path d="M8.5 10.8h.1M12 10.8h.1M15.5 10.8h.1"/></svg>
      <span>Help</span><span class="news" role="img" aria-label="New answer" hidden></span>
    </button>
    <div class="panel" role="dialog" aria-label="Help chat" hidden>
      <div class="note" role="status"><span class="wait"></span><p>Opening the chat…</p></div>
    </div>`;

  const host = document.createElement("dsupport-widget");
  const root = host.attachShadow({ mode: "closed" });
  // A constructed sheet also works on pages whose policy forbids inline styles.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  root.innerHTML = MARKUP;
  const [button, news, panel, note] = [".button", ".news", ".panel", ".note"].map((name) => root.querySelector(name));

  let frame = null;
  let ready = false;
  let timer = 0;

  const tell = (message) => frame?.contentWindow?.postMessage({ dsupport: 1, ...message }, desk);

  function load() {
    ready = false;
    frame?.remove();
    frame = document.createElement("iframe");
    Object.assign(frame, { className: "frame", title: "Help chat", allow: "clipboard-write", src: `${desk}/embed/${shop}/` });
    panel.append(frame);
    note.hidden = false;
    timer = setTimeout(failed, PATIENCE);
  }

  /** The frame never spoke: the desk is away, or does not know this site. */
  function failed() {
    const retry = document.createElement("button");
    Object.assign(retry, { type: "button", textContent: "Try again" });
    retry.addEventListener("click", () => {
      note.replaceChildren(words("Opening the chat…"));
      load();
    });
    const away = document.createElement("a");
    Object.assign(away, { href: `${desk}/shops/${shop}/`, target: "_blank", rel: "noopener", textContent: "Open it in its own tab" });
    const close = document.createElement("button");
    Object.assign(close, { type: "button", textContent: "Close" });
    close.addEventListener("click", hide);
    note.replaceChildren(words("The chat could not be shown on this page."), away, retry, close);
    console.warn(`DSupport: no answer from ${desk}. If it is up, an administrator lists this site: manage.py widget allow ${location.origin} --shop ${shop} --by NAME`);
  }

  function words(text) {
    const line = document.createElement("p");
    line.textContent = text;
    return line;
  }

  function show() {
    panel.hidden = false;
    button.hidden = true;
    news.hidden = true;
    button.setAttribute("aria-expanded", "true");
    if (!frame) load();
    frame.focus();
    if (ready) tell({ type: "shown" });
  }

  function hide() {
    if (panel.hidden) return;
    panel.hidden = true;
    button.hidden = false;
    button.setAttribute("aria-expanded", "false");
    tell({ type: "hidden" });
    button.focus();
  }

  const HEARD = {
    ready() {
      clearTimeout(timer);
      ready = true;
      note.hidden = true;
      tell({ type: "hello", token: script.dataset.token });
      tell({ type: panel.hidden ? "hidden" : "shown" });
    },
    close: hide,
    news() {
      news.hidden = !panel.hidden;
    },
  };

  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || event.origin !== desk) return;
    if (event.data?.dsupport === 1 && Object.hasOwn(HEARD, event.data.type)) HEARD[event.data.type]();
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  button.addEventListener("click", show);

  window.DSupport = Object.freeze({ open: show, close: hide });
  const place = () => document.body.append(host);
  if (document.body) place();
  else addEventListener("DOMContentLoaded", place);
})();
