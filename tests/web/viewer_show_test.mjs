// The viewer in a browser, as a visitor meets it: what plays at load, examples, looks, races, links, export.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  assertAccessible,
  assertNoSidewaysScroll,
  cells,
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

const canvas = (page, index = 0) => panel(page, index).locator(".canvas");
const status = (page) => page.textContent("#status");
const moving = { reducedMotion: "no-preference" };

/** Waits until an example's note is there. */
async function shown(page, model) {
  await page.waitForFunction((name) => document.querySelector("#status").textContent.includes(`run of ${name}.`), model);
  await settled(page);
}

const choose = (page, label) => page.click(`.chip:text-is("${label}")`);

test("at load a recorded run plays, the page says what it is, and the prompt waits for a text", async () => {
  const { page, server, complaints } = await open(moving);
  await shown(page, "stories");
  assert.match(await page.textContent("#pitch"), /diffusion language model/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "prompt");
  assert.equal(await page.inputValue("#prompt"), "Once upon a time");
  assert.ok((await page.locator(".chip").count()) >= 3);
  assert.ok(await page.isVisible("#run"));
  assert.ok(await page.isHidden("#max-tokens")); // behind Settings
  assert.equal(await panel(page).locator(".play").textContent(), "Pause");
  await page.waitForFunction(() => Number(document.querySelector(".slider").value) > 0);
  assert.equal(server.requests.length, 0);
  // Typing replaces the example; Run repeats it as it was recorded.
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  const { prompt, max_tokens: tokens, seed, temperature, diffusion } = server.requests[0];
  assert.deepEqual([prompt, tokens, seed, temperature], ["Once upon a time", 96, 1, 0.7]);
  assert.equal(diffusion.planner, "punt:epsilon=0.16");
  assert.deepEqual(complaints, []);
});

test("nothing moves for readers who asked for that; without a server examples play all the same", async () => {
  const { page, complaints } = await open();
  await shown(page, "stories");
  assert.equal(await where(page), "done");
  assert.equal(await panel(page).locator(".play").textContent(), "Play");
  assert.deepEqual(complaints, []);
  const lonely = await open({ server: { key: "secret" }, allowed: /status of 401/, ...moving });
  await shown(lonely.page, "stories");
  await choose(lonely.page, "A sudoku");
  await shown(lonely.page, "sudoku");
  assert.equal(await cells(lonely.page, "prompt").count(), 32);
  assert.deepEqual(lonely.complaints, []);
});

test("rejected tokens are ghosts on their masks, never red unless pointed at; what is new stands out", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const { page, complaints } = await open({ colorScheme });
    await shown(page, "stories");
    await slideTo(page, 2);
    const look = (state, property) =>
      cells(page, state)
        .first()
        .evaluate((cell, name) => getComputedStyle(cell)[name], property);
    assert.equal(await look("rejected", "backgroundColor"), await look("masked", "backgroundColor").catch(() => look("rejected", "backgroundColor")));
    assert.equal(await look("rejected", "textDecorationLine"), "none");
    const isRed = (color) => {
      const [red, green, blue] = color.match(/\d+/g).map(Number);
      return red > 1.5 * Math.max(green, blue);
    };
    for (const state of ["rejected", "accepted", "earlier"])
      for (const property of ["color", "backgroundColor"]) assert.ok(!isRed(await look(state, property)), `${state} ${property}`);
    assert.equal(await look("accepted", "textDecorationLine"), "underline"); // not by colour alone
    assert.notEqual(await look("accepted", "backgroundColor"), await look("earlier", "backgroundColor"));
    const quiet = await look("rejected", "color");
    await cells(page, "rejected").first().hover();
    await page.waitForFunction(
      (color) => getComputedStyle(document.querySelector(".canvas .rejected:hover")).color !== color,
      quiet,
    );
    assert.match(await panel(page).locator(".detail").getAttribute("class"), /alarm/);
    // Age: tokens of different steps differ, those of one step do not.
    await panel(page).locator(".slider").press("End");
    await settled(page);
    const shades = await cells(page, "earlier").evaluateAll((all) => new Set(all.map((cell) => cell.className)).size);
    assert.ok(shades >= 3, `${shades} shades`);
    assert.deepEqual(complaints, []);
  }
});

