// The page: connects, shows a recorded run, runs what is asked, and says what went wrong.
import { Api, ApiError } from "./api.js";
import { isAboutShape } from "./answer_shape.js";
import { Panels } from "./compare.js";
import { Controls } from "./controls.js";
import { element } from "./dom.js";
import { EXAMPLES, exampleOf, firstExample, loadExample } from "./examples.js";
import { Legend } from "./legend.js";
import { fromHash, toHash } from "./link.js";
import { modelName } from "./spec.js";
import { nfeOf } from "./trace.js";

const AROUND = 2; // positions that a tokenizer may put around a text
const TYPING_PAUSE = 300; // milliseconds

const byId = (id) => document.getElementById(id);
const api = new Api();
const controls = new Controls();
const legend = new Legend(byId("legend"));
const panels = new Panels(byId("panels"), {
  api,
  race: byId("race"),
  onError: showError,
  onLoad: () => {
    ++showing;
    showExampleNote(null);
  },
  onDraw: () => legend.show(panels.states),
});
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
let afterKey = null; // what to do again once the key is there
let hasBegun = false; // something is on the page, or on its way
let example = null; // the recorded one that is shown
let shownText = null; // the text whose room was asked for last
let typing = 0;
let showing = 0; // counts what was asked for: an example that arrives late is not wanted any more

function showError(message) {
  byId("error").textContent = message;
}

function showStatus(message) {
  byId("status").textContent = message;
}

/** Errors of the server; a missing key is asked for, and `again` tried with it. */
function explain(error, again) {
  if (!(error instanceof ApiError)) console.warn(error);
  if (isAboutShape(error.param)) {
    controls.shape.complain(error.message); // beside the box
    return controls.shape.focus();
  }
  showError(error.param ? `${error.message} (${error.param})` : error.message);
  if (error.status !== 401) return;
  afterKey = again;
  byId("key-form").hidden = false;
  byId("key").focus();
}

async function connect() {
  try {
    const props = await api.props();
    byId("model").textContent =
      `model ${modelName(props.model.name)}, up to ${props.model.max_length} positions · version ${props.version}`;
    controls.setUp(props);
    panels.planners = props.planners;
    byId("run").disabled = false;
    showError("");
    await begin();
  } catch (error) {
    byId("model").textContent = "not connected; examples play, and traces can be loaded";
    explain(error, connect);
    if (error.status === 503) {
      byId("model").textContent = "the model is being loaded…";
      setTimeout(connect, 1000 * Math.max(1, error.retryAfter));
    }
    if (!hasBegun && Object.keys(fromHash(location.hash)).length === 0) await showExample(EXAMPLES[0]);
  }
}

/** Once the server is there: what the link says, or the recorded run of its kind of model with Run ready to repeat it. */
async function begin() {
  hasBegun = true;
  const link = fromHash(location.hash);
  const linked = exampleOf(link.example);
  if (!linked && Object.keys(link).length > 0) return follow(link);
  const first = firstExample(controls.kind);
  fill(linked?.kind === controls.kind ? linked : first);
  byId("prompt").focus({ preventScroll: true });
  if (controls.kind === "text") byId("prompt").select();
  await showExample(linked ?? first);
}

/** An example's settings, all of them for the model it was made with, only its text for others. */
function fill({ settings, model, kind }) {
  if (kind !== controls.kind) return;
  controls.apply(model === controls.model ? { mode: "completion", ...settings } : { prompt: settings.prompt });
  afterChange();
}

async function follow(link) {
  controls.apply(link);
  afterChange();
  if (link.model && link.model !== controls.model)
    showExampleNote(`This link was made for the model ${link.model}; here ${controls.model} runs.`);
  await run({ isRepeat: true });
}

async function showExample(which) {
  const ticket = ++showing;
  try {
    const recordings = await loadExample(which);
    if (ticket !== showing) return;
    panels.openRecorded(recordings, which.captions);
  } catch (error) {
    return showError(error.message);
  }
  example = which;
  const isHere = controls.isReady && which.model === controls.model;
  const how = isHere ? "Run does it again, live." : `To run it yourself: punt serve --model ${which.model}`;
  showExampleNote(`A recorded run of ${which.model}. ${which.note} ${how}`);
  if (!isCalm.matches) panels.play();
}

