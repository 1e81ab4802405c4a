// The page: connects, runs, and says what went wrong.
import { Api, ApiError } from "./api.js";
import { Panels } from "./compare.js";
import { Controls } from "./controls.js";
import { element } from "./dom.js";
import { modelName } from "./spec.js";
import { CELL_STATES, nfeOf } from "./trace.js";

const byId = (id) => document.getElementById(id);
const api = new Api();
const controls = new Controls();
const panels = new Panels(byId("panels"), { api, onError: showError });
let afterKey = null; // what to do again once the key is there

function showError(message) {
  byId("error").textContent = message;
}

function showStatus(message) {
  byId("status").textContent = message;
}

/** Errors of the server; a missing key is asked for, and `again` tried with it. */
function explain(error, again) {
  if (!(error instanceof ApiError)) console.warn(error);
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
      `${modelName(props.model.name)}, up to ${props.model.max_length} positions · version ${props.version}`;
    controls.setUp(props);
    panels.planners = props.planners;
    byId("run").disabled = false;
    showError("");
  } catch (error) {
    byId("model").textContent = "not connected; traces can be loaded";
    explain(error, connect);
    if (error.status === 503) {
      byId("model").textContent = "the model is being loaded…";
      setTimeout(connect, 1000 * Math.max(1, error.retryAfter));
    }
  }
}

async function run() {
  if (panels.isRunning || byId("run").disabled || !controls.check()) return;
  showError("");
  setRunning(true);
  showResults();
  try {
    await panels.run(controls.requests(), controls.isTogether);
    showStatus(summary());
  } catch (error) {
    showStatus(error.name === "AbortError" ? "Stopped." : "");
    if (error.name !== "AbortError") explain(error, run);
  } finally {
    setRunning(false);
  }
}

function setRunning(isRunning) {
  byId("run").disabled = isRunning;
  byId("stop").disabled = !isRunning;
  byId("panels").setAttribute("aria-busy", isRunning);
  if (isRunning) showStatus("Running…");
}

/** On a narrow screen the form fills it. */
function showResults() {
  const results = byId("results");
  if (results.getBoundingClientRect().top > window.innerHeight / 2) results.scrollIntoView();
}

function summary() {
  return panels.panels
    .slice(0, panels.count)
    .map(({ name, recording }) => {
      const {
        end,
        run: { planner },
      } = recording.current;
      const nfe = nfeOf(recording.current);
      const seconds = end ? `, ${end.seconds.toFixed(2)} s` : "";
      return `${name} (${planner.split(":")[0]}): ${recording.current.step} steps, ${nfe} forward passes${seconds}.`;
    })
    .join(" ");
}

for (const [state, meaning] of Object.entries(CELL_STATES)) {
  const sample = element("span", { className: `cell ${state}`, text: state === "masked" ? "·" : "text" });
  byId("legend").append(element("li", {}, sample, ` ${meaning}`));
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
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") panels.stop();
});
byId("stop").addEventListener("click", () => panels.stop());
byId("compare").addEventListener("change", () => panels.setCount(controls.isComparing ? 2 : 1));
byId("link").addEventListener("change", () => (panels.isLinked = controls.isLinked));
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setKey(byId("key").value);
  byId("key").value = "";
  byId("key-form").hidden = true;
  afterKey?.();
});
// A reload keeps what was typed and ticked in some browsers.
panels.setCount(controls.isComparing ? 2 : 1);
panels.isLinked = controls.isLinked;
connect();
