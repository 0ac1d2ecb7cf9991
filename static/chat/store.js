// What survives a reload of this tab: conversation, draft, messages not yet delivered.

function readShared(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function writeShared(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Then the same token counts as used, and its bearer is signed out.
  }
}

export function createStore(shop) {
  const memory = new Map();
  const key = (name) => `dsupport:${shop}:${name}`;

  // Storage may be full or forbidden; then the page still works until it is closed.
  const read = (name, fallback) => {
    try {
      const text = sessionStorage.getItem(key(name));
      return text === null ? (memory.get(name) ?? fallback) : JSON.parse(text);
    } catch {
      return memory.get(name) ?? fallback;
    }
  };

  const write = (name, value) => {
    memory.set(name, value);
    try {
      if (value === null) sessionStorage.removeItem(key(name));
      else sessionStorage.setItem(key(name), JSON.stringify(value));
    } catch {
      // The copy in memory is what remains.
    }
  };

  const field = (name, fallback) => ({
    get: () => read(name, fallback),
    set: (value) => write(name, value),
  });

  return {
    conversation: field("conversation", null),
    previous: field("previous", null),
    draft: field("draft", ""),
    outbox: field("outbox", []),
    vouched: {
      // Of the token that was accepted last, on every tab: a reload brings the same one again.
      get: () => readShared(key("vouched")),
      set: (value) => writeShared(key("vouched"), value),
    },
    wantsPerson: field("wants-person", false),
    clear() {
      for (const name of ["conversation", "previous", "draft", "outbox", "wants-person"]) {
        write(name, null);
      }
      memory.clear();
    },
  };
}
