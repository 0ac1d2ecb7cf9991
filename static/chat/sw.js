// Keeps the shell of the chat for moments without a network. The network always comes first, so
// a new version is never hidden by an old copy; conversations are never kept here.

const SHELL = "dsupport-shell-1";

const isShell = (url) => url.pathname === "/" || /^\/(static\/chat|shops)\//u.test(url.pathname);

async function networkFirst(request) {
  const shell = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok && response.type === "basic") await shell.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await shell.match(request);
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name !== SHELL).map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin || !isShell(url)) return;
  event.respondWith(networkFirst(event.request));
});
