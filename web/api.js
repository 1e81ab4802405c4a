// The server's interface: properties, and generations as streams of trace events.
import { dataEvents, rawMember } from "./sse.js";

/** What the server said no with. */
export class ApiError extends Error {
  constructor(message, { status = 0, param = null, retryAfter = 0 } = {}) {
    super(message);
    this.status = status;
    this.param = param;
    this.retryAfter = retryAfter;
  }
}

export class Api {
  #key = null; // in memory only

  setKey(key) {
    this.#key = key === "" ? null : key;
  }

  async props() {
    const response = await this.#fetch("props");
    return response.json();
  }

  /** How many tokens a text has. */
  async countTokens(content) {
    const response = await this.#fetch("tokenize", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ content }),
    });
    return (await response.json()).tokens.length;
  }

  /**
   * Runs a generation. `onEvent(event, line)` gets every trace event and its text; resolves to the usage (null when
   * the server sent none). Aborting `signal` cancels the generation on the server and rejects with an AbortError.
   */
  async generate(request, { signal, onEvent }) {
    const path = request.messages ? "v1/chat/completions" : "v1/completions";
    const response = await this.#fetch(path, {
      method: "POST",
      signal,
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(request),
    });
    let usage = null;
    for await (const data of dataEvents(response.body)) {
      if (data === "[DONE]") return usage;
      const message = JSON.parse(data);
      if (message.error)
        throw new ApiError(message.error.message ?? "the server reports an error", { param: message.error.param });
      if (message.object === "punt.trace") onEvent(message.event, rawMember(data, "event"));
      if (message.usage) usage = message.usage;
    }
    throw new ApiError("the connection ended before the generation did");
  }

  async #fetch(path, init = {}) {
    const headers = { ...init.headers };
    if (this.#key !== null) headers.Authorization = `Bearer ${this.#key}`;
    let response;
    try {
      response = await fetch(path, { ...init, headers, cache: "no-store", credentials: "same-origin" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError("the server cannot be reached");
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

async function errorOf(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // Not ours, perhaps a proxy's: the status has to do.
  }
  return new ApiError(error.message ?? `the server answered ${response.status} ${response.statusText}`.trim(), {
    status: response.status,
    param: error.param ?? null,
    retryAfter: Number(response.headers.get("Retry-After")) || 0,
  });
}
