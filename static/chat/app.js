// Start of the page: reads what the server wrote into it and joins the parts.

import { Account } from "./account.js";
import { createApi } from "./api.js";
import { Composer } from "./composer.js";
import { Desk } from "./desk.js";
import { byId, h } from "./dom.js";
import { LinkBar } from "./linkbar.js";
import { createStore } from "./store.js";

const config = JSON.parse(byId("config").textContent);
const shop = typeof config.shop === "string" ? config.shop : config.shop.slug;
const title = document.title;
const fine = matchMedia("(pointer: fine)").matches;

const api = createApi({ base: config.api, shop });
const store = createStore(shop);
const bar = new LinkBar(() => retry());

let session = api.session();
let settle;
/** Who is asking is known, also to a page around this one. */
const settled = new Promise((resolve) => {
  settle = resolve;
});

const desk = new Desk({
  api,
  store,
  config,
  // The first request of a new visitor brings the cookie; a conversation opened beside it would
  // belong to somebody else.
  ready: settled,
  hooks: {
    stage,
    link: (down) => {
      bar.down = down || !navigator.onLine;
    },
    remark: (text) => bar.remark(text),
    identity: (options) => identify({ way: config.demo ? "demo" : "login", ...options }),
    edit: (text) => composer.restore(text),
    news: () => {
      if (document.hidden) document.title = `New answer · ${title}`;
      host?.news();
    },
    person: (name) => {
      const words = byId("foot-chat");
      words.dataset.person = name;
      words.replaceChildren(...footWords(name));
      byId("foot-person").hidden = Boolean(name) || document.body.dataset.stage === "first";
    },
  },
});

const composer = new Composer({ draft: store.draft, send: (text) => desk.send(text) });

const account = new Account({
  identify: (opener) => identify({ opener, way: "login" }),
  signOut,
});

let identity = null;
let host = null;

/** The form is not part of the first paint; it is fetched right after it. */
async function loadIdentity() {
  const { Identity } = await import("./identity.js");
  identity ??= new Identity({
    api,
    demo: config.demo,
    hooks: {
      done: (session, question) => {
        account.show(session);
        desk.identified(identityWords(account.session), question);
        composer.focus();
      },
    },
  });
  return identity;
}

async function identify(options) {
  try {
    (await loadIdentity()).open(options);
  } catch {
    bar.remark("The form could not be loaded. Check your connection and try again.");
  }
}

function footWords(name) {
  if (name) return [h("strong", { text: `${name}.` }), " A person answers you. The assistant is silent."];
  const more = h("span", { class: "foot__more", text: " A person can take over at any time." });
  return [h("strong", { text: "AI assistant." }), more];
}

function identityWords({ asker, name, orders }) {
  if (asker === "signed_in") return `Signed in as ${name}.`;
  return `Order ${orders.at(-1)} is proved. The assistant can look at it now.`;
}

function stage(name) {
  const first = name === "first";
  document.body.dataset.stage = name;
  byId("intro").hidden = !first;
  byId("foot-first").hidden = !first;
  byId("foot-chat").hidden = first;
  byId("foot-person").hidden = first || Boolean(byId("foot-chat").dataset.person);
  byId("new").hidden = first;
  byId("previous").hidden = !first || !store.previous.get();
}

function retry() {
  desk.connection.kick();
  desk.outbox.wake();
}

async function signOut() {
  // The server closes the socket; that is no reason to speak of a lost conversation.
  desk.leaving = true;
  try {
    await api.logout();
  } catch (error) {
    desk.leaving = false;
    bar.remark(error.message);
    return;
  }
  identity?.close({ refocus: false });
  desk.reset();
  store.clear();
  composer.clear();
  account.show({ asker: "anonymous" });
  stage("first");
  bar.remark("You are signed out, and the conversation is closed on this device.");
  composer.focus();
}

const ACTS = {
  person: () => desk.people.ask(),
  starter: (control) => desk.send(control.textContent.trim()),
  demo: (control) => identify({ opener: control, way: "demo" }),
  previous: () => desk.back(),
};

document.addEventListener("click", (event) => {
  const control = event.target.closest("[data-act]");
  if (!control) return;
  ACTS[control.dataset.act]?.(control);
  // The control may be gone with the first screen; the field is where to go on.
  if (control.dataset.act !== "demo") composer.focus();
});

byId("new").addEventListener("click", () => {
  identity?.close({ refocus: false });
  desk.renew();
  stage("first");
  composer.focus();
});
byId("tickets").addEventListener("click", () => desk.people.showTicket());

for (const type of ["online", "offline"]) {
  addEventListener(type, () => {
    const { state } = desk.connection;
    bar.down = !navigator.onLine || !["open", "polling", "idle"].includes(state);
    if (navigator.onLine) desk.outbox.wake();
  });
}
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.title = title;
});

async function start() {
  document.documentElement.classList.remove("no-script");
  if (config.embedded) await frame();
  else if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js").catch(() => {});
  session.catch(() => {}).then(settle);
  desk.resume();
  if (fine) composer.focus();
  try {
    account.show(await session);
  } catch {
    // Nobody is known then; signing in says what is wrong if it still is.
  }
}

/** Join the page of the shop that shows this one, and agree with it on who is asking. */
async function frame() {
  const { Host, offerOwnTab } = await import("./embed.js");
  host = new Host({ shown: () => fine && composer.focus() });
  const token = await host.greeted;
  try {
    if (!(await session).remembered) offerOwnTab(config.page);
    if (token !== undefined) await agree(token);
  } catch (error) {
    // Whose talk this is cannot be told now, so none is shown.
    if (token !== undefined) store.clear();
    if (token) bar.remark(`You could not be signed in: ${error.message}`);
  }
}

/**
 * Be whom the shop's site names, and nobody else: the last one on this device may be another. A
 * token counts once; the one that was accepted last comes again with every reload.
 */
async function agree(token) {
  const { asker } = await session;
  if (token && token === store.vouched.get() && asker === "signed_in") return;
  if (asker !== "anonymous") {
    session = api.logout();
    await session;
  }
  if (!token) {
    store.clear();
    return;
  }
  session = api.token(token);
  await session.catch((error) => {
    session = api.session();
    throw error;
  });
  store.vouched.set(token);
}

/** Fetch what a click will want, while there is a network to fetch it from. */
function warm() {
  loadIdentity().catch(() => {});
  import("./how.js").catch(() => {});
}

start();
setTimeout(warm, 800);
