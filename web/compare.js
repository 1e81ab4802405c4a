// One or two panels, their runs, and replaying two runs at equal cost.
import { widest } from "./charts.js";
import { Panel } from "./panel.js";
import { shortSpec } from "./spec.js";
import { Recording, nfeOf } from "./trace.js";

export class Panels {
  #abort = null;

  constructor(root, { api, onError }) {
    this.root = root;
    this.api = api;
    this.isLinked = true;
    this.planners = []; // the registry, once the server has told
    const hooks = {
      onMove: (panel) => this.#follow(panel),
      onLoad: () => {
        onError("");
        this.#shareAxes();
      },
      onError,
      shorten: (planner) => shortSpec(planner, this.planners),
    };
    this.panels = [new Panel("Run A", hooks), new Panel("Run B", hooks)];
    this.setCount(1);
  }

  /** 1, or 2 to compare. */
  setCount(count) {
    this.count = count;
    this.root.classList.toggle("pair", count === 2);
    this.root.replaceChildren(...this.panels.slice(0, count).map((panel) => panel.root));
    if (count < 2) this.panels[1].pause();
    this.#shareAxes();
  }

  get isRunning() {
    return this.#abort !== null;
  }

  /** One request per panel. Resolves when all are done; the first that fails stops the others. */
  async run(requests, isTogether) {
    this.#abort = new AbortController();
    try {
      if (isTogether) {
        await Promise.all(requests.map((request, i) => this.#runOne(this.panels[i], request)));
      } else {
        for (const [i, request] of requests.entries()) await this.#runOne(this.panels[i], request);
      }
    } catch (error) {
      this.#abort.abort();
      throw error;
    } finally {
      this.#abort = null;
    }
  }

  stop() {
    this.#abort?.abort();
  }

  async #runOne(panel, request) {
    const recording = new Recording();
    const begin = performance.now();
    const onEvent = (event, line) => {
      recording.take(event, line, (performance.now() - begin) / 1000);
      if (panel.recording !== recording) panel.open(recording); // until then the last run stays in sight
      panel.refresh();
      if (event.event === "commit") this.#shareAxes();
    };
    try {
      await this.api.generate(request, { signal: this.#abort.signal, onEvent });
    } finally {
      if (panel.recording === recording) panel.close();
    }
  }

  /** Two charts can be compared when their axes are the same. */
  #shareAxes() {
    const shown = this.panels.slice(0, this.count);
    const axes = widest(shown.map((panel) => panel.axes));
    for (const panel of shown) panel.setAxes(axes);
  }

  #follow(panel) {
    if (!this.isLinked || this.count < 2 || !panel.frame) return;
    const other = this.panels[panel === this.panels[0] ? 1 : 0];
    other.pause();
    other.goToNfe(nfeOf(panel.frame), panel.frame.end !== null);
  }
}