test("nothing moves while a recorded canvas fills: every position has its width from the start", async () => {
  const { page, complaints } = await open();
  await shown(page, "stories");
  const places = () =>
    canvas(page).evaluate((list) => [...list.children].map((cell) => Math.round(cell.getBoundingClientRect().right)).join());
  const end = await places();
  for (const step of [0, 1, 4]) {
    await slideTo(page, step);
    assert.equal(await places(), end, `step ${step}`);
  }
  const text = await canvas(page).textContent();
  assert.doesNotMatch(text, /<s>|<\/s>/);
  assert.ok(text.startsWith("Once upon a time"), text.slice(0, 20));
  assert.deepEqual(complaints, []);
});

test("the legend has what occurs, and no more", async () => {
  const { page, complaints } = await open();
  await shown(page, "stories");
  const legend = () => page.textContent("#legend");
  assert.match(await legend(), /masked.*rejected.*accepted.*last to be written/s);
  assert.doesNotMatch(await legend(), /taken back|under test/);
  await panel(page).locator(".file").setInputFiles(fixturePath("remdm"));
  await page.waitForFunction(() => document.querySelector("#legend").textContent.includes("taken back"));
  assert.doesNotMatch(await legend(), /rejected/);
  await panel(page).locator(".file").setInputFiles(fixturePath("top-k"));
  await page.waitForFunction(() => !document.querySelector("#legend").textContent.includes("taken back"));
  assert.deepEqual(complaints, []);
});

test("a sudoku is a board that is solved, a protein is rows of residues with numbers", async () => {
  const { page, complaints } = await open({ hash: "#example=sudoku" });
  await shown(page, "sudoku");
  assert.equal(await canvas(page).locator(".cell").count(), 81);
  const boxes = await canvas(page).locator(".cell").evaluateAll((all) =>
    all.map((cell) => cell.getBoundingClientRect()).map(({ left, top }) => [Math.round(left), Math.round(top)]),
  );
  assert.equal(new Set(boxes.map(([left]) => left)).size, 9);
  assert.equal(new Set(boxes.map(([, top]) => top)).size, 9);
  assert.match(await panel(page).locator(".verdict").textContent(), /^✓ solved/);
  assert.equal(await cells(page, "clash").count(), 0);
  await slideTo(page, 3);
  assert.match(await panel(page).locator(".verdict").textContent(), /^\d+ of 81 cells open, no clash$/);
  await assertAccessible(page, "board");
  await screenshot(page, "sudoku");
  await canvas(page).focus();
  const active = async () => Number((await canvas(page).getAttribute("aria-activedescendant")).split("-").at(-1));
  const from = await active();
  await page.keyboard.press("ArrowDown");
  assert.equal((await active()) - from, 10); // a row below: nine cells and a label
  await choose(page, "A protein");
  await shown(page, "membrane");
  assert.equal(await canvas(page).locator(".cell").count(), 120);
  assert.deepEqual((await canvas(page).locator(".tick").allTextContents()).slice(0, 3), ["1", "11", "21"]);
  const rows = await canvas(page).locator(".group").evaluateAll((all) => all.map((one) => one.offsetTop));
  assert.equal(rows.filter((top) => top === rows[0]).length, 6); // sixty in a row
  assert.equal(await panel(page).locator(".verdict").textContent(), "120 residues");
  await slideTo(page, 4);
  await assertAccessible(page, "residues");
  await screenshot(page, "protein");
  assert.match(await status(page), /punt serve --model membrane/);
  assert.deepEqual(complaints, []);
});

test("a server of sudoku gets the board as texts and holes; a board that is none is refused here", async () => {
  const { page, server, complaints } = await open({ server: { model: "sudoku" } });
  await shown(page, "sudoku");
  assert.equal((await page.inputValue("#prompt")).split("\n").length, 9);
  await choose(page, "A sudoku");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  const { infill } = server.requests[0].diffusion;
  assert.deepEqual(infill.slice(0, 5), ["\nA 4", 5, "2", 2, "\nB "]);
  assert.equal(infill.filter((part) => typeof part === "number").reduce((a, b) => a + b), 49);
  assert.deepEqual([server.requests[0].prompt, server.requests[0].max_tokens], [undefined, undefined]);
  await page.fill("#prompt", "12.");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#error").textContent.includes("81 cells"));
  assert.equal(server.requests.length, 1);
  assert.deepEqual(
    complaints.filter((text) => !text.includes("81 cells")),
    [],
  );
});

