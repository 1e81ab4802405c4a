// Everything that makes a run, as the part of an address behind '#': runs are deterministic, so a link is a run.
// Only what differs from the server's defaults is written.

const TEXTS = ["prompt", "planner", "second", "score", "cache", "model", "example", "mode", "order", "shape", "schema"];
const NUMBERS = ["tokens", "seed", "temperature", "top_p", "window"];
const FLAGS = ["compare", "fresh"];

/** "#prompt=Once&seed=4"; "" when everything is as `defaults` says. */
export function toHash(settings, defaults = {}) {
  const query = new URLSearchParams();
  for (const key of [...TEXTS, ...NUMBERS, ...FLAGS]) {
    const value = settings[key];
    if (value === undefined || value === null || value === "" || value === false || Number.isNaN(value)) continue;
    if (key !== "prompt" && key !== "seed" && value === defaults[key]) continue;
    query.set(key, value === true ? "1" : String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `#${text}`;
}

/** Settings of a link; what cannot be read is left out. An empty object when there are none. */
export function fromHash(hash) {
  const settings = {};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (TEXTS.includes(key)) settings[key] = value;
    else if (FLAGS.includes(key)) settings[key] = value === "1";
    else if (NUMBERS.includes(key) && value !== "" && Number.isFinite(Number(value))) settings[key] = Number(value);
  }
  return settings;
}
