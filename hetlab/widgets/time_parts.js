// Where the time of one measurement went, and what its first call means for a whole program.
// The parts come from Python.  Only the second bar is computed here: once + calls * each.

const CSS = `
.hetlab-time { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-time {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-time svg { width: 100%; height: auto; display: block; }
.hetlab-time text { fill: var(--ink); font-size: 13px; }
.hetlab-time table { border-collapse: collapse; margin: 4px 0 10px; }
.hetlab-time td { padding: 1px 12px 1px 0; border: 0; text-align: left; color: var(--ink); vertical-align: top; }
.hetlab-time td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.hetlab-time tr { background: none; }
.hetlab-time .swatch { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 7px; }
.hetlab-time label { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; }
.hetlab-time input { flex: 1 1 180px; accent-color: #0072B2; }
.hetlab-time input:focus-visible { outline: 2px solid #56B4E9; outline-offset: 3px; }
.hetlab-time output { display: block; margin-top: 4px; min-height: 2.9em; }
`;
const W = 600, BAR = 34;
// JupyterLab takes arrow keys for its cells unless it is told that they are ours.
const KEYS = { "data-lm-suppress-shortcuts": "true" };
const PREFIXES = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

function seconds(value) {
  if (!(value > 0)) return "0 s";
  const [scale, prefix] = PREFIXES.find(([s]) => value >= s * 0.9995) ?? [1e-12, "p"];
  const x = value / scale;
  return `${x >= 100 ? Math.round(x).toLocaleString("en-US") : x.toPrecision(3)} ${prefix}s`;
}
const percent = (share) => `${share > 0 && share < 0.005 ? "under 1" : Math.round(100 * share)} %`;
function svg(name, attributes, parent, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
function html(name, attributes, parent, text) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
// A stacked bar; a name stands inside a piece that is wide enough for it.
function stack(picture, top, pieces) {
  const total = pieces.reduce((sum, p) => sum + p.seconds, 0) || 1;
  let left = 0;
  for (const piece of pieces) {
    const wide = (piece.seconds / total) * W;
    svg("rect", { x: left, y: top, width: Math.max(wide - 1, 0.8), height: BAR, fill: piece.colour }, picture);
    if (wide > 9 * piece.name.length)
      svg("text", { x: left + wide / 2, y: top + BAR / 2 + 5, "text-anchor": "middle",
        style: `fill: ${piece.dark ? "#111" : "#fff"}` }, picture, piece.name);
    left += wide;
  }
}

function render({ model, el }) {
  const time = model.get("time");
  const total = time.parts.reduce((sum, p) => sum + p.seconds, 0);
  const bright = new Set(["#E69F00", "#56B4E9", "#CC79A7"]);
  const root = html("div", { class: "hetlab-time" }, el);
  html("style", {}, root, CSS);

  const first = svg("svg", { viewBox: `0 0 ${W} 60`, role: "img", "aria-label": time.text }, root);
  svg("text", { x: 0, y: 15 }, first, `${time.name}: where ${seconds(total)} went, ${time.label}`);
  stack(first, 24, time.parts.map((p) => ({ ...p, dark: bright.has(p.colour) })));
  const table = html("table", {}, root);
  for (const part of time.parts) {
    const row = html("tr", {}, table), name = html("td", {}, row);
    html("span", { class: "swatch", style: `background: ${part.colour}` }, name);
    html("span", {}, name, part.name);
    html("td", { class: "n" }, row, seconds(part.seconds));
    html("td", { class: "n" }, row, percent(total ? part.seconds / total : 0));
    html("td", {}, row, part.says);
  }

  // Calls from 1 to 10 000 times the even point, in round numbers.
  const decades = Math.max(4, Math.ceil(Math.log10(time.even)) + 4), stops = [];
  for (let p = 0; p < decades; p++)
    for (const s of p ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 2, 3, 4, 5, 7]) stops.push(Math.round(s * 10 ** p));
  stops.push(10 ** decades);
  const label = html("label", {}, root);
  html("span", {}, label, "in a program that calls it");
  const slider = html("input", { ...KEYS, type: "range", min: 0, max: stops.length - 1, step: 1 }, label);
  const second = svg("svg", { viewBox: `0 0 ${W} 44`, role: "img" }, root);
  const answer = html("output", {}, root);

  function draw() {
    const calls = Math.max(1, model.get("calls")), runs = calls * time.each;
    const all = time.once + runs, share = all ? time.once / all : 0;
    const times = `${calls.toLocaleString("en-US")} time${calls === 1 ? "" : "s"}`;
    slider.value = stops.findLastIndex((stop) => stop <= calls);
    slider.setAttribute("aria-valuetext", times);
    second.replaceChildren();
    stack(second, 6, [
      { name: "paid once", seconds: time.once, colour: "#D55E00" },
      { name: "calls", seconds: runs, colour: "#0072B2" }]);
    answer.textContent = `Called ${times}: ${seconds(all)}, of it ${percent(share)} paid once, in the first call `
      + `(modelled: once + calls × median). The two are equal at ${time.even.toLocaleString("en-US")} calls.`;
    second.setAttribute("aria-label", answer.textContent);
  }
  slider.addEventListener("input", () => {
    model.set("calls", stops[slider.value]);
    draw();
  });
  slider.addEventListener("change", () => model.save_changes());
  model.on("change:calls", draw);
  draw();
  return () => model.off("change:calls", draw);
}

export default { render };
