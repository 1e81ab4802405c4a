// The viewer in a real browser, end to end, against fake_server.mjs. Run by node --test.
//
//   CHROMIUM=/usr/bin/chromium SCREENSHOTS=folder node --test viewer_test.mjs
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { after, afterEach, before, test } from "node:test";
import { chromium } from "playwright-core";
import { FakeServer } from "./fake_server.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const fixturePath = (name) => fileURLToPath(new URL(`fixtures/${name}.jsonl`, import.meta.url));
const fixture = (name) => readFile(fixturePath(name), "utf8");

let browser;
const opened = []; // servers and contexts of the test that runs

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(() => browser?.close());
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A page on a server of its own. `complaints` holds everything the browser's console was told. */
async function open({ server: serverOptions = {}, allowed = null, ...contextOptions } = {}) {
  const server = new FakeServer(serverOptions);
  const url = await server.listen();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...contextOptions });
  opened.push(context, server);
  const page = await context.newPage();
  page.setDefaultTimeout(20000);
  const complaints = [];
  const note = (text) => !allowed?.test(text) && complaints.push(text);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && note(message.text()));
  page.on("pageerror", (error) => note(String(error)));
  page.on("request", (request) => !request.url().startsWith(url) && !request.url().startsWith("blob:") && note(request.url()));
  await page.goto(url);
  return { page, server, complaints, url };
}

const ready = (page) => page.waitForSelector("#run:enabled");
const panel = (page, index = 0) => page.locator(".panel").nth(index);
const counter = (page, name, index = 0) => panel(page, index).locator(`[data-counter=${name}]`).textContent();
const where = (page, index = 0) => panel(page, index).locator(".where").textContent();
const cells = (page, state, index = 0) => panel(page, index).locator(`.canvas .cell.${state}`);

async function runToEnd(page, prompt = "Once upon a time") {
  await page.fill("#prompt", prompt);
  await page.press("#prompt", "Control+Enter");
  await page.waitForSelector("#stop:enabled");
  await page.waitForSelector("#run:enabled");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("forward passes"));
  await settled(page);
}

/** Drawing happens on the browser's next frame. */
const settled = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

async function slideTo(page, value, index = 0) {
  await panel(page, index).locator(".slider").fill(String(value));
  await settled(page);
}

async function screenshot(page, name) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
}