test("a link holds the run: opened it runs the same, and a reload keeps everything", async () => {
  const { page, server, complaints } = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  await ready(page);
  await page.fill("#max-tokens", "40");
  await page.fill("#seed", "77");
  await page.fill("#temperature", "0.3");
  await page.selectOption("#planner-a select", "top-k");
  await page.fill("#planner-a [data-param=k]", "2");
  await runToEnd(page, "Tom & Lily: 50% #1");
  await page.click("#copy-link");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("copied"));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, page.url());
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  assert.equal(await page.inputValue("#prompt"), "Tom & Lily: 50% #1");
  const elsewhere = await page.context().newPage();
  await elsewhere.goto(link);
  await elsewhere.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  assert.equal(server.requests.length, 3);
  assert.equal(server.requests[0].diffusion.planner, "top-k:k=2");
  assert.deepEqual(server.requests[1], server.requests[0]);
  assert.deepEqual(server.requests[2], server.requests[0]);
  // What is typed and not run yet is kept too, and so is an example.
  await page.fill("#prompt", "Something else");
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#prompt").value === "Something else");
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
  await choose(page, "A protein");
  await shown(page, "membrane");
  await page.reload();
  await shown(page, "membrane");
  assert.deepEqual(complaints, []);
});

test("two planners race: equal passes at every moment, the finish is a full canvas, costs are passes and seconds", async () => {
  const { page, complaints } = await open({ ...moving, hash: "#example=race" });
  await shown(page, "stories");
  assert.equal(await page.locator(".panel").count(), 2);
  assert.equal(await page.inputValue("#prompt"), "One day, a little dog named Max"); // Run does the same live
  assert.ok(await page.isChecked("#compare"));
  await page.waitForFunction(() => document.querySelectorAll(".panel .play")[1].textContent === "Pause");
  const passes = (index) => page.locator(".lane .result").nth(index).textContent();
  await page.selectOption("#speed", "4");
  await page.waitForSelector(".lane.done");
  assert.match(await passes(0), /^✓ first: 79 passes, [\d.]+ s$/);
  await page.waitForFunction(() => document.querySelectorAll(".lane.done").length === 2, null, { timeout: 120000 });
  await settled(page);
  assert.match(await passes(1), /^✓ 220 passes, [\d.]+ s$/);
  assert.match(await page.textContent("#race"), /test pass/);
  await slideTo(page, 60, 1); // 60 passes
  assert.match(await passes(1), /^60 passes$/);
  const other = parseInt(await passes(0), 10);
  assert.ok(other > 40 && other <= 60, `${other} of 60`);
  const width = (index) => page.locator(".track .bar").nth(index).evaluate((bar) => parseFloat(bar.style.width));
  assert.ok((await width(0)) > (await width(1)));
  await assertAccessible(page, "race");
  await screenshot(page, "race");
  assert.deepEqual(complaints, []);
});

