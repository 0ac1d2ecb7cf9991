// The HTTP side of the contract. Every failure is an ApiError with a stable code.

export class ApiError extends Error {
  constructor(code, message, status = 0) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
  }

  /** Nothing was decided: the same request may be sent again. */
  get retryable() {
    return this.status === 0 || this.status >= 500;
  }

  /** The conversation is not there for this visitor (any more). */
  get gone() {
    return [401, 403, 404].includes(this.status);
  }
}

const UNREACHABLE = "The shop’s server cannot be reached. Check your connection and try again.";
const UNREADABLE = "The server answered in an unexpected way. Try again in a minute.";
const TIMEOUT = 15_000;

async function readBody(response) {
  if (response.status === 204) return {};
  try {
    return await response.json();
  } catch {
    if (response.ok && response.headers.get("content-length") === "0") return {};
    throw new ApiError("unreadable_reply", UNREADABLE, response.ok ? 0 : response.status);
  }
}

export function createApi({ base, shop }) {
  async function request(method, path, body) {
    const address = new URL(base + path, location.origin);
    address.searchParams.set("shop", shop);
    let response;
    try {
      response = await fetch(address, {
        method,
        headers: body === undefined ? {} : { "Content-Type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: "same-origin",
        cache: "no-store",
        signal: AbortSignal.timeout(TIMEOUT),
      });
    } catch {
      throw new ApiError("unreachable", UNREACHABLE);
    }
    const reply = await readBody(response);
    if (response.ok) return reply;
    throw new ApiError(reply.code ?? "error", reply.message ?? UNREADABLE, response.status);
  }

  const one = (id) => `/conversations/${encodeURIComponent(id)}`;
  return {
    open: () => request("POST", "/conversations", {}),
    conversation: (id) => request("GET", one(id)),
    events: (id, after) => request("GET", `${one(id)}/events?after=${after}`),
    send: (id, message) => request("POST", `${one(id)}/messages`, message),
    person: (id) => request("POST", `${one(id)}/person`, {}),
    cancel: (run) => request("POST", `/runs/${encodeURIComponent(run)}/cancel`, {}),
    answer: (card, answer, hash) => request("POST", `/confirmations/${card}/${answer}`, { hash }),
    withdraw: (proposal) => request("POST", `/proposals/${proposal}/cancel`, {}),
    session: () => request("GET", "/session"),
    login: (email, password) => request("POST", "/session/login", { email, password }),
    token: (token) => request("POST", "/session/token", { token }),
    prove: (order, email) => request("POST", "/session/guest", { order, email }),
    demo: (email) => request("POST", "/session/demo", { email }),
    demoCustomers: () => request("GET", "/session/demo-customers"),
    logout: () => request("DELETE", "/session"),
  };
}
