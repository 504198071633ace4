// Draw the charts of the quality page from the numbers in its data block.
//
// Labels come from traces. The chart library reads a little markup in its labels, so every one
// is passed through plain() first.
"use strict";

const data = JSON.parse(document.getElementById("chart-data").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function plain(text) {
  return String(text)
    .replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign])
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd")
    .slice(0, 60);
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function faded(hex, alpha) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${red},${green},${blue},${alpha})`;
}

const DAY = 86400000;
const TICKS = [
  { dtickrange: [null, 1000 * 59], value: "%H:%M:%S" },
  { dtickrange: [1000 * 59, DAY / 2 - 1], value: "%H:%M" },
  { dtickrange: [DAY / 2 - 1, DAY - 1], value: "%d %b %H:%M" },
  { dtickrange: [DAY - 1, "M1"], value: "%d %b" },
  { dtickrange: ["M1", null], value: "%b %Y" },
];

const time = (ms) => new Date(ms).toISOString().replace("T", " ").replace("Z", "");
const percent = (share) => `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;

// A line breaks where nothing was scored for a while.
function withGaps(line, step) {
  const out = { at: [], rate: [], low: [], high: [], text: [] };
  line.at.forEach((at, i) => {
    if (i && at - line.at[i - 1] > 4 * step) {
      out.at.push(time((at + line.at[i - 1]) / 2));
      for (const key of ["rate", "low", "high", "text"]) out[key].push(null);
    }
    // In the middle of its stretch, of which a new version had but a part.
    out.at.push(time((Math.max(at, Math.min(line.from, at + step)) + at + step) / 2));
    out.rate.push(line.rate[i]);
    out.low.push(line.low[i]);
    out.high.push(line.high[i]);
    out.text.push(
      `${percent(line.rate[i])} (${line.k[i]} of ${line.n[i]}; ${percent(line.low[i])} to ${percent(line.high[i])})`,
    );
  });
  return out;
}

function bands(line, shade) {
  // One closed shape for each stretch without a gap.
  const runs = [[]];
  line.rate.forEach((rate, i) => (rate === null ? runs.push([]) : runs[runs.length - 1].push(i)));
  return runs
    .filter((run) => run.length > 1)
    .map((run) => ({
      type: "scatter",
      mode: "lines",
      x: [...run, ...run.slice().reverse()].map((i) => line.at[i]),
      y: [...run.map((i) => line.high[i]), ...run.slice().reverse().map((i) => line.low[i])],
      fill: "toself",
      fillcolor: shade,
      line: { width: 0 },
      hoverinfo: "skip",
      showlegend: false,
    }));
}

const shortened = (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text);

// From when to when there is something to draw; a minute at least, which the axis can tell apart.
function reach(chart) {
  const times = [...chart.lines.flatMap((line) => line.at.map((at) => at + chart.step_ms / 2)), ...chart.tracks.flatMap((track) => track.at_ms)];
  const first = times.reduce((a, b) => Math.min(a, b), Infinity);
  const last = times.reduce((a, b) => Math.max(a, b), -Infinity);
  const missing = Math.max(0, 60000 - (last - first)) / 2;
  return [first - missing, last + missing];
}