test("speed and loop: faster is faster, and a loop begins again", async () => {
  const { page, complaints } = await open({ hash: "#example=sudoku" });
  await shown(page, "sudoku");
  // Timed inside the page, against each other: a slow machine slows both.
  const playTime = (speed) =>
    page.evaluate(async (value) => {
      const select = document.querySelector("#speed");
      select.value = value;
      select.dispatchEvent(new Event("change"));
      const begin = performance.now();
      const play = document.querySelector(".play");
      play.click();
      while (play.textContent === "Pause") await new Promise((resolve) => setTimeout(resolve, 10));
      return performance.now() - begin;
    }, speed);
  const fast = await playTime("4");
  const slow = await playTime("1");
  assert.ok(fast < 0.7 * slow, `${fast} and ${slow} ms`);
  assert.ok(slow > 4000, `${slow} ms for eight steps`);
  await page.selectOption("#speed", "4");
  await page.check("#loop");
  const rounds = await page.evaluate(async () => {
    const slider = document.querySelector(".slider");
    document.querySelector(".play").click();
    let last = -1;
    for (let starts = 0; starts < 2; ) {
      if (last > 0 && Number(slider.value) < last) starts += 1;
      last = Number(slider.value);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    document.querySelector(".play").click();
    return document.querySelector(".play").textContent;
  });
  assert.equal(rounds, "Play");
  assert.deepEqual(complaints, []);
});

test("max tokens are what the prompt leaves room for", async () => {
  const { page, server, complaints } = await open();
  await ready(page);
  await page.fill("#max-tokens", "300");
  await runToEnd(page, "one two three four");
  assert.equal(server.requests[0].max_tokens, 250); // 256 positions, four words, two around them
  assert.equal(await page.inputValue("#max-tokens"), "250");
  await page.fill("#max-tokens", "-3");
  await page.click("#run");
  await page.waitForFunction(() => document.querySelector("#error").textContent.startsWith("Max tokens: "));
  assert.equal(server.requests.length, 1);
  assert.deepEqual(complaints, []);
});

test("plain words: passes instead of NFE, no shares of structure, no runs A and B", async () => {
  const { page } = await open({ hash: "#example=untested" });
  await shown(page, "stories");
  await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
  const text = await page.evaluate(() => document.body.innerText);
  assert.doesNotMatch(text, /\bNFE\b|share of structure|Run [AB]\b|<s>|\(full\)/i);
  assert.match(text, /Passes/);
});

for (const colorScheme of ["light", "dark"]) {
  test(`360 px, ${colorScheme}: the canvas is on the first screen, and Run goes to it`, async () => {
    const { page, complaints } = await open({ colorScheme, viewport: { width: 360, height: 740 } });
    await shown(page, "stories");
    const top = () => canvas(page).evaluate((list) => list.getBoundingClientRect().top);
    assert.ok((await top()) < 450, `the canvas begins at ${await top()}`);
    assert.equal(await canvas(page).evaluate((list) => list.scrollHeight > list.clientHeight + 1), false); // no box to scroll in
    await assertNoSidewaysScroll(page);
    await page.evaluate(() => (document.querySelector("#drawer").open = true));
    assert.ok((await top()) > 740);
    await page.click("#run");
    await page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));
    await settled(page);
    assert.ok((await top()) >= 0 && (await top()) < 370, `after Run it begins at ${await top()}`);
    for (const example of ["A sudoku", "A protein", "Race: tests or none"]) {
      await choose(page, example);
      await settled(page);
      await page.waitForFunction(() => document.querySelector("#status").textContent.includes("recorded run"));
      await assertNoSidewaysScroll(page);
    }
    await assertAccessible(page, "narrow");
    assert.deepEqual(complaints, []);
  });
}

for (const [label, model] of [
  ["A story", "stories"],
  ["A sudoku", "sudoku"],
  ["A protein", "membrane"],
]) {
  test(`${label} is exported as an SVG that plays in an image and shows every step as the page does`, async () => {
    const { page, complaints } = await open({ hash: `#example=${label.split(" ")[1]}` });
    await shown(page, model);
    const [download] = await Promise.all([page.waitForEvent("download"), panel(page).locator(".export").click()]);
    assert.match(download.suggestedFilename(), new RegExp(`^${model}-punt-\\d+\\.svg$`));
    const svg = await readFile(await download.path(), "utf8");
    assert.ok(svg.length < 300000, `${svg.length} bytes`);
    assert.doesNotMatch(svg, /<script|href=|url\(|@import/); // nothing of its own, nothing from elsewhere
    const frames = await page.locator(".slider").evaluate((slider) => Number(slider.max) + 1);
    const fresh = [];
    for (let i = 0; i < frames; ++i) {
      await slideTo(page, i);
      fresh.push((await cells(page, "accepted").allTextContents()).map((text) => text.replace(/\s/g, "")).sort().join(" "));
    }
    const drawn = await drawnTexts(page, svg, frames);
    assert.deepEqual(drawn.fresh, fresh);
    assert.ok(drawn.width > 300);
    assert.deepEqual(complaints, []);
  });
}

/** What the SVG shows as new in the middle of each frame, and its width as an image. */
async function drawnTexts(page, svg, frames) {
  const other = await (await page.context().browser().newContext({ reducedMotion: "no-preference" })).newPage();
  await other.setContent(svg.replace(/<\?.*?\?>/, ""));
  const fresh = await other.evaluate((count) => {
    const animations = document.getAnimations();
    const { duration } = animations[0].effect.getComputedTiming();
    const pace = (duration - 2500) / (count - 1);
    for (const one of animations) one.pause();
    return Array.from({ length: count }, (_, i) => {
      for (const one of animations) one.currentTime = (i + 0.5) * pace;
      const groups = [...document.querySelectorAll(".fresh")].filter((g) => getComputedStyle(g.parentElement).opacity === "1");
      const texts = groups.flatMap((g) => [...g.querySelectorAll("text")].map((text) => text.textContent.trim()));
      return texts.filter((text) => text !== "").sort().join(" ");
    });
  }, frames);
  const width = await other.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    await image.decode();
    return image.naturalWidth;
  }, svg);
  await other.context().close();
  return { fresh, width };
}
