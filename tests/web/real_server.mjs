// `punt serve` itself for tests: $PUNT, with the page that it carries.
import { execFileSync, spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

export const PUNT = process.env.PUNT ?? "";
export const pathOf = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Serves a model (a path in the project) to the tests of a file; {url, served}: the address, and `test` on the server. */
export function serve(model) {
  const server = { url: "", served: null };
  let child;
  let reason = "$PUNT does not name the program";
  before(async () => {
    if (PUNT === "") return;
    try {
      execFileSync(PUNT, ["serve", "--help"], { stdio: "ignore" });
    } catch {
      reason = "this punt has no serve";
      return;
    }
    child = spawn(PUNT, ["serve", "--model", pathOf(model), "--port", "0", "--threads", "1", "--quiet"]);
    const said = await new Promise((resolve) => {
      child.stdout.once("data", (data) => resolve(String(data)));
      child.once("exit", () => resolve(""));
    });
    server.url = said.match(/http:\S+/)?.[0].replace(/\/?$/, "/") ?? "";
    reason = server.url ? "the server has no page" : "the server did not start";
    if (server.url && (await fetch(server.url)).ok) reason = "";
  });
  after(() => child?.kill());
  server.served = (name, body) => test(name, async (t) => (reason === "" ? body() : t.skip(reason)));
  return server;
}
