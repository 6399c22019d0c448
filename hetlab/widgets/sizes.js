// Bars of modelled times on a logarithmic scale, and a slider for the size of the problem.
// All times come from Python; the browser only chooses which of them to draw.

const CSS = `
.hetlab-sizes { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-sizes {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-sizes svg { width: 100%; height: auto; display: block; }
.hetlab-sizes text { fill: var(--ink); font-size: 13px; }
.hetlab-sizes .tick { fill: var(--faint); font-size: 12px; }
.hetlab-sizes .row { display: flex; flex-wrap: wrap; gap: 6px 18px; align-items: center; margin: 4px 0; }
.hetlab-sizes label { display: inline-flex; gap: 8px; align-items: center; }
.hetlab-sizes input[type=range] { width: 330px; max-width: 60vw; }
.hetlab-sizes input { accent-color: #0072B2; }
.hetlab-sizes input:focus-visible { outline: 2px solid #56B4E9; outline-offset: 3px; }
.hetlab-sizes ul { margin: 6px 0 0; padding-left: 20px; }
`;
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const W = 640, L = 60, R = 110, ROW = 30, FOOT = 26;
const PREFIXES = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

function seconds(value) {
  const [scale, prefix] = PREFIXES.find(([s]) => value >= s * 0.9995) ?? [1e-12, "p"];
  return `${Number((value / scale).toPrecision(3))} ${prefix}s`;
}
function make(name, attributes, parent, text, space) {
  const node = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
const svg = (name, attributes, parent, text) =>
  make(name, attributes, parent, text, "http://www.w3.org/2000/svg");

function render({ model, el }) {
  const data = model.get("sizes"), height = data.names.length * ROW + FOOT;
  const root = make("div", { class: "hetlab-sizes" }, el);
  make("style", {}, root, CSS);
  make("div", {}, root, data.title);
  const row = make("div", { class: "row" }, root);
  const slide = make("label", {}, row);
  const slider = make("input", { type: "range", min: 0, max: data.grid.length - 1, "aria-label": "size" }, slide);
  const size = make("b", {}, slide);
  const choice = make("label", {}, row);
  const box = make("input", { type: "checkbox" }, choice);
  make("span", {}, choice, "the data lie in main memory");
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": data.text }, root);
  const list = make("ul", {}, root);
  const every = Object.values(data.times).flatMap((place) => Object.values(place).flat());
  const low = Math.floor(Math.log10(Math.min(...every))), high = Math.ceil(Math.log10(Math.max(...every)));
  const X = (value) => L + ((Math.log10(value) - low) / (high - low)) * (W - L - R);

  function draw() {
    const place = model.get("host") ? "host" : "device", stop = model.get("stop");
    slider.value = stop;
    box.checked = model.get("host");
    const n = data.grid[stop].toLocaleString("en-US");
    size.textContent = `n = ${n} ${data.what}`;
    slider.setAttribute("aria-valuetext", size.textContent);
    picture.replaceChildren();
    for (let p = low; p <= high; p += high - low > 8 ? 3 : 2) {
      const x = X(10 ** p), y = height - FOOT;
      svg("line", { x1: x, x2: x, y1: 0, y2: y, stroke: "var(--grid)" }, picture);
      svg("text", { x, y: y + 17, "text-anchor": "middle", class: "tick" }, picture, seconds(10 ** p));
    }
    const now = data.names.map((name) => data.times[place][name][stop]), best = Math.min(...now);
    data.names.forEach((name, i) => {
      const y = i * ROW, first = now[i] === best;
      svg("text", { x: L - 8, y: y + 19, "text-anchor": "end", "font-weight": first ? "bold" : "normal" },
        picture, name);
      svg("rect", { x: L, y: y + 5, width: Math.max(2, X(now[i]) - L), height: ROW - 12, rx: 2,
        fill: COLOURS[i % COLOURS.length] }, picture);
      svg("text", { x: Math.max(L + 2, X(now[i])) + 6, y: y + 19, "font-weight": first ? "bold" : "normal" },
        picture, `${first ? "★ " : ""}${seconds(now[i])}`);
    });
    list.replaceChildren();
    for (const text of data.verdicts[place]) make("li", {}, list, text);
  }

  slider.addEventListener("input", () => {
    model.set("stop", Number(slider.value));
    model.save_changes();
    draw();
  });
  box.addEventListener("change", () => {
    model.set("host", box.checked);
    model.save_changes();
    draw();
  });
  model.on("change:stop", draw);
  model.on("change:host", draw);
  draw();
  return () => {
    model.off("change:stop", draw);
    model.off("change:host", draw);
  };
}

export default { render };
