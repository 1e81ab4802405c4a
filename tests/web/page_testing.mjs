// What the tests in a browser share: a page on a fake server of its own, and words for what is on it.
//
//   CHROMIUM=/usr/bin/chromium    the browser        SCREENSHOTS=FOLDER    keep pictures of some pages
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";
import { FakeServer } from "./fake_server.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
export const fixturePath = (name) => fileURLToPath(new URL(`fixtures/${name}.jsonl`, import.meta.url));
export const fixture = (name) => readFile(fixturePath(name), "utf8");

let browser;
const opened = []; // servers and contexts of the test that runs

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});
after(() => browser?.close());
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A page on a fake server of its own; see openAt. */
export async function open({ server: serverOptions = {}, ...options } = {}) {
  const server = new FakeServer(serverOptions);
  opened.push(server);
  return { server, ...(await openAt(await server.listen(), options)) };
}

/**
 * `complaints`: what the browser's console was told, but for what is `allowed`, and requests that went elsewhere.
 * Nothing plays by itself unless `reducedMotion` is "no-preference". `hash`: what stands behind the address.
 */
export async function openAt(url, { allowed = null, hash = "", ...contextOptions } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...contextOptions,
  });
  opened.unshift(context);
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const complaints = [];
  const note = (text) => !allowed?.test(text) && complaints.push(text);
  const isElsewhere = (address) => !address.startsWith(url) && !address.startsWith("blob:");
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && note(message.text()));
  page.on("pageerror", (error) => note(String(error)));
  page.on("request", (request) => isElsewhere(request.url()) && note(request.url()));
  await page.goto(url + hash);
  return { page, complaints };
}

/** The server is there, the recorded run is shown, and everything is unfolded. */
export async function ready(page) {
  await page.waitForSelector("#run:enabled");
  await page.waitForFunction(() => document.querySelector("#status").textContent !== "");
  await page.evaluate(() => {
    for (const one of document.querySelectorAll("#drawer, .extras")) one.open = true;
  });
  await settled(page);
}
export const panel = (page, index = 0) => page.locator(".panel").nth(index);
export const counter = (page, name, index = 0) => panel(page, index).locator(`[data-counter=${name}]`).textContent();
export const where = (page, index = 0) => panel(page, index).locator(".where").textContent();
export const cells = (page, state, index = 0) => panel(page, index).locator(`.canvas .cell.${state}`);

export async function runToEnd(page, prompt = "Once upon a time") {
  await page.fill("#prompt", prompt);
  await page.evaluate(() => (document.querySelector("#status").textContent = ""));
  await page.press("#prompt", "Control+Enter");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  await page.waitForSelector("#run:enabled");
  await settled(page);
}

/** Drawing happens on the browser's next frame. */
export const settled = (page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

export async function slideTo(page, value, index = 0) {
  await panel(page, index).locator(".slider").fill(String(value));
  await settled(page);
}

export async function screenshot(page, name) {
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
}

export async function assertAccessible(page, name) {
  // Evaluated, not added as an element: the page's policy forbids scripts that are not its own.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(AXE, "utf8"));
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  const told = violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`,
  );
  assert.deepEqual(told, [], name);
  assert.ok(passes.length > 15, `axe checked ${passes.length} rules`);
}

export async function assertNoSidewaysScroll(page) {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(inner <= outer, `the page is ${inner} px wide in a window of ${outer}`);
}

/** Events of a recorded run. */
export async function eventsOf(name, kind) {
  const events = (await fixture(name))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return events.filter((event) => event.event === kind);
}

export const endOf = async (name) => (await eventsOf(name, "end"))[0];
