// The official OpenAI client for JavaScript in a page of another site, as its users have it: node browser_test.mjs PUNT MODEL
//
// The page and the package's own modules come from one origin, the answers from a server with --cors for that origin.
//   CHROMIUM=/usr/bin/chromium    the browser
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const [punt, model] = process.argv.slice(2);
const packages = fileURLToPath(new URL("node_modules/", import.meta.url));

/** A site with an empty page and the modules of node_modules. */
async function startSite() {
  const site = createServer(async (request, response) => {
    const path = new URL(request.url, "http://site").pathname;
    try {
      if (path === "/") return response.setHeader("Content-Type", "text/html").end("<!doctype html><title>page</title>");
      const text = await readFile(packages + path.slice(1).replaceAll("..", ""));
      response.setHeader("Content-Type", "text/javascript").end(text);
    } catch {
      response.writeHead(404).end();
    }
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  return site;
}

async function startPunt(origin) {
  const child = spawn(punt, ["serve", "--model", model, "--port", "0", "--threads", "1", "--quiet", "--cors", origin]);
  const [said] = await once(child.stdout, "data");
  return { child, url: String(said).match(/http:\S+/)[0].replace(/\/$/, "") };
}

/** Runs in the page. */
async function useClient(url) {
  const { default: OpenAI, BadRequestError, NotFoundError } = await import("/openai/index.mjs");
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, dangerouslyAllowBrowser: true });
  const model = (await client.models.list()).data[0].id;
  const found = {};
  found.retrieved = (await client.models.retrieve(model)).id === model;
  const request = { model, messages: [{ role: "user", content: "Once upon a time" }], max_tokens: 16, seed: 1 };
  const whole = await client.chat.completions.create(request);
  found.whole = whole.choices[0].message.content;
  found.streamed = "";
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
    found.streamed += chunk.choices[0]?.delta?.content ?? "";
  }
  const drawn = await client.completions.create({ model, prompt: ["Once", "The"], max_tokens: 8 });
  const { seed } = drawn.usage;
  const again = await client.completions.create({ model, prompt: ["Once", "The"], max_tokens: 8, seed });
  found.repeats = JSON.stringify(again.choices) === JSON.stringify(drawn.choices);
  // An error that is the server's own, and one that it makes before it looks at the request: a page can read both.
  const error = (promise, kind) => promise.then(() => "taken", (reason) => (reason instanceof kind ? reason.param : String(reason)));
  found.refused = await error(client.completions.create({ model, prompt: "a", max_tokens: 0 }), BadRequestError);
  found.unknown = await error(client.models.retrieve("other"), NotFoundError);
  return found;
}

const site = await startSite();
const origin = `http://localhost:${site.address().port}`;
const server = await startPunt(origin);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(origin);
  const found = await page.evaluate(useClient, server.url);
  assert.ok(found.retrieved && found.whole !== "" && found.repeats, JSON.stringify(found));
  assert.equal(found.streamed, found.whole);
  assert.equal(found.refused, "max_tokens");
  assert.equal(found.unknown, "model");
  assert.deepEqual(complaints, []);

  const other = await browser.newPage();  // --cors names one origin
  await other.goto(origin.replace("localhost", "127.0.0.1"));
  await assert.rejects(other.evaluate(useClient, server.url));
  console.log("openai in a page of another site chats, streams and reads errors; a third site does not");
} finally {
  await browser.close();
  server.child.kill();
  site.close();
}
