// The viewer in a browser: light and dark, wide and narrow, checked by axe.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertAccessible,
  assertNoSidewaysScroll,
  open,
  ready,
  runToEnd,
  screenshot,
  slideTo,
} from "./page_testing.mjs";

for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [
    [1280, 900],
    [360, 740],
  ]) {
    test(`${colorScheme} at ${width} px: accessible, nothing sideways`, async () => {
      const { page, complaints } = await open({ colorScheme, viewport: { width, height } });
      await ready(page);
      await assertAccessible(page, "a recorded run");
      await page.check("input[value=completion]");
      await runToEnd(page);
      await slideTo(page, 4);
      await assertAccessible(page, "step 4");
      await assertNoSidewaysScroll(page);
      await screenshot(page, `${colorScheme}-${width}`);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const isDark = background
        .match(/\d+/g)
        .slice(0, 3)
        .every((value) => Number(value) < 64);
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