function figure(chart, width) {
  const ink = colour("quiet");
  const grid = colour("line");
  const traces = [];
  const shapes = [];
  const annotations = [];
  const hasEvidence = chart.tracks.length > 0;
  let top = 0.04;
  for (const raw of chart.lines) {
    const line = withGaps(raw, chart.step_ms);
    const tint = colour(`c${raw.colour % 8}`);
    traces.push(...bands(line, faded(tint, 0.16)));
    traces.push({
      type: "scatter",
      mode: raw.at.length < 40 ? "lines+markers" : "lines",
      x: line.at,
      y: line.rate,
      text: line.text,
      name: plain(raw.version || "no version"),
      line: { color: tint, width: 1.8, dash: ["solid", "solid", "dash", "dot"][raw.colour % 4] },
      marker: { size: 4, color: tint, symbol: raw.colour % 6 },
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
      showlegend: false,
    });
    // Wide bands of points with few conversations must not flatten the line.
    raw.rate.forEach((rate, i) => (top = Math.max(top, rate, Math.min(raw.high[i], Math.max(0.08, rate * 1.6)))));
  }
  const beginnings = chart.versions.slice(-6);
  const [first, last] = reach(chart);
  const perMs = (width - 48) / (last - first);
  let label = null;
  let labelEnd = -Infinity;
  beginnings.forEach((version) => {
    const tint = colour(`c${version.colour % 8}`);
    const at = time(version.at);
    shapes.push({ type: "line", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1, line: { color: tint, width: 1, dash: "dot" } });
    const text = shortened(version.version || "no version");
    const from = (version.at - first) * perMs;
    const length = 6 * text.length + 6;
    const room = from + length <= width - 48;
    const left = room ? from : from - length;
    if (label && left < labelEnd) {
      // Those that began close together share a label.
      label.text = `${label.text}, ${plain(text)}`;
      label.font.color = ink;
      labelEnd += length + 6;
      if (labelEnd > width - 48) label.xanchor = "right";
      return;
    }
    label = { xref: "x", yref: "paper", x: at, y: 1, yanchor: "bottom", xanchor: room ? "left" : "right", text: plain(text), showarrow: false, font: { size: 10, color: tint } };
    labelEnd = left + length;
    annotations.push(label);
  });
  for (const change of chart.changes) {
    shapes.push({ type: "rect", xref: "x", yref: "paper", x0: time(change.low), x1: time(change.high), y0: 0, y1: 1, fillcolor: faded(colour("page"), 0.18), line: { width: 0 }, layer: "below" });
    shapes.push({ type: "line", xref: "x", yref: "paper", x0: time(change.at), x1: time(change.at), y0: 0, y1: 1, line: { color: colour("page"), width: 1 } });
  }
  const axis = { gridcolor: grid, linecolor: grid, zeroline: false, tickfont: { size: 10, color: ink }, fixedrange: true };
  const layout = {
    margin: { l: 40, r: 8, t: 18, b: 22 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 11, color: ink },
    hoverlabel: { bgcolor: colour("panel"), bordercolor: grid, font: { size: 11, color: colour("ink") } },
    hovermode: "x unified",
    showlegend: false,
    dragmode: false,
    shapes,
    annotations,
    xaxis: { ...axis, ...(last - first <= 60000 && { range: [time(first), time(last)] }), type: "date", anchor: hasEvidence ? "y2" : "y", nticks: 6, hoverformat: "%d %b %H:%M", tickformatstops: TICKS },
    yaxis: { ...axis, domain: hasEvidence ? [0.42, 1] : [0, 1], range: [0, Math.min(1, top * 1.12)], tickformat: top < 0.05 ? ".1%" : ".0%", nticks: 5 },
  };
  if (hasEvidence) {
    let most = 2;
    chart.tracks.forEach((track, place) => {
      most = Math.max(most, ...track.share);
      traces.push({
        type: "scatter",
        mode: "lines",
        x: track.at_ms.map(time),
        y: track.share,
        yaxis: "y2",
        name: track.all_versions ? "evidence, all versions" : `evidence, ${plain(track.label)}`,
        line: { color: track.all_versions ? colour("ink") : colour("faint"), width: track.all_versions ? 1.6 : 1.1, shape: "hv", dash: track.all_versions ? "solid" : ["dash", "dot", "dashdot"][place % 3] },
        // It holds until the next point: nothing in between was seen.
        text: track.share.map((share) => (share >= 9.99 ? "over 10 (capped)" : share.toPrecision(2))),
        hovertemplate: "%{text} of the page threshold<extra>%{fullData.name}</extra>",
        showlegend: false,
      });
    });
    layout.yaxis2 = { ...axis, domain: [0, 0.34], type: "log", range: [-3.1, Math.log10(most) + 0.25], tickvals: [0.001, 0.01, 0.1, 1, 10], ticktext: ["", "1 %", "", "page", ""] };
    shapes.push({ type: "line", xref: "paper", yref: "y2", x0: 0, x1: 1, y0: 1, y1: 1, line: { color: colour("page"), width: 1.2 } });
    if (chart.ticket > 0) {
      shapes.push({ type: "line", xref: "paper", yref: "y2", x0: 0, x1: 1, y0: chart.ticket, y1: chart.ticket, line: { color: colour("ticket"), width: 1.2, dash: "dash" } });
      layout.yaxis2.tickvals = [0.001, chart.ticket, 1, 10];
      layout.yaxis2.ticktext = ["0.1 %", "ticket", "page", ""];
    }
  }
  return [traces, layout];
}

function draw(place) {
  const chart = data.charts[Number(place.dataset.section)][Number(place.dataset.scorer)];
  if (!chart.lines.length && !chart.tracks.length) return;
  place.classList.toggle("rates-only", chart.tracks.length === 0);
  const [traces, layout] = figure(chart, place.clientWidth);
  Plotly.react(place, traces, layout, { displayModeBar: false, responsive: true, staticPlot: false });
  place.dataset.drawn = "yes";
}

const places = [...document.querySelectorAll(".chart")];
// Those in sight first: each takes some milliseconds.
const watch = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        watch.unobserve(entry.target);
        draw(entry.target);
      }
    }
  },
  { rootMargin: "300px" },
);
places.forEach((place) => watch.observe(place));
dark.addEventListener("change", () => places.filter((place) => place.dataset.drawn).forEach(draw));
addEventListener("beforeprint", () => places.filter((place) => !place.dataset.drawn).forEach(draw));
