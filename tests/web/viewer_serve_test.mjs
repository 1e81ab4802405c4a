// The viewer in a browser on the real server: $PUNT serve on a small fixture with random weights.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  assertAccessible,
  cells,
  openAt,
  panel,
  ready,
  runToEnd,
  screenshot,
  settled,
  slideTo,
  where,
} from "./page_testing.mjs";
import { PUNT, pathOf, serve } from "./real_server.mjs";

const MODEL = "tests/golden/llada";
const WEB = pathOf("web");
const server = serve(MODEL);
const { served } = server;

served("every file of web/ is there, under a policy", async () => {
  const files = (await readdir(WEB)).filter((name) => /\.(html|css|js|svg|jsonl)$/.test(name));
  assert.ok(files.length > 10);
  for (const name of files) {
    const response = await fetch(server.url + name);
    assert.equal(response.status, 200, name);
    assert.match(response.headers.get("Content-Security-Policy"), /default-src 'self'/);
    assert.equal(await response.text(), await readFile(join(WEB, name), "utf8"), name);
  }
});

served("a run on the page is the run of the command line, line by line", async () => {
  const { page, complaints } = await openAt(server.url);
  await ready(page);
  await page.check("input[value=completion]");
  await page.fill("#max-tokens", "24");
  await page.fill("#seed", "5");
  assert.equal(await page.inputValue("#planner-a select"), "scout"); // the server's own
  await page.selectOption("#planner-a select", "punt");
  await page.fill("#planner-a [data-param=epsilon]", "0.5");
  await runToEnd(page, "the ");
  assert.equal(await cells(page, "masked").count(), 0);
  const [download] = await Promise.all([page.waitForEvent("download"), panel(page).locator(".save").click()]);
  const folder = await mkdtemp(join(tmpdir(), "viewer-"));
  const trace = join(folder, "cli.jsonl");
  const flags = ["--length", "24", "--seed", "5", "--planner", "punt:epsilon=0.5", "--threads", "1", "--view", "none"];
  execFileSync(PUNT, ["generate", "the ", "--model", pathOf(MODEL), ...flags, "--trace", trace], { stdio: "ignore" });
  // The command says where the model lies, the server does not.
  const timeless = async (path) =>
    (await readFile(path, "utf8")).replace(/"seconds":[^}]*/, "").replace(/"model":"[^"]*"/, "");
  assert.equal(await timeless(await download.path()), await timeless(trace));
  await rm(folder, { recursive: true });
  assert.deepEqual(complaints, []);
});

served("a refusal is shown; a run that is stopped ends on the server too", async () => {
  const { page, complaints } = await openAt(server.url, { allowed: /status of 400/ });
  await ready(page);
  await page.check("input[value=completion]");
  const most = await page.getAttribute("#max-tokens", "max");
  await page.fill("#max-tokens", most);
  await page.fill("#prompt", "the ".repeat(most));
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#error").textContent.includes("leaves no room"));
  await page.fill("#prompt", "the ");
  await page.fill("#max-tokens", String(Math.floor(Number(most) / 2)));
  await page.selectOption("#planner-a select", "left-to-right");
  await page.click("#run");
  await page.waitForFunction(() => /^(step [1-9]|end)/.test(document.querySelector(".where").textContent));
  await page.keyboard.press("Escape");
  await page.waitForSelector("#run:enabled");
  await settled(page);
  assert.equal(await page.textContent("#error"), "");
  // Where a fast machine was done before the key, there is nothing to stop.
  if ((await page.textContent("#status")) === "Stopped.") assert.match(await where(page), /^step (\d+) of \1$/);
  for (let running = "1"; running !== "0"; ) {
    const metrics = await (await fetch(`${server.url}metrics`)).text();
    running = metrics.match(/^punt_requests_running(?:\{.*\})? (\d+)/m)[1];
  }
  assert.deepEqual(complaints, []);
});

served("an answer is held to a shape: every step shows a whole one, and what is wrong is said beside the box", async () => {
  const { page, complaints } = await openAt(server.url, { allowed: /status of 400/ });
  await ready(page);
  await page.check("input[value=completion]");
  await page.fill("#max-tokens", "40");
  await page.fill("#seed", "3");
  await page.click("#shape > summary");
  await page.selectOption("#shape select", "json");
  const box = page.locator("#shape textarea");
  const said = () => page.textContent("#shape-error");
  await box.fill('{"type": "object"');
  assert.match(await said(), /^not JSON: /);
  await page.click("#run");
  assert.match(await page.textContent("#error"), /^Shape of the answer: not JSON/);
  await box.fill('{"type": "object", "properties": {"a": {"not": {}}}}');
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#shape-error").textContent.includes("#/properties/a: 'not'"));
  assert.equal(await page.textContent("#error"), "");
  assert.equal(await box.getAttribute("aria-invalid"), "true");

  await box.fill('{"type": "object", "properties": {"b": {"type": "integer", "maximum": 99}, "a": {"enum": ["x", "yy"]}}, "required": ["b", "a"]}');
  await runToEnd(page, "the ");
  assert.equal(await said(), "");
  const steps = Number(await panel(page).locator(".slider").getAttribute("max"));
  let drafts = 0;
  for (let step = 1; step <= steps; ++step) {
    await slideTo(page, step);
    const text = await panel(page).locator(".canvas .cell:not(.prompt)").allTextContents();
    const answer = JSON.parse(text.join("").replace(/[∎·\u00a0]/g, ""));
    assert.deepEqual(Object.keys(answer), ["b", "a"]);
    assert.ok(Number.isInteger(answer.b) && ["x", "yy"].includes(answer.a), JSON.stringify(answer));
    drafts += await cells(page, "draft").count();
  }
  assert.ok(drafts > 0);
  await screenshot(page, "shape");
  await assertAccessible(page, "a shape");

  // A link brings the shape along, and the run is the same.
  const text = await panel(page).locator(".canvas").textContent();
  const again = await openAt(server.url, { hash: new URL(page.url()).hash });
  await again.page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  await settled(again.page);
  assert.equal(await panel(again.page).locator(".canvas").textContent(), text);
  assert.equal(await again.page.inputValue("#shape select"), "json");
  assert.deepEqual([...complaints, ...again.complaints], []);
});
