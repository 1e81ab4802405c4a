// A stand-in for `punt serve`: the viewer's files under the real policy, and recorded traces as generations.
//
//   node fake_server.mjs [PORT]        by hand: http://127.0.0.1:8090/
//
// The trace of a planner is fixtures/NAME.jsonl. fixtures/props.json is of a server that was started with --planner punt.
// Prompts that start with "fail:" ask for trouble: fail:400, fail:stream (an error in it), fail:cut (its sudden end).
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const WEB = new URL("../../web/", import.meta.url);
const FIXTURES = new URL("fixtures/", import.meta.url);
const TYPES = { html: "text/html; charset=utf-8", css: "text/css", js: "text/javascript", svg: "image/svg+xml", jsonl: "application/jsonl" };

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class FakeServer {
  requests = []; // bodies of generations
  cancelled = 0; // generations whose client went away
  running = 0;
  mostRunning = 0;

  constructor({ delay = 0, hold = null, key = null, loading = 0, model = null } = {}) {
    this.model = model; // a name instead of that of the recorded properties
    this.delay = delay; // milliseconds between events
    this.hold = hold; // {event, count}: behind the so-manieth event of a kind generations wait for release()
    this.released = new Promise((resolve) => (this.release = resolve));
    this.key = key;
    this.loading = loading; // so many times /props says that the model is not there yet
    this.http = createServer((request, response) => {
      this.#answer(request, response).catch((error) => response.destroy(error));
    });
  }

  listen(port = 0) {
    return new Promise((resolve) => {
      this.http.listen(port, "127.0.0.1", () => resolve(`http://127.0.0.1:${this.http.address().port}/`));
    });
  }

  close() {
    this.http.closeAllConnections();
    this.http.close();
  }

  async #answer(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/tokenize") return this.#tokenize(request, response);
    if (request.method === "POST") return this.#generate(request, response, pathname);
    if (pathname === "/props") return this.#props(request, response);
    const name = pathname === "/" ? "index.html" : pathname.slice(1);
    const type = TYPES[name.split(".").at(-1)];
    if (!type || !/^[\w.]+$/.test(name)) return refuse(response, 404, { message: "not found" });
    response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": "default-src 'self'" });
    response.end(await readFile(new URL(name, WEB)));
  }

  #hasKey(request, response) {
    if (this.key === null || request.headers.authorization === `Bearer ${this.key}`) return true;
    refuse(response, 401, { message: "a valid API key is required" });
    return false;
  }

  async #props(request, response) {
    if (!this.#hasKey(request, response)) return;
    if (this.loading-- > 0) return refuse(response, 503, { message: "the model is being loaded" });
    response.writeHead(200, { "Content-Type": "application/json" });
    const props = JSON.parse(await readFile(new URL("props.json", FIXTURES), "utf8"));
    if (this.model !== null) props.model = { ...props.model, name: this.model, has_chat_template: false };
    response.end(JSON.stringify(props));
  }

  /** A token a word. */
  async #tokenize(request, response) {
    if (!this.#hasKey(request, response)) return;
    const { content } = JSON.parse(await text(request));
    const words = content.split(" ").filter((word) => word !== "");
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ tokens: words.map((_, i) => i) }));
  }

  async #generate(request, response, pathname) {
    if (!this.#hasKey(request, response)) return;
    const body = JSON.parse(await text(request));
    this.requests.push({ pathname, ...body });
    const prompt = body.prompt ?? body.messages?.[0].content ?? "";
    if (prompt.startsWith("fail:400")) {
      return refuse(response, 400, { message: "temperature must be at least 0", param: "temperature" });
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    let isGone = false;
    let held = 0;
    response.on("close", () => {
      isGone = true;
      this.cancelled += response.writableFinished ? 0 : 1;
    });
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      for await (const data of events(body, prompt)) {
        if (isGone) return;
        // Two writes: a reader must not rely on getting events whole.
        const bytes = Buffer.from(`data: ${data}\n\n`);
        response.write(bytes.subarray(0, bytes.length >> 1));
        if (this.delay > 0) await pause(this.delay);
        if (!isGone) response.write(bytes.subarray(bytes.length >> 1));
        const is = (kind) => data.includes(`"event":{"event":"${kind}"`);
        if (this.hold !== null && is(this.hold.event) && ++held === this.hold.count) await this.released;
        if (this.delay > 0 && is("commit")) await pause(10 * this.delay); // the next base pass
      }
    } finally {
      this.running -= 1;
    }
    response.end();
  }
}

async function* events(body, prompt) {
  const planner = body.diffusion.planner.split(":")[0];
  const trace = await readFile(new URL(`${planner}.jsonl`, FIXTURES), "utf8");
  const lines = trace.trimEnd().split("\n");
  const envelope = (line) => `{"object":"punt.trace","id":"cmpl-1","index":0,"event":${line}}`;
  for (const [i, line] of lines.entries()) {
    if (i === 8 && prompt.startsWith("fail:stream")) {
      yield JSON.stringify({ error: { message: "the graph could not be computed", type: "server_error" } });
      return;
    }
    if (i === 8 && prompt.startsWith("fail:cut")) return;
    yield envelope(line);
  }
  const end = JSON.parse(lines.at(-1));
  const object = body.messages ? "chat.completion.chunk" : "text_completion";
  yield JSON.stringify({ object, choices: [{ index: 0, finish_reason: "length" }] });
  const usage = { completion_tokens: 32, nfe: end.nfe.total, nfe_base: end.nfe.base, nfe_test: end.nfe.test };
  yield JSON.stringify({ object, choices: [], usage: { ...usage, steps: end.steps } });
  yield "[DONE]";
}

function refuse(response, status, error) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ error: { type: "invalid_request_error", param: null, code: null, ...error } }));
}

async function text(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = await new FakeServer({ delay: 15 }).listen(Number(process.argv[2] ?? 8090));
  console.log(`${url} (Ctrl+C ends it)`);
}
