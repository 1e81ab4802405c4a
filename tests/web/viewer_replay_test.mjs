// The viewer in a browser: replay, comparison, charts, trace files.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  cells,
  counter,
  endOf,
  eventsOf,
  fixture,
  fixturePath,
  open,
  panel,
  ready,
  runToEnd,
  screenshot,
  settled,
  slideTo,
  where,
} from "./page_testing.mjs";

test("the slider, the player and the arrow keys replay", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  const { steps } = await endOf("punt");
  await slideTo(page, 1);
  assert.equal(await where(page), `step 1 of ${steps}`);
  const [first] = await eventsOf("punt", "commit");
  assert.equal(await cells(page, "accepted").count(), first.positions.length);
  assert.equal(await counter(page, "nfe"), `${first.nfe.total} = ${first.nfe.base} + ${first.nfe.test} tests`);
  assert.ok((await cells(page, "rejected").count()) > 0);
  await panel(page).locator(".slider").press("ArrowRight");
  await settled(page);
  assert.equal(await where(page), `step 2 of ${steps}`);
  assert.equal(await cells(page, "earlier").count(), first.positions.length);
  await slideTo(page, 0);
  assert.equal(await where(page), "start");
  assert.equal(await cells(page, "masked").count(), 32);
  // Paused from within the page: from outside, a slow machine may be told too late.
  const seen = await page.evaluate(() => {
    const play = document.querySelector(".play");
    const where = document.querySelector(".where");
    return new Promise((resolve) => {
      const texts = [];
      const watch = () => {
        if (!where.textContent.startsWith("step")) return;
        texts.push(where.textContent, play.textContent);
        play.click();
        observer.disconnect();
        resolve([...texts, play.textContent]);
      };
      const observer = new MutationObserver(watch);
      observer.observe(where, { childList: true });
      play.click();
    });
  });
  assert.match(seen[0], /^step \d+ of 13$/);
  assert.deepEqual(seen.slice(1), ["Pause", "Play"]);
  assert.deepEqual(complaints, []);
});

test("pointing at a token and moving to it by keys tell step, confidence and divergence", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  await slideTo(page, 1);
  const detail = panel(page).locator(".detail");
  await cells(page, "rejected").first().hover();
  assert.match(
    await detail.textContent(),
    /^position \d+: ".*", rejected in step 1, confidence [\d.e-]+, divergence [\d.e+]+ > 0\.04$/,
  );
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
  assert.match(await detail.textContent(), /^position 1: " Once", given$/);
  assert.deepEqual(complaints, []);
});

for (const order of ["sequence", "together"]) {
  test(`two planners side by side, ${order}: same prompt and seed, replayed at equal passes`, async () => {
    const { page, server, complaints } = await open({ server: { delay: 2 } });
    await ready(page);
    await page.check("#compare");
    await page.selectOption("#order", order);
    await page.selectOption("#planner-b select", "top-k");
    await page.fill("#planner-b [data-param=k]", "2");
    await page.check("#new-seed");
    await runToEnd(page);
    assert.equal(await page.locator(".panel").count(), 2);
    const [a, b] = server.requests;
    assert.equal(a.diffusion.planner, "punt:epsilon=0.16");
    assert.equal(b.diffusion.planner, "top-k:k=2");
    assert.deepEqual({ ...a, diffusion: null }, { ...b, diffusion: null });
    assert.equal(server.mostRunning, order === "together" ? 2 : 1);
    assert.equal(await panel(page, 0).locator("h2").textContent(), "punt");
    assert.equal(await panel(page, 1).locator("h2").textContent(), "top-k:k=2");
    const nfe = async (index) => parseInt(await counter(page, "nfe", index), 10);
    assert.deepEqual([await nfe(0), await nfe(1)], [(await endOf("punt")).nfe.total, (await endOf("top-k")).nfe.total]);
    await slideTo(page, 2, 0);
    const limit = await nfe(0);
    assert.ok((await nfe(1)) <= limit && (await nfe(1)) > 0, `${await nfe(1)} of ${limit}`);
    await screenshot(page, `compare-${order}`);
    await page.uncheck("#link");
    await slideTo(page, 0, 0);
    assert.ok((await nfe(1)) > 0);
    assert.deepEqual(complaints, []);
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
  await page.waitForFunction(() => document.querySelector("h2").textContent === "top-k:k=2");
  assert.equal(await counter(page, "steps"), String((await endOf("top-k")).steps));
  await panel(page).locator(".file").setInputFiles(saved);
  await page.waitForFunction(() => document.querySelector("h2").textContent === "punt");
  assert.equal(await panel(page).locator(".canvas").textContent(), canvas);
  assert.equal(await counter(page, "seconds"), (await endOf("punt")).seconds.toFixed(2));
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
  await page.waitForFunction(() => document.querySelector("h2").textContent.startsWith("remdm:"));
  assert.equal(await page.textContent("#error"), "");
  const commits = await eventsOf("remdm", "commit");
  const taken = commits.findIndex((commit) => commit.remasked.length > 0);
  await slideTo(page, taken + 1);
  assert.equal(await cells(page, "remasked").count(), commits[taken].remasked.length);
  assert.deepEqual(complaints, []);
});

test("the charts are those of the run", async () => {
  const { page, complaints } = await open();
  await ready(page);
  await runToEnd(page);
  const commits = await eventsOf("punt", "commit");
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

test("what a model thought before its answer is shown apart, and grows with the run", async () => {
  const { page, complaints } = await open();
  await ready(page);
  const nfe = (base) => ({ base, test: 0, total: base });
  const commit = (step, positions, tokens) => ({
    ...{ event: "commit", step, positions, tokens, confidence: tokens.map(() => 1), remasked: [], nfe: nfe(step + 1) },
  });
  const run = { event: "run", version: 1, model: "m", planner: "p", score: "s", seed: 0, sample: 0, temperature: 1 };
  const events = [
    { ...run, top_p: 1, window: 0, cache: "none", mask_token: 0, canvas: [1, 0, 0, 0, 0] },
    { event: "pieces", pieces: { 1: "Why?", 2: "<think>", 3: " It is\n late. ", 4: "</think>", 5: "Because." } },
    { event: "step", step: 0, base_was_free: false, positions: [1, 2], tokens: [2, 3], confidence: [1, 1] },
    commit(0, [1, 2], [2, 3]),
    { event: "step", step: 1, base_was_free: false, positions: [3, 4], tokens: [4, 5], confidence: [1, 1] },
    commit(1, [3, 4], [4, 5]),
    { event: "end", stop: "full", tokens: [1, 2, 3, 4, 5], steps: 2, nfe: nfe(2), seconds: 1 },
  ];
  const buffer = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  await panel(page).locator(".file").setInputFiles({ name: "thoughts.jsonl", mimeType: "text/plain", buffer });
  await page.waitForFunction(() => document.querySelector("h2").textContent === "p");
  const thoughts = panel(page).locator(".thoughts");
  await thoughts.locator("summary").click();
  assert.equal(await thoughts.locator("summary").textContent(), "Thoughts before the answer");
  assert.equal(await thoughts.locator("p").textContent(), "It is\n late.");
  await slideTo(page, 1);
  assert.equal(await thoughts.locator("summary").textContent(), "Thinking…");
  await slideTo(page, 0);
  assert.ok(await thoughts.isHidden());
  assert.deepEqual(complaints, []);
});