async function assertAccessible(page, name) {
  // Evaluated, not added as an element: the page's policy forbids scripts that are not its own.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(AXE, "utf8"));
  const { violations, passes } = await page.evaluate(() => window.axe.run());
  const told = violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`);
  assert.deepEqual(told, [], name);
  assert.ok(passes.length > 15, `axe checked ${passes.length} rules`);
}

const assertNoSidewaysScroll = async (page) => {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(inner <= outer, `the page is ${inner} px wide in a window of ${outer}`);
};

async function lastFrame(name) {
  const lines = (await fixture(name)).trimEnd().split("\n");
  return JSON.parse(lines.at(-1));
}

test("a prompt is filled in live, and the counters are those of the run", async () => {
  const { page, server, complaints } = await open({ server: { delay: 10 } });
  await ready(page);
  await page.check("input[value=completion]");
  await page.fill("#prompt", "Once upon a time");
  await page.fill("#max-tokens", "32");
  await page.fill("#seed", "4");
  await page.click("#run");
  // Watch it: masks get fewer, accepted and rejected are seen on the way.
  await cells(page, "accepted").first().waitFor();
  await cells(page, "rejected").first().waitFor();
  const early = await cells(page, "earlier").count();
  await page.waitForFunction((n) => document.querySelectorAll(".canvas .cell.earlier").length > n + 5, early);
  await page.waitForSelector("#run:enabled");
  await settled(page);
  assert.equal(await cells(page, "masked").count(), 0);
  const end = await lastFrame("punt");
  assert.equal(await counter(page, "nfe"), `${end.nfe.total} = ${end.nfe.base} base + ${end.nfe.test} test`);
  assert.equal(await counter(page, "steps"), String(end.steps));
  assert.equal(await counter(page, "seconds"), end.seconds.toFixed(2));
  assert.equal(await counter(page, "rate"), (32 / end.nfe.total).toFixed(2));
  assert.equal(await where(page), "end (full)");
  assert.match(await panel(page).locator(".canvas").textContent(), /Once upon a time, there was a little girl named Lily/);
  const [request] = server.requests;
  assert.deepEqual(request, {
    pathname: "/v1/completions", prompt: "Once upon a time", max_tokens: 32, temperature: 1, top_p: 1, seed: 4,
    stream: true, stream_options: { include_usage: true },
    diffusion: { planner: "punt", score: "margin", window: 0, cache: "none", stream: "events" },
  });
  assert.deepEqual(complaints, []);
});

test("the slider, the player and the arrow keys replay", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  const { steps } = await lastFrame("punt");
  await slideTo(page, 1);
  assert.equal(await where(page), `step 1 of ${steps}`);
  const first = JSON.parse((await fixture("punt")).split("\n").find((line) => line.includes('"event":"commit"')));
  assert.equal(await cells(page, "accepted").count(), first.positions.length);
  assert.equal(await counter(page, "nfe"), `${first.nfe.total} = ${first.nfe.base} base + ${first.nfe.test} test`);
  assert.ok((await cells(page, "rejected").count()) > 0);
  await panel(page).locator(".slider").press("ArrowRight");
  await settled(page);
  assert.equal(await where(page), `step 2 of ${steps}`);
  assert.equal(await cells(page, "earlier").count(), first.positions.length);
  await slideTo(page, 0);
  assert.equal(await where(page), "start");
  assert.equal(await cells(page, "masked").count(), 32);
  const play = panel(page).locator(".play");
  await play.click();
  assert.equal(await play.textContent(), "Pause");
  await page.waitForFunction(() => document.querySelector(".where").textContent.startsWith("step 2"));
  await play.click();
  assert.equal(await play.textContent(), "Play");
  assert.deepEqual(complaints, []);
});

test("pointing at a token and moving to it by keys tell step, confidence and divergence", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  await slideTo(page, 1);
  const detail = panel(page).locator(".detail");
  await cells(page, "rejected").first().hover();
  assert.match(await detail.textContent(), /^position \d+: ".*", rejected in step 1, confidence [\d.e-]+, divergence [\d.e+]+ > 0\.04$/);
  const canvas = panel(page).locator(".canvas");
  await canvas.focus();
  assert.match(await detail.textContent(), /^position 5: /);
  await page.keyboard.press("ArrowRight");
  assert.match(await detail.textContent(), /^position 6: /);
  const active = await canvas.getAttribute("aria-activedescendant");
  assert.equal(await page.locator(`#${active}`).getAttribute("aria-label"), await detail.textContent());
  await page.keyboard.press("ArrowDown");
  assert.doesNotMatch(await detail.textContent(), /^position [56]: /);
  await page.keyboard.press("Home");
  assert.match(await detail.textContent(), /^position 0: "<s>", prompt$/);
  assert.deepEqual(complaints, []);
});

test("parameters come from the registry; bounds are kept before anything is sent", async () => {
  const { page, server, complaints } = await open();
  await ready(page);
  const param = (name) => page.locator(`#planner-a [data-param=${name}]`);
  assert.equal(await param("epsilon").inputValue(), "0.04");
  assert.match(await param("epsilon").getAttribute("title"), /uninfluenced/);
  await param("epsilon").fill("0.08");
  await page.click("#planner-a summary");
  await param("form").selectOption("parallel");
  await param("free_base").uncheck();
  await page.fill("#temperature", "0.7");
  await page.click("#more summary");
  await page.selectOption("#score select", "position");
  await page.check("#score [data-param=reverse]");
  await page.selectOption("#cache select", "settled");
  await page.fill("#window", "16");
  await runToEnd(page);
  const { diffusion, temperature } = server.requests[0];
  assert.equal(temperature, 0.7);
  assert.deepEqual(diffusion, {
    planner: "punt:epsilon=0.08,form=parallel,free_base=false", score: "position:reverse=true", window: 16, cache: "settled",
    stream: "events",
  });
  // Folded away and wrong: it is unfolded, shown, and nothing is sent.
  await page.fill("#window", "-1");
  await page.click("#more > summary");
  await page.click("#run");
  assert.equal(await page.evaluate(() => document.activeElement.id), "window");
  assert.equal(server.requests.length, 1);
  await page.fill("#window", "0");
  await page.selectOption("#planner-a select", "spacing");
  await param("planner").fill("top-k:k=2");
  await page.press("#prompt", "Control+Enter");
  await page.waitForFunction(() => document.querySelector("#error").textContent !== "");
  assert.equal(server.requests[1].diffusion.planner, "spacing:planner=(top-k:k=2)");
  assert.deepEqual(complaints.filter((text) => !/ERR_|network|Failed to load/.test(text)), []);
});

