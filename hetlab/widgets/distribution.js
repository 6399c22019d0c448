// Measurements side by side: every sample as a dot under a histogram, median and interval drawn.
// The data come from Python; nothing here computes a figure that Python does not state.

const CSS = `
.hetlab-dist { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-dist {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-dist svg { width: 100%; height: auto; display: block; }
.hetlab-dist text { fill: var(--ink); font-size: 13px; }
.hetlab-dist .tick { fill: var(--faint); font-size: 12px; }
.hetlab-dist label { display: inline-flex; gap: 6px; align-items: center; }
.hetlab-dist input { accent-color: #0072B2; }
.hetlab-dist input:focus-visible { outline: 2px solid #56B4E9; outline-offset: 3px; }
.hetlab-dist ul { margin: 6px 0 0; padding-left: 20px; }
`;
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const W = 600, L = 10, R = 16, ROW = 104, FOOT = 46, BINS = 60;
const PREFIXES = [[1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];

function seconds(value, digits = 3) {
  const [scale, prefix] = PREFIXES.find(([s]) => value >= s * 0.9995) ?? [1e-12, "p"];
  return `${Number((value / scale).toPrecision(digits))} ${prefix}s`;
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
// Round numbers: 1, 2, 5 times a power of ten; about five of them, on either scale.
function ticks(low, high, logarithmic) {
  const found = [];
  if (logarithmic) {
    const steps = high / low > 300 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p++)
      for (const s of steps) found.push(s * 10 ** p);
  } else {
    const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  }
  return found.filter((t) => t >= low && t <= high);
}

function render({ model, el }) {
  const spread = model.get("spread");
  const height = spread.rows.length * ROW + FOOT;
  const root = html("div", { class: "hetlab-dist" }, el);
  html("style", {}, root, CSS);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": spread.text }, root);

  function draw() {
    picture.replaceChildren();
    const all = model.get("show_all"), [low, high] = all ? spread.whole : spread.focus;
    const scale = spread.logarithmic ? Math.log : (v) => v;
    const part = (v) => (scale(v) - scale(low)) / (scale(high) - scale(low));
    const X = (v) => L + part(v) * (W - L - R);
    const base = height - FOOT;
    const marks = ticks(low, high, spread.logarithmic);
    const digits = spread.logarithmic ? 2 : Math.max(3, Math.ceil(Math.log10(high / (high - low))) + 2);
    for (const t of marks) {
      svg("line", { x1: X(t), x2: X(t), y1: 4, y2: base, stroke: "var(--grid)" }, picture);
      svg("text", { x: Math.min(W - 30, Math.max(26, X(t))), y: base + 17, "text-anchor": "middle",
        class: "tick" }, picture, seconds(t, digits));
    }
    svg("text", { x: W / 2, y: height - 8, "text-anchor": "middle" }, picture,
      `time a call${spread.logarithmic ? ", logarithmic" : ""}; line: median, band: ${spread.confidence} interval, dots: samples`);
    spread.rows.forEach((row, i) => {
      const colour = COLOURS[i % COLOURS.length], top = i * ROW, floor = top + 68;
      const counts = new Array(BINS).fill(0), inside = row.samples.filter((s) => s >= low && s <= high);
      for (const s of inside) counts[Math.min(BINS - 1, Math.floor(part(s) * BINS))] += 1;
      const most = Math.max(1, ...counts), step = (W - L - R) / BINS;
      if (row.interval) {
        const [a, b] = row.interval.map((v) => X(Math.min(high, Math.max(low, v))));
        svg("rect", { x: a, y: top + 26, width: Math.max(1, b - a), height: ROW - 32, fill: "var(--ink)",
          opacity: 0.16 }, picture);
      }
      counts.forEach((c, k) => c && svg("rect", { x: L + k * step, y: floor - (c / most) * 40, width: step - 0.5,
        height: (c / most) * 40, fill: colour, opacity: 0.55 }, picture));
      row.samples.forEach((s, k) => s >= low && s <= high && svg("circle", { cx: X(s), r: 2.2, fill: colour,
        cy: floor + 5 + 24 * ((k * 0.6180339887498949) % 1), opacity: 0.75 }, picture));
      svg("line", { x1: L, x2: W - R, y1: floor, y2: floor, stroke: "var(--faint)", "stroke-width": 0.6 }, picture);
      svg("line", { x1: X(row.median), x2: X(row.median), y1: top + 26, y2: top + ROW - 6, stroke: "var(--ink)",
        "stroke-width": 2 }, picture);
      const beyond = row.samples.length - inside.length;
      svg("text", { x: L, y: top + 18 }, picture, row.says + (beyond ? `; ${beyond} slower →` : ""));
    });
  }

  if (spread.whole[1] > spread.focus[1]) {
    const label = html("label", {}, root);
    const box = html("input", { type: "checkbox" }, label);
    html("span", {}, label, "show the rare slow samples too");
    box.checked = model.get("show_all");
    box.addEventListener("change", () => {
      model.set("show_all", box.checked);
      model.save_changes();
      draw();
    });
    model.on("change:show_all", () => { box.checked = model.get("show_all"); draw(); });
  }
  draw();
  if (spread.notes.length) {
    const list = html("ul", {}, root);
    for (const note of spread.notes) html("li", {}, list, note);
  }
}

export default { render };
