// The viewer from end to end: the page that `punt serve` carries, in a browser, on the model that tells stories.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  assertAccessible,
  assertNoSidewaysScroll,
  cells,
  counter,
  openAt,
  panel,
  ready,
  runToEnd,
  screenshot,
  settled,
  slideTo,
  where,
} from "./page_testing.mjs";
import { serve } from "./real_server.mjs";

const server = serve("models/stories.gguf");
const { served } = server;

/** A page on which nothing has run yet. */
async function openStory({ tokens = 32, ...options } = {}) {
  const opened = await openAt(server.url, options);
  await ready(opened.page);
  await opened.page.fill("#max-tokens", String(tokens));
  await opened.page.fill("#seed", "4");
  return opened;
}

async function saved(page, index = 0) {
  const [download] = await Promise.all([page.waitForEvent("download"), panel(page, index).locator(".save").click()]);
  const path = await download.path();
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  return { path, name: download.suggestedFilename(), events: lines.map((line) => JSON.parse(line)) };
}

/** The answer to the request of the page, from the server's API. */
async function ask(prompt, planner) {
  const body = { prompt, max_tokens: 32, seed: 4, temperature: 0.7, top_p: 0.9, diffusion: { planner } };
  return (await fetch(`${server.url}v1/completions`, { method: "POST", body: JSON.stringify(body) })).json();
}

const canvasText = (page, index = 0) => panel(page, index).locator(".canvas").textContent();
const commitsOf = (events) => events.filter((event) => event.event === "commit");

served("a prompt is typed, and the canvas is watched while it fills", async () => {
  const { page, complaints } = await openStory({ tokens: 48 });
  await page.selectOption("#planner-a select", "left-to-right");
  await page.evaluate(() => {
    window.seen = new Set();
    const look = () => {
      window.seen.add(document.querySelectorAll(".canvas .cell.masked").length);
      requestAnimationFrame(look);
    };
    look();
  });
  await page.locator("#prompt").pressSequentially("Once upon a time");
  await page.keyboard.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("48 passes of the model"));
  await settled(page);
  const between = (await page.evaluate(() => [...window.seen])).filter((masked) => masked > 0 && masked < 48);
  assert.ok(between.length >= 3, `seen with ${between} masks`);
  assert.equal(await cells(page, "masked").count(), 0);
  assert.match(await canvasText(page), /Once upon a time, there was a /);
  assert.deepEqual(complaints, []);
});

served("the slider goes through the steps of the trace, by keys too", async () => {
  const { page, complaints } = await openStory();
  await runToEnd(page);
  const commits = commitsOf((await saved(page)).events);
  assert.ok(commits.length > 3);
  await panel(page).locator(".slider").focus();
  await page.keyboard.press("Home");
  await settled(page);
  assert.equal(await cells(page, "masked").count(), 32);
  let committed = 0;
  for (const [i, commit] of commits.entries()) {
    await page.keyboard.press("ArrowRight");
    await settled(page);
    assert.equal(await where(page), `step ${i + 1} of ${commits.length}`);
    assert.equal(await cells(page, "accepted").count(), commit.positions.length);
    assert.equal(await cells(page, "earlier").count(), committed);
    committed += commit.positions.length;
  }
  await page.keyboard.press("End");
  await settled(page);
  assert.equal(await where(page), "done");
  assert.equal(await cells(page, "masked").count(), 0);
  assert.deepEqual(complaints, []);
});

served("two planners are compared at equal cost, and cost what the API says", async () => {
  const { page, complaints } = await openStory();
  await page.check("#compare");
  await page.selectOption("#planner-b select", "top-k");
  await page.fill("#planner-b [data-param=k]", "2");
  await page.selectOption("#order", "together");
  await runToEnd(page, "Once upon a time");
  const nfe = async (index) => parseInt(await counter(page, "nfe", index), 10);
  for (const [index, planner] of ["punt:epsilon=0.16", "top-k:k=2"].entries()) {
    const answer = await ask("Once upon a time", planner);
    assert.equal(await nfe(index), answer.usage.nfe, planner);
    const text = `Once upon a time${answer.choices[0].text}`.replaceAll("\n", "↵\n");
    assert.equal(await canvasText(page, index), text, planner);
  }
  const axes = async (index) => panel(page, index).locator("svg text").allTextContents();
  assert.deepEqual(await axes(0), await axes(1));
  await slideTo(page, 4, 0);
  const limit = await nfe(0);
  assert.ok((await nfe(1)) > 0 && (await nfe(1)) <= limit, `${await nfe(1)} of ${limit}`);
  const other = await panel(page, 1).locator(".slider").inputValue();
  await page.uncheck("#link");
  await slideTo(page, 1, 0);
  assert.equal(await panel(page, 1).locator(".slider").inputValue(), other);
  assert.deepEqual(complaints, []);
});

served("a trace that was saved is loaded into a new page, and shows the same at every step", async () => {
  const { page, complaints } = await openStory();
  await runToEnd(page, "Tom had a red");
  const trace = await saved(page);
  assert.equal(trace.name, "stories-punt-4.jsonl");
  const steps = commitsOf(trace.events).length;
  const fresh = await openAt(server.url);
  await ready(fresh.page);
  await panel(fresh.page).locator(".file").setInputFiles(trace.path);
  await fresh.page.waitForFunction(() => document.querySelector("h2").textContent === "punt:epsilon=0.16");
  for (let step = 0; step <= steps + 1; ++step) {
    for (const one of [page, fresh.page]) await slideTo(one, step);
    const shown = (one) => panel(one).locator(".canvas").innerHTML();
    assert.equal(await shown(fresh.page), await shown(page), `step ${step}`);
  }
  assert.deepEqual((await saved(fresh.page)).events, trace.events);
  assert.deepEqual([...complaints, ...fresh.complaints], []);
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 360]) {
    served(`${colorScheme} at ${width} px: accessible, nothing sideways`, async () => {
      const { page, complaints } = await openStory({ colorScheme, viewport: { width, height: 900 } });
      await runToEnd(page, "Once upon a time");
      await slideTo(page, 3);
      await assertAccessible(page, "one run");
      await assertNoSidewaysScroll(page);
      await screenshot(page, `stories-${colorScheme}-${width}`);
      await page.check("#compare");
      await page.selectOption("#planner-b select", "top-k");
      await runToEnd(page, "Once upon a time");
      await slideTo(page, 3);
      await assertAccessible(page, "two runs");
      await assertNoSidewaysScroll(page);
      await screenshot(page, `stories-${colorScheme}-${width}-compare`);
      assert.deepEqual(complaints, []);
    });
  }
}
