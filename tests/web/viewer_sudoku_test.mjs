// The viewer from end to end on the model of sudoku: a board that is typed is solved by `punt serve`.
import assert from "node:assert/strict";
import { cells, openAt, panel, settled } from "./page_testing.mjs";
import { serve } from "./real_server.mjs";

const server = serve("models/sudoku.gguf");
const { served } = server;
const done = (page) =>
  page.waitForFunction(() => document.querySelector("#status").textContent.includes("passes of the model"));

served("the example's board is solved live, and a link to it solves it again", async () => {
  const { page, complaints } = await openAt(server.url);
  await page.waitForFunction(() => document.querySelector("#status").textContent.includes("run of sudoku"));
  await page.click('.chip:text-is("A sudoku")');
  await done(page);
  await settled(page);
  assert.equal(await panel(page).locator(".canvas.board .cell").count(), 81);
  assert.equal(await cells(page, "prompt").count(), 32);
  assert.match(await panel(page).locator(".verdict").textContent(), /^✓ solved/);
  const board = await panel(page).locator(".canvas").textContent();
  assert.match(board, /^[1-9]{81}$/);
  const other = await openAt(page.url());
  await done(other.page);
  await settled(other.page);
  assert.equal(await panel(other.page).locator(".canvas").textContent(), board);
  assert.deepEqual([...complaints, ...other.complaints.filter((text) => !text.startsWith(server.url))], []);
});
