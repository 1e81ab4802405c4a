// Draws the plots of a report from the data that the page carries. Runs after Chart.js, once, at the end of the page.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const quality = data.quality;

  const axes = {
    nfe_mean: "forward passes per item (NFE)",
    seconds_mean: "seconds per item",
    tokens_per_forward: "tokens per forward pass (TPF)",
    steps_mean: "steps per item",
    calls_mean: "dependent calls per item",
    row_passes_mean: "row passes per item",
    base_mean: "base passes per item",
    test_mean: "test passes per item",
  };
  const shown = Object.keys(axes).filter((key) => data.rows.some((row) => Number.isFinite(row[key])));
  const rows = data.rows.filter((row) => Number.isFinite(row[quality.name]));
  const curves = [...new Set(rows.map((row) => row.curve))];
  const hidden = new Set();

  // Colours and markers are those of all other pictures; data.looks has them. Marker 4 is a triangle upside down.
  const shapes = ["circle", "rect", "triangle", "rectRot", "triangle"];
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  // A family has a colour and a shape, a temperature a dash; points of all but the first temperature are hollow.
  const temperatures = [...new Set(rows.map((row) => row.temperature))];
  const looks = new Map(rows.map((row) => {
    const look = data.looks[row.family];
    return [row.curve, { look, is_first: row.family === "punt", temperature: temperatures.indexOf(row.temperature) }];
  }));
  const colour = (curve) => looks.get(curve).look[scheme.matches ? "dark" : "light"];
  const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const number = (value) => {
    if (!Number.isFinite(value)) return "";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(1);
    return String(Number(value.toPrecision(4)));
  };
  const withInterval = (row, key) => {
    const interval = row[key + "_ci95"];
    return number(row[key]) + (interval ? ` [${number(interval[0])}, ${number(interval[1])}]` : "");
  };

  const intervals = {
    id: "intervals",
    beforeDatasetsDraw(chart) {
      const context = chart.ctx;
      context.save();
      context.beginPath();
      context.rect(chart.chartArea.left, chart.chartArea.top, chart.chartArea.width, chart.chartArea.height);
      context.clip();
      chart.data.datasets.forEach((set, index) => {
        if (!chart.isDatasetVisible(index)) return;
        context.strokeStyle = set.borderColor;
        context.globalAlpha = 0.45;
        for (const point of set.data) {
          const interval = point.row[quality.name + "_ci95"];
          if (!interval) continue;
          const x = chart.scales.x.getPixelForValue(point.x);
          context.beginPath();
          context.moveTo(x, chart.scales.y.getPixelForValue(interval[0]));
          context.lineTo(x, chart.scales.y.getPixelForValue(interval[1]));
          context.stroke();
        }
      });
      context.restore();
    },
  };

  const tooltip = {
    displayColors: false,
    callbacks: {
      title: (points) => points[0].raw.row.planner,
      label: ({ raw: { row } }) => [
        `temperature ${row.temperature}, score ${row.score}`,
        `${quality.title}: ${withInterval(row, quality.name)}`,
        `NFE: ${withInterval(row, "nfe_mean")} (base ${number(row.base_mean)}, test ${number(row.test_mean)})`,
        `steps: ${number(row.steps_mean)}` + (row.calls_mean === undefined ? "" : `, calls: ${number(row.calls_mean)}`),
        `seconds: ${number(row.seconds_mean)}`,
        ...(row.tokens_per_forward === undefined ? [] : [`tokens per forward: ${withInterval(row, "tokens_per_forward")}`]),
        `${row.items} items, seed${row.seeds.length === 1 ? "" : "s"} ${row.seeds.map((run) => run.seed).join(", ")}`,
      ],
    },
  };

  // Where the values span more than an order of magnitude and are all positive.
  const suitsLog = (values) => Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 10;

  // Few enough labels to be read: 1, 2, 5 of every decade where there are several.
  const logLabel = (values) => (value) => {
    const leading = Number(value.toExponential().split("e")[0]);
    const spread = Math.max(...values) / Math.min(...values);
    const wanted = spread > 1e4 ? [1] : spread > 100 ? [1, 2, 5] : [1, 2, 3, 5, 7];
    return wanted.includes(leading) ? number(value) : "";
  };

  // The axis covers all values and a little more: no marker on the frame, no whisker cut off.
  const ends = (values, isLog) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (isLog) {
      const margin = Math.max(1.05, (high / low) ** 0.04);
      return { min: low / margin, max: high * margin };
    }
    const margin = 0.04 * (high - low || Math.abs(high) || 1);
    return { min: low >= 0 && low < margin ? 0 : low - margin, max: high + margin };
  };

  const scale = (title, values, isLog) => ({
    type: isLog ? "logarithmic" : "linear",
    ...ends(values, isLog),
    title: { display: true, text: title + (isLog ? ", logarithmic" : ""), color: theme("--text") },
    grid: { color: theme("--line") },
    border: { color: theme("--faint") },
    ticks: { includeBounds: false, color: theme("--faint"), callback: isLog ? logLabel(values) : number, maxRotation: 0, autoSkip: !isLog },
  });

  const configuration = (key) => {
    const points = rows.filter((row) => Number.isFinite(row[key]));
    const datasets = curves.map((curve) => ({
      label: curve,
      data: points
        .filter((row) => row.curve === curve)
        .map((row) => ({ x: row[key], y: row[quality.name], row }))
        .sort((a, b) => a.x - b.x),
      hidden: hidden.has(curve),
      showLine: true,
      clip: 12,
      borderWidth: looks.get(curve).is_first ? 3 : 1.5,
      borderDash: dashes[looks.get(curve).temperature % dashes.length],
      pointRadius: looks.get(curve).is_first ? 6 : 4.5,
      pointHoverRadius: 8,
      pointBorderWidth: 2,
      pointStyle: shapes[looks.get(curve).look.marker],
      pointRotation: looks.get(curve).look.marker === 4 ? 180 : 0,
      borderColor: colour(curve),
      backgroundColor: looks.get(curve).temperature === 0 ? colour(curve) : theme("--card"),
    }));
    const values = points.map((row) => row[key]);
    const qualities = points.flatMap((row) => [row[quality.name], ...(row[quality.name + "_ci95"] ?? [])]);
    const isShare = !quality.less_is_better && Math.max(...qualities) <= 1;
    const direction = quality.less_is_better ? "less is better" : "more is better";
    return {
      type: "scatter",
      data: { datasets },
      plugins: [intervals],
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: true },
        scales: {
          x: scale(axes[key], values, suitsLog(values)),
          y: {
            ...scale(`${quality.title} (${direction})`, qualities, quality.less_is_better && suitsLog(qualities)),
            ...(isShare ? { min: Math.max(0, Math.floor(10 * Math.min(...qualities) - 0.5) / 10), max: 1 } : {}),
          },
        },
        plugins: { legend: { display: false }, tooltip },
      },
    };
  };

  const plots = [...document.querySelectorAll(".plots figure")].map((figure, index) => {
    const select = figure.querySelector("select");
    for (const key of shown) select.add(new Option(axes[key], key));
    select.value = shown[Math.min(index, shown.length - 1)];
    const plot = {
      draw() {
        plot.chart?.destroy();
        const canvas = figure.querySelector("canvas");
        canvas.setAttribute("aria-label", `${quality.title} against ${axes[select.value]}`);
        plot.chart = new Chart(canvas, configuration(select.value));
      },
    };
    select.addEventListener("change", plot.draw);
    return plot;
  });
  const drawAll = () => plots.forEach((plot) => plot.draw());

  const legend = document.querySelector(".legend");
  const fillLegend = () => {
    legend.replaceChildren(...curves.map((curve) => {
      const button = document.createElement("button");
      const spot = document.createElement("i");
      spot.style.borderColor = colour(curve);
      if (looks.get(curve).temperature === 0) spot.style.background = colour(curve);
      button.type = "button";
      button.setAttribute("aria-pressed", String(!hidden.has(curve)));
      button.append(spot, curve);
      button.addEventListener("click", () => {
        if (!hidden.delete(curve)) hidden.add(curve);
        button.setAttribute("aria-pressed", String(!hidden.has(curve)));
        drawAll();
      });
      return button;
    }));
  };

  Chart.defaults.font.size = 13;
  const drawEverything = () => { fillLegend(); drawAll(); };
  scheme.addEventListener("change", drawEverything);
  drawEverything();
  document.documentElement.dataset.ready = String(plots.filter((plot) => plot.chart.data.datasets.length > 0).length);
})();
