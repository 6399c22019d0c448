// Copies and kernels in streams: a slider for the chunks, a choice of streams, pinned or not.
// Every timeline was computed in Python; this only draws the chosen one.

const CSS = `
.hetlab-streams { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-streams {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-streams svg { width: 100%; height: auto; display: block; }
.hetlab-streams text { fill: var(--ink); font-size: 12px; }
.hetlab-streams .controls { display: flex; gap: 18px; flex-wrap: wrap; margin: 4px 0; }
.hetlab-streams label { display: flex; gap: 8px; align-items: center; }
.hetlab-streams input { accent-color: #0072B2; }
.hetlab-streams select { color: var(--ink); background: var(--paper); border: 1px solid var(--grid); font: inherit; }
.hetlab-streams :is(input, select):focus-visible { outline: 2px solid #56B4E9; outline-offset: 2px; }
.hetlab-streams output { display: block; min-height: 1.5em; }
.hetlab-streams .key { display: inline-block; width: 12px; height: 12px; margin: 0 5px -1px 12px; border-radius: 2px; }
`;
const W = 600, LEFT = 62, ROW = 34;
const KEYS = { "data-lm-suppress-shortcuts": "true" };
const PREFIXES = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

function seconds(value) {
  if (!(value > 0)) return "0 s";
  const [scale, prefix] = PREFIXES.find(([s]) => value >= s * 0.9995) ?? [1e-9, "n"];
  return `${Number((value / scale).toPrecision(3))} ${prefix}s`;
}
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

function render({ model, el }) {
  const data = model.get("stories");
  const root = html("div", { class: "hetlab-streams" }, el);
  html("style", {}, root, CSS);
  html("div", {}, root, data.title);
  const controls = html("div", { class: "controls" }, root);
  const first = html("label", {}, controls);
  html("span", {}, first, "chunks");
  const slider = html("input", { ...KEYS, type: "range", min: 0, max: data.chunks.length - 1, step: 1,
    "aria-label": "chunks" }, first);
  const count = html("span", {}, first);
  const second = html("label", {}, controls);
  html("span", {}, second, "streams");
  const select = html("select", { "aria-label": "streams" }, second);
  for (const n of data.streams) html("option", { value: n }, select, String(n));
  const third = html("label", {}, controls);
  const box = html("input", { type: "checkbox", "aria-label": "pinned memory" }, third);
  html("span", {}, third, "pinned memory");
  const answer = html("output", { "aria-live": "polite" }, root);
  const high = 24 + ROW * Math.max(...data.streams);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${high + 24}`, role: "img" }, root);
  const key = html("div", {}, root);
  for (const [engine, colour] of Object.entries(data.colours)) {
    html("span", { class: "key", style: `background:${colour}` }, key);
    html("span", {}, key, engine);
  }

  // A round distance between marks of the clock, at most eight of them.
  const rough = data.longest / 7, power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);

  function draw() {
    const at = Math.min(Math.max(model.get("chunk"), 0), data.chunks.length - 1);
    const lanes = model.get("lanes"), pinned = model.get("pinned");
    const state = data.states.find((s) => s.chunks === data.chunks[at] && s.streams === lanes && s.pinned === pinned)
      ?? data.states[0];
    slider.value = at;
    slider.setAttribute("aria-valuetext", String(data.chunks[at]));
    count.textContent = data.chunks[at];
    select.value = lanes;
    box.checked = pinned;
    answer.textContent = state.says;
    picture.setAttribute("aria-label", state.says);
    picture.replaceChildren();
    const X = (t) => LEFT + (t / data.longest) * (W - LEFT - 8);
    for (let t = 0; t <= data.longest * 1.0001; t += unit) {
      svg("line", { x1: X(t), x2: X(t), y1: 6, y2: high, stroke: "var(--grid)" }, picture);
      svg("text", { x: X(t), y: high + 16, "text-anchor": "middle", style: "fill:var(--faint);font-size:11px" },
        picture, seconds(t));
    }
    const end = Math.max(...state.pieces.map((p) => p[4]));
    svg("line", { x1: X(end), x2: X(end), y1: 2, y2: high, stroke: "var(--ink)", "stroke-width": 1.5,
      "stroke-dasharray": "4 3" }, picture);
    for (let row = 0; row < lanes; row++)
      svg("text", { x: 0, y: 14 + row * ROW + 16 }, picture, `stream ${row + 1}`);
    for (const [name, engine, stream, start, stop] of state.pieces) {
      const x = X(start), wide = X(stop) - x, y = 14 + (Number(stream) - 1) * ROW;
      const bar = svg("rect", { x, y, width: Math.max(wide - 1, 0.7), height: ROW - 10, rx: 2,
        fill: data.colours[engine] }, picture);
      svg("title", {}, bar, `${engine} ${name}: ${seconds(start)} to ${seconds(stop)}`);
      if (wide > 7.5 * name.length)
        svg("text", { x: x + wide / 2, y: y + 16, "text-anchor": "middle",
          style: `font-size:11px;fill:${engine === "kernel" ? "#fff" : "#111"}` }, picture, name);
    }
  }
  const change = (name, value) => {
    model.set(name, value);
    model.save_changes();
    draw();
  };
  slider.addEventListener("input", () => {
    model.set("chunk", Number(slider.value));
    draw();
  });
  slider.addEventListener("change", () => model.save_changes());
  select.addEventListener("change", () => change("lanes", Number(select.value)));
  box.addEventListener("change", () => change("pinned", box.checked));
  const names = ["chunk", "lanes", "pinned"];
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => names.forEach((name) => model.off(`change:${name}`, draw));
}

export default { render };