test("chat and infill send what they mean", async () => {
  const { page, server, complaints } = await open();
  await ready(page);
  assert.ok(await page.isChecked("input[value=chat]")); // the model has a template
  await runToEnd(page, "Hello");
  assert.equal(server.requests[0].pathname, "/v1/chat/completions");
  assert.deepEqual(server.requests[0].messages, [{ role: "user", content: "Hello" }]);
  await page.check("input[value=infill]");
  await page.fill("#suffix", " The end.");
  await runToEnd(page, "Tom saw a");
  assert.equal(server.requests[1].pathname, "/v1/completions");
  assert.equal(server.requests[1].prompt, "Tom saw a");
  assert.equal(server.requests[1].suffix, " The end.");
  assert.deepEqual(complaints, []);
});

test("Escape stops: the server sees the client go, and the canvas stays", async () => {
  const { page, server, complaints } = await open({ server: { delay: 30 } });
  await ready(page);
  await page.fill("#prompt", "Once");
  await page.press("#prompt", "Control+Enter");
  await cells(page, "accepted").first().waitFor();
  await page.keyboard.press("Escape");
  await page.waitForSelector("#run:enabled");
  assert.equal(await page.textContent("#status"), "Stopped.");
  assert.equal(await page.textContent("#error"), "");
  assert.ok((await cells(page, "masked").count()) + (await cells(page, "rejected").count()) > 0);
  for (let i = 0; i < 100 && server.cancelled === 0; ++i) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(server.cancelled, 1);
  assert.deepEqual(complaints, []);
});

for (const order of ["sequence", "together"]) {
  test(`two planners side by side, ${order}: same prompt and seed, replayed at equal NFE`, async () => {
    const { page, server, complaints } = await open();
    await ready(page);
    await page.check("#compare");
    await page.selectOption("#order", order);
    await page.selectOption("#planner-b select", "top-k");
    await page.fill("#planner-b [data-param=k]", "2");
    await page.check("#new-seed");
    await runToEnd(page);
    assert.equal(await page.locator(".panel").count(), 2);
    const [a, b] = server.requests;
    assert.equal(a.diffusion.planner, "punt");
    assert.equal(b.diffusion.planner, "top-k:k=2");
    assert.deepEqual({ ...a, diffusion: null }, { ...b, diffusion: null });
    assert.equal(server.mostRunning, order === "together" ? 2 : 1);
    assert.equal(await panel(page, 0).locator("h2").textContent(), "Run A: punt");
    assert.equal(await panel(page, 1).locator("h2").textContent(), "Run B: top-k");
    const nfe = async (index) => parseInt(await counter(page, "nfe", index), 10);
    assert.deepEqual([await nfe(0), await nfe(1)], [(await lastFrame("punt")).nfe.total, (await lastFrame("top-k")).nfe.total]);
    await slideTo(page, 2, 0);
    const limit = await nfe(0);
    assert.ok((await nfe(1)) <= limit && (await nfe(1)) > 0, `${await nfe(1)} of ${limit}`);
    await page.uncheck("#link");
    await slideTo(page, 0, 0);
    assert.ok((await nfe(1)) > 0);
    assert.deepEqual(complaints, []);
    await screenshot(page, `compare-${order}`);
  });
}

test("a saved trace is the one that was sent; loaded again it shows the same", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  const canvas = await panel(page).locator(".canvas").textContent();
  const [download] = await Promise.all([page.waitForEvent("download"), panel(page).locator(".save").click()]);
  assert.equal(download.suggestedFilename(), "stories-punt-4.jsonl");
  const saved = await download.path();
  assert.equal(await readFile(saved, "utf8"), await fixture("punt"));
  await panel(page).locator(".file").setInputFiles(fixturePath("top-k"));
  await page.waitForFunction(() => document.querySelector("h2").textContent === "Run A: top-k");
  assert.equal(await counter(page, "steps"), String((await lastFrame("top-k")).steps));
  await panel(page).locator(".file").setInputFiles(saved);
  await page.waitForFunction(() => document.querySelector("h2").textContent === "Run A: punt");
  assert.equal(await panel(page).locator(".canvas").textContent(), canvas);
  assert.equal(await counter(page, "seconds"), (await lastFrame("punt")).seconds.toFixed(2));
  assert.deepEqual(complaints, []);
});

