// The console's own script: an open talk follows what is said, and the badge what waits.

const TALK_MS = 2_500;
const BADGE_MS = 20_000;

/** Fetch a fragment or nothing; a console that is signed out or offline stays as it is. */
async function read(address) {
  try {
    const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" }, redirect: "error" });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** Do something now and then while the page is looked at. */
function every(milliseconds, act) {
  setInterval(() => document.visibilityState === "visible" && act(), milliseconds);
}

function followTalk() {
  const desk = document.querySelector("[data-talk]");
  const shown = document.querySelector(".desk-talk");
  if (!desk || !shown) return;
  let before = null;
  shown.setAttribute("aria-live", "polite");
  every(TALK_MS, async () => {
    const html = await read(desk.dataset.talk);
    if (html === null || html === before) return;
    const fresh = new DOMParser().parseFromString(html, "text/html").querySelector(".desk-talk");
    if (fresh && fresh.children.length !== shown.children.length) shown.replaceChildren(...fresh.children);
    before = html;
  });
}

function followBadge() {
  const badge = document.querySelector("[data-badge]");
  if (!badge) return;
  every(BADGE_MS, async () => {
    const html = await read(badge.dataset.badge);
    const fresh = html && new DOMParser().parseFromString(html, "text/html").querySelector("[data-badge]");
    if (!fresh || fresh.textContent === badge.textContent) return;
    for (const shown of document.querySelectorAll("[data-badge]")) shown.textContent = fresh.textContent;
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (fresh.textContent !== "0") document.title = `(${fresh.textContent}) ${document.title}`;
  });
}

document.addEventListener("DOMContentLoaded", () => { followTalk(); followBadge(); });
