// One conversation's stream. The event log is the truth, the socket a hint: whatever happens to
// the socket, every event is applied once and in order.
//
// A socket that cannot be had (a strict proxy, a server restarting) does not stop the chat: until
// there is one, the stream continues by polling over HTTP.

const DELAYS = [400, 1000, 2000, 4000, 8000, 15_000];
const POLL = 2000;
const CONNECT_TIMEOUT = 10_000;
const STEADY = 3000;

export class Connection {
  #api;
  #base;
  #hooks;
  #conversation = null;
  #last = 0;
  #socket = null;
  #failures = 0;
  #life = 0;
  #timer = 0;
  #steady = 0;
  #polling = 0;
  #pulling = null;
  #again = false;
  state = "idle";

  /** `hooks`: event(event), fault(frame), state(state), gone(error). */
  constructor({ api, base, hooks }) {
    this.#api = api;
    this.#base = base;
    this.#hooks = hooks;
    addEventListener("online", () => this.kick());
    addEventListener("offline", () => this.#lose());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.kick();
    });
  }

  get lastSeq() {
    return this.#last;
  }

  start(conversation) {
    this.stop();
    this.#conversation = conversation;
    this.#last = 0;
    this.#failures = 0;
    this.#polling = setInterval(() => this.#poll(), POLL);
    this.#attempt();
  }

  stop() {
    this.#life += 1;
    this.#conversation = null;
    clearInterval(this.#polling);
    this.#drop();
    this.#pulling = null;
    this.#set("idle");
  }

  /** Take a new socket, because who is asking has changed. */
  restart() {
    if (!this.#conversation) return;
    this.#drop();
    this.#attempt();
  }

  /** Try at once instead of waiting for the next attempt. */
  kick() {
    if (!this.#conversation) return;
    if (this.state === "open") this.send({ type: "seen", seq: this.#last });
    else if (this.state !== "connecting") this.restart();
  }

  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  /** Fetch what is missing over HTTP; true when the server answered. */
  async pull() {
    if (this.#pulling) {
      this.#again = true;
      return this.#pulling;
    }
    this.#pulling = this.#pullAll(this.#life);
    const reached = await this.#pulling;
    this.#pulling = null;
    return reached;
  }

  /** A socket that died without a word looks open. When HTTP knows more, it is replaced. */
  async verify() {
    const before = this.#last;
    await this.pull();
    if (this.state === "open" && this.#last > before) this.restart();
  }

  async #pullAll(life) {
    try {
      let more = true;
      while (more || this.#again) {
        this.#again = false;
        const { events } = await this.#api.events(this.#conversation, this.#last);
        if (life !== this.#life) return false;
        for (const event of events) this.#apply(event);
        more = events.length > 0;
      }
      return true;
    } catch (error) {
      if (life === this.#life && error.gone) this.#hooks.gone(error);
      return false;
    }
  }

  #apply(event) {
    if (event.seq <= this.#last) return;
    this.#last = event.seq;
    this.#hooks.event(event);
  }

  async #receive(text) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    if (frame.seq === null || frame.seq === undefined) {
      this.#hooks.fault(frame);
      return;
    }
    if (frame.seq <= this.#last + 1) {
      this.#apply(frame);
      return;
    }
    // A gap: something was lost, or is not for customers. The log says which.
    if (!(await this.pull())) this.#socket?.close();
  }

  #attempt() {
    const address = new URL(
      `${this.#base}/conversations/${encodeURIComponent(this.#conversation)}`,
      location.href,
    );
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    if (this.state !== "polling") this.#set("connecting");
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#timer = setTimeout(() => socket.close(), CONNECT_TIMEOUT);
    socket.addEventListener("open", () => socket === this.#socket && this.#opened());
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.#socket) this.#receive(data);
    });
    socket.addEventListener("close", () => socket === this.#socket && this.#lose());
  }

  #opened() {
    clearTimeout(this.#timer);
    // One that opens and closes at once must not be tried in a tight loop.
    this.#steady = setTimeout(() => {
      this.#failures = 0;
    }, STEADY);
    this.send({ type: "seen", seq: this.#last });
    this.#set("open");
  }

  #lose() {
    if (!this.#conversation) return;
    this.#drop();
    if (this.state !== "polling") this.#set("waiting");
    const pause = DELAYS[Math.min(this.#failures, DELAYS.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#attempt(), pause * (0.8 + Math.random() * 0.4));
    this.#poll();
  }

  /** Without a socket the stream goes on over HTTP, however long an attempt may hang. */
  async #poll() {
    if (this.state === "open" || this.state === "idle") return;
    const life = this.#life;
    const reached = await this.pull();
    if (life !== this.#life || this.state === "open") return;
    this.#set(reached ? "polling" : "waiting");
  }

  #drop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#steady);
    this.#timer = 0;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #set(state) {
    if (this.state === state) return;
    this.state = state;
    this.#hooks.state(state);
  }
}
