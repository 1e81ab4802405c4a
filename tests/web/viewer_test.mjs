// The viewer in a browser: generations, parameters, errors.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertAccessible,
  cells,
  counter,
  endOf,
  eventsOf,
  open,
  panel,
  ready,
  runToEnd,
  settled,
  where,
} from "./page_testing.mjs";

test("a prompt is filled in live, and the counters are those of the run", async () => {
  const { page, server, complaints } = await open({ server: { hold: { event: "commit", count: 3 } } });
  await ready(page);
  await page.check("input[value=completion]");
  await page.fill("#prompt", "Once upon a time");
  await page.fill("#max-tokens", "32");
  await page.fill("#seed", "4");
  await page.click("#run");
  // Watch it: in the middle of the run the canvas is that of the third step.
  const commits = await eventsOf("punt", "commit");
  const [first, second, third] = commits.map((commit) => commit.positions.length);
  await page.waitForFunction(() => document.querySelector(".where").textContent === "step 3 of 3");
  assert.equal(await cells(page, "accepted").count(), third);
  assert.equal(await cells(page, "earlier").count(), first + second);
  assert.ok((await cells(page, "rejected").count()) > 0);
  assert.equal(await page.textContent("#status"), "Running…");
  server.release();
  await page.waitForSelector("#run:enabled");
  await settled(page);
  assert.equal(await cells(page, "masked").count(), 0);
  const end = await endOf("punt");
  assert.equal(await counter(page, "nfe"), `${end.nfe.total} = ${end.nfe.base} + ${end.nfe.test} tests`);
  assert.equal(await counter(page, "steps"), String(end.steps));
  assert.equal(await counter(page, "seconds"), end.seconds.toFixed(2));
  assert.equal(await counter(page, "rate"), (32 / end.nfe.total).toFixed(2));
  assert.equal(await where(page), "done");
  assert.match(
    await panel(page).locator(".canvas").textContent(),
    /Once upon a time, there was a little girl named Lily/,
  );
  const [request] = server.requests;
  assert.deepEqual(request, {
    pathname: "/v1/completions",
    prompt: "Once upon a time",
    max_tokens: 32,
    temperature: 0.7,
    top_p: 0.9,
    seed: 4,
    stream: true,
    stream_options: { include_usage: true },
    diffusion: { planner: "punt:epsilon=0.16", score: "margin", window: 0, cache: "none", stream: "events" },
  });
  assert.deepEqual(complaints, []);
});

test("parameters come from the registry; bounds are kept before anything is sent", async () => {
  const { page, server, complaints } = await open();
  await ready(page);
  const param = (name) => page.locator(`#planner-a [data-param=${name}]`);
  assert.equal(await param("epsilon").inputValue(), "0.16"); // the example's
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
    planner: "punt:epsilon=0.08,form=parallel,free_base=false",
    score: "position:reverse=true",
    window: 16,
    cache: "settled",
    stream: "events",
  });
  // Folded away and wrong: it is unfolded, shown, and nothing is sent.
  await page.fill("#window", "-1");
  await page.click("#more > summary");
  await page.click("#run");
  assert.equal(await page.evaluate(() => document.activeElement.id), "window");
  assert.match(await page.textContent("#error"), /^Window: /);
  assert.equal(await page.getAttribute("#window", "aria-invalid"), "true");
  assert.equal(server.requests.length, 1);
  await page.fill("#window", "0");
  await page.selectOption("#planner-a select", "spacing");
  await param("planner").fill("top-k:k=2");
  await page.press("#prompt", "Control+Enter");
  await page.waitForFunction(() => document.querySelector("#error").textContent !== "");
  assert.equal(server.requests[1].diffusion.planner, "spacing:planner=(top-k:k=2)");
  assert.deepEqual(
    complaints.filter((text) => !/ERR_|network|Failed to load/.test(text)),
    [],
  );
});

test("chat, gaps and boards send what they mean", async () => {
  const { page, server, complaints } = await open();
  await ready(page);
  await page.check("input[value=chat]"); // the model has a template
  await runToEnd(page, "Hello");
  assert.equal(server.requests[0].pathname, "/v1/chat/completions");
  assert.deepEqual(server.requests[0].messages, [{ role: "user", content: "Hello" }]);
  await page.check("input[value=completion]");
  assert.ok(await page.isVisible("#max-tokens"));
  await runToEnd(page, "Tom saw a[MASK:5] The end.");
  assert.ok(await page.isHidden("#max-tokens")); // the gap says how much
  const [, gap] = server.requests;
  assert.equal(gap.pathname, "/v1/completions");
  assert.deepEqual([gap.prompt, gap.suffix, gap.max_tokens], ["Tom saw a", " The end.", 5]);
  await runToEnd(page, "Tom[MASK:5]saw[MASK]");
  const [, , gaps] = server.requests;
  assert.deepEqual([gaps.prompt, gaps.suffix, gaps.max_tokens], [undefined, undefined, undefined]);
  assert.deepEqual(gaps.diffusion.infill, ["Tom", 5, "saw", 1]);
  await page.fill("#prompt", "Tom saw a ");
  await page.click("#insert-gap");
  assert.equal(await page.inputValue("#prompt"), "Tom saw a [MASK:12]");
  assert.deepEqual(complaints, []);
});

test("Escape stops: the server sees the client go, and the canvas stays", async () => {
  const rounds = (await eventsOf("punt", "round")).filter((round) => round.step === 0).length;
  const { page, server, complaints } = await open({ server: { hold: { event: "round", count: rounds + 2 } } });
  await ready(page);
  await page.fill("#prompt", "Once");
  await page.press("#prompt", "Control+Enter");
  await page.waitForFunction(() => document.querySelector(".where").textContent === "step 2, round 2");
  assert.ok((await cells(page, "candidate").count()) > 0);
  await page.keyboard.press("Escape");
  await page.waitForSelector("#run:enabled");
  assert.equal(await page.textContent("#status"), "Stopped.");
  assert.equal(await page.textContent("#error"), "");
  await settled(page);
  assert.equal(await where(page), "step 1 of 1"); // the last that was committed, nothing half-tested
  assert.equal(await cells(page, "candidate").count(), 0);
  assert.ok((await cells(page, "accepted").count()) > 0);
  assert.ok((await cells(page, "masked").count()) + (await cells(page, "rejected").count()) > 0);
  while (server.cancelled === 0) await new Promise((resolve) => setTimeout(resolve, 20));
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
  const { page, server, complaints } = await open({
    server: { key: "secret", loading: 1 },
    allowed: /status of (401|503)/,
  });
  await page.waitForSelector("#key-form:not([hidden])");
  await page.fill("#key", "wrong");
  await page.press("#key", "Enter");
  await page.waitForSelector("#key-form:not([hidden])");
  await page.fill("#key", "secret");
  await page.press("#key", "Enter");
  await page.waitForFunction(() => document.querySelector("#model").textContent.includes("being loaded"));
  await ready(page);
  assert.match(await page.textContent("#model"), /^model stories, up to 256 positions/);
  await runToEnd(page);
  assert.equal(server.requests.length, 1);
  assert.ok(await page.isHidden("#key-form"));
  const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie, location.href]);
  assert.deepEqual(kept.slice(0, 3), [0, 0, ""]);
  assert.doesNotMatch(kept[3], /secret/);
  assert.deepEqual(complaints, []);
});