/** Of a chip: live where the model can, recorded elsewhere. Races are long: they are shown first. */
async function choose(which) {
  if (panels.isRunning) return;
  showError("");
  fill(which);
  const isRace = which.runs.length > 1;
  if (which.kind === controls.kind && controls.isReady && !isRace) return run({ isRepeat: true });
  await showExample(which);
  keepLink();
  showResults();
}

function showExampleNote(note) {
  if (note === null) example = null;
  showStatus(note ?? "");
}

async function run({ isRepeat = false } = {}) {
  if (panels.isRunning || byId("run").disabled) return;
  ++showing;
  await measure();
  const complaint = controls.complaint();
  showError(complaint);
  if (complaint !== "") return;
  setRunning(true);
  try {
    const requests = controls.requests({ isRepeat });
    example = null;
    panels.setCount(requests.length);
    keepLink();
    showResults();
    await panels.run(requests, controls.isTogether);
    showStatus(summary());
    if (requests.length === 2 && controls.isLinked && !isCalm.matches) panels.play();
  } catch (error) {
    showStatus(error.name === "AbortError" ? "Stopped." : "");
    if (error.name !== "AbortError") explain(error, run);
  } finally {
    setRunning(false);
  }
}

function setRunning(isRunning) {
  byId("run").disabled = isRunning;
  byId("run").hidden = isRunning;
  byId("stop").hidden = !isRunning;
  byId("panels").setAttribute("aria-busy", isRunning);
  if (isRunning) showStatus("Running…");
}

/** On a narrow screen the form may fill it: what was asked for is what one sees. */
function showResults() {
  const top = byId("panels").getBoundingClientRect().top;
  if (top > window.innerHeight / 2 || top < 0)
    byId("results").scrollIntoView({ behavior: isCalm.matches ? "auto" : "smooth" });
}

function summary() {
  return panels.shown
    .map(({ label, recording }) => {
      const { end, step } = recording.current;
      const seconds = end ? `, ${end.seconds.toFixed(2)} s` : "";
      return `${label}: ${step} steps, ${nfeOf(recording.current)} passes of the model${seconds}.`;
    })
    .join(" ");
}

/** Asks how much room the prompt leaves, unless that is known. */
async function measure() {
  clearTimeout(typing);
  const text = controls.measuredText;
  if (!controls.isReady || text === shownText) return;
  shownText = text;
  if (text === null || text === "") return controls.setRoom(controls.positions - AROUND);
  try {
    const tokens = await api.countTokens(text);
    if (text === shownText) controls.setRoom(controls.positions - tokens - AROUND);
  } catch {
    controls.setRoom(controls.positions); // the server will say what does not fit
  }
}

function afterChange() {
  panels.isLinked = controls.isLinked;
  clearTimeout(typing);
  typing = setTimeout(measure, TYPING_PAUSE);
}

function currentHash() {
  return example ? toHash({ example: example.id }) : toHash(controls.settings, controls.defaults);
}

/** The address always holds what is on the page: a reload shows it again. */
function keepLink() {
  if (controls.isReady || example) history.replaceState(null, "", currentHash() || location.pathname);
}

async function copyLink() {
  const link = new URL(currentHash() || location.pathname, location.href).href;
  try {
    await navigator.clipboard.writeText(link);
    showStatus("The link is copied: it holds the prompt, the seed and every setting.");
  } catch {
    showStatus(link); // pages without TLS may not write to the clipboard
  }
}

for (const one of EXAMPLES) {
  const chip = element("button", { type: "button", className: "chip", text: one.label });
  chip.addEventListener("click", () => choose(one));
  byId("chips").append(chip);
}

byId("controls").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
byId("controls").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});
byId("controls").addEventListener("input", () => {
  if (!controls.isReady) return;
  example = null;
  afterChange();
  keepLink();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") panels.stop();
});
byId("stop").addEventListener("click", () => panels.stop());
byId("link").addEventListener("change", () => (panels.isLinked = controls.isLinked));
byId("speed").addEventListener("change", () => (panels.player.speed = Number(byId("speed").value)));
byId("loop").addEventListener("change", () => (panels.player.isLooping = byId("loop").checked));
byId("copy-link").addEventListener("click", copyLink);
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setKey(byId("key").value);
  byId("key").value = "";
  byId("key-form").hidden = true;
  afterKey?.();
});
addEventListener("hashchange", () => {
  if (controls.isReady && !panels.isRunning) begin();
});
// A reload keeps what was typed and ticked in some browsers; the address says it better.
byId("controls").reset();
panels.player.speed = Number(byId("speed").value);
panels.player.isLooping = byId("loop").checked;
connect();
