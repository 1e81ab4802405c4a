// Pages of other sites against `punt serve`, in a real browser: what they can make it do, and what they can read.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "./real_server.mjs";

const server = serve("tests/golden/llada");
let browser;
let strange; // a server of pages that are not ours

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--host-resolver-rules=MAP *.example 127.0.0.1"],
  });
  strange = createServer((request, response) => response.setHeader("Content-Type", "text/html").end("<p>a page</p>"));
  await new Promise((resolve) => strange.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  await browser?.close();
  strange?.close();
});

/** What a page at `address` gets from fetch(...args): {status, text}, or {error}. */
async function fetchFrom(address, ...args) {
  const page = await browser.newPage();
  try {
    await page.goto(address);
    return await page.evaluate(async ([url, options]) => {
      try {
        const response = await fetch(url, options);
        return { status: response.status, type: response.type, text: await response.text() };
      } catch (error) {
        return { error: String(error) };
      }
    }, args);
  } finally {
    await page.close();
  }
}

const body = JSON.stringify({ prompt: "the ", max_tokens: 4 });
const json = { method: "POST", headers: { "Content-Type": "application/json" }, body };
const completions = () => `${server.url}v1/completions`;

/** How many completions the server has made or begun. */
async function made() {
  const text = await (await fetch(`${server.url}metrics`)).text();
  const lines = text.matchAll(/^punt_requests_total\{path="\/v1\/completions",status="(?:200|499)"\} (\d+)$/gm);
  return [...lines].reduce((sum, line) => sum + Number(line[1]), 0);
}

server.served("the server's own page is answered", async () => {
  const answer = await fetchFrom(server.url, completions(), json);
  assert.equal(answer.status, 200, JSON.stringify(answer));
});

server.served("a page of another site can neither read nor make it work", async () => {
  const before = await made();
  const page = `http://evil.example:${strange.address().port}/`;
  const attempts = [
    json,
    { method: "POST", body },
    { method: "POST", body, mode: "no-cors", headers: { "Content-Type": "text/plain" } },
    { method: "POST", body: new URLSearchParams({ a: "b" }).toString(), mode: "no-cors" },
  ];
  for (const options of attempts) {
    const answer = await fetchFrom(page, completions(), options);
    assert.ok(answer.error || answer.type === "opaque", JSON.stringify(answer));
  }
  assert.equal(await made(), before);
});

server.served("a name that was pointed here afterwards is not answered", async () => {
  const before = await made();
  const port = new URL(server.url).port;
  const page = await browser.newPage();
  const first = await page.goto(`http://rebind.example:${port}/`);
  assert.equal(first.status(), 403);
  const answer = await page.evaluate(
    async ([options]) => {
      const response = await fetch("/v1/completions", options);
      return response.status;
    },
    [json],
  );
  assert.equal(answer, 403);
  await page.close();
  assert.equal(await made(), before);
});

server.served("a body that is a request stays a body", async () => {
  const inner = `POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const before = await made();
  const page = `http://evil.example:${strange.address().port}/`;
  for (const path of ["a".repeat(8300), "nothing", "v1/completions"]) {
    await fetchFrom(page, server.url + path, { method: "POST", mode: "no-cors", body: inner });
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await made(), before);
});

server.served("a link to the viewer works from anywhere", async () => {
  const page = await browser.newPage();
  await page.goto(`http://evil.example:${strange.address().port}/`);
  await page.evaluate((url) => {
    document.body.innerHTML = `<a href="${url}">the viewer</a>`;
  }, server.url);
  const [response] = await Promise.all([page.waitForNavigation(), page.click("a")]);
  assert.equal(response.status(), 200);
  await page.close();
});