test("of a file with several runs one is chosen; a damaged file changes nothing", async () => {
  const { page, complaints } = await open();
  await ready(page);
  const file = panel(page).locator(".file");
  await file.setInputFiles(fixturePath("two_runs"));
  const select = panel(page).locator(".runs select");
  await select.waitFor();
  assert.equal(await select.locator("option").count(), 2);
  const first = await panel(page).locator(".canvas").textContent();
  await select.selectOption("1");
  await settled(page);
  const second = await panel(page).locator(".canvas").textContent();
  assert.notEqual(second, first);
  await file.setInputFiles({ name: "broken.jsonl", mimeType: "text/plain", buffer: Buffer.from("{oops\n") });
  await page.waitForFunction(() => document.querySelector("#error").textContent !== "");
  assert.equal(await page.textContent("#error"), "broken.jsonl:1: not a JSON object");
  assert.equal(await panel(page).locator(".canvas").textContent(), second);
  await file.setInputFiles(fixturePath("remdm"));
  await page.waitForFunction(() => document.querySelector("h2").textContent === "Run A: remdm");
  assert.equal(await page.textContent("#error"), "");
  const commits = (await fixture("remdm")).split("\n").filter((line) => line.includes('"event":"commit"')).map((l) => JSON.parse(l));
  const taken = commits.findIndex((commit) => commit.remasked.length > 0);
  await slideTo(page, taken + 1);
  assert.equal(await cells(page, "remasked").count(), commits[taken].remasked.length);
  assert.deepEqual(complaints, []);
});

test("errors of the server are seen, and the next run clears them", async () => {
  const { page, complaints } = await open({ allowed: /status of 400/ });
  await ready(page);
  const fails = async (prompt, message) => {
    await page.fill("#prompt", prompt);
    await page.press("#prompt", "Control+Enter");
    await page.waitForFunction((text) => document.querySelector("#error").textContent === text, message);
    await page.waitForSelector("#run:enabled");
    assert.equal(await page.getAttribute("#error", "role"), "alert");
    await assertAccessible(page, prompt);
  };
  await fails("fail:400", "temperature must be at least 0 (temperature)");
  await fails("fail:stream", "the graph could not be computed");
  await fails("fail:cut", "the connection ended before the generation did");
  await runToEnd(page);
  assert.equal(await page.textContent("#error"), "");
  assert.deepEqual(complaints, []);
});

test("a key is asked for and kept in memory only; a model that loads is waited for", async () => {
  const { page, server, complaints } = await open({ server: { key: "secret", loading: 1 }, allowed: /status of (401|503)/ });
  await page.waitForSelector("#key-form:not([hidden])");
  await page.fill("#key", "wrong");
  await page.press("#key", "Enter");
  await page.waitForSelector("#key-form:not([hidden])");
  await page.fill("#key", "secret");
  await page.press("#key", "Enter");
  await page.waitForFunction(() => document.querySelector("#model").textContent.includes("being loaded"));
  await ready(page);
  assert.match(await page.textContent("#model"), /^stories, up to 256 positions/);
  await runToEnd(page);
  assert.equal(server.requests.length, 1);
  assert.ok(await page.isHidden("#key-form"));
  const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, location.href]);
  assert.deepEqual(kept.slice(0, 3), [0, 0, ""]);
  assert.doesNotMatch(kept[3], /secret/);
  assert.deepEqual(complaints, []);
});

test("the charts are those of the run", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  const commits = (await fixture("punt")).split("\n").filter((line) => line.includes('"event":"commit"')).map((l) => JSON.parse(l));
  await slideTo(page, 3);
  const values = await panel(page).locator("figcaption .value").allTextContents();
  const all = commits.slice(0, 3).reduce((sum, commit) => sum + commit.positions.length, 0);
  assert.equal(values[0], `step 3: ${commits[2].positions.length}, in all ${all}`);
  assert.match(values[1], /^step 3: \d+ %$/);
  const bars = await panel(page).locator("svg .bar").getAttribute("d");
  assert.equal(bars.match(/M/g).length, commits.length);
  const points = await panel(page).locator("svg .line").getAttribute("points");
  assert.equal(points.split(" ").length, commits.length);
  assert.deepEqual(complaints, []);
});

for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [[1280, 900], [360, 740]]) {
    test(`${colorScheme} at ${width} px: accessible, nothing sideways`, async () => {
      const { page, complaints } = await open({ colorScheme, viewport: { width, height } });
      await ready(page);
      await assertAccessible(page, "empty");
      await page.check("input[value=completion]");
      await runToEnd(page);
      await slideTo(page, 4);
      await assertAccessible(page, "step 4");
      await assertNoSidewaysScroll(page);
      await screenshot(page, `${colorScheme}-${width}`);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const isDark = background.match(/\d+/g).slice(0, 3).every((value) => Number(value) < 64);
      assert.equal(isDark, colorScheme === "dark");
      await page.check("#compare");
      await page.click("#planner-a summary");
      await page.click("#more > summary");
      await runToEnd(page);
      await slideTo(page, 5);
      await assertAccessible(page, "compare");
      await assertNoSidewaysScroll(page);
      await screenshot(page, `${colorScheme}-${width}-compare`);
      assert.deepEqual(complaints, []);
    });
  }
}
