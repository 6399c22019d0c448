// Sums and scans on a small array.  Every step was computed by Python; the slider chooses one.

const CSS = `
.hetlab-steps { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-steps {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-steps svg { width: 100%; height: auto; display: block; }
.hetlab-steps text { fill: var(--ink); font-size: 13px; text-anchor: middle; }
.hetlab-steps .tick { fill: var(--faint); font-size: 12px; }
.hetlab-steps .thread { fill: #1a1a1a; font-size: 9px; text-anchor: end; }
.hetlab-steps .stored { fill: #1a1a1a; font-weight: 600; text-anchor: start; }
.hetlab-steps .row { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: center; margin: 2px 0 6px; }
.hetlab-steps label { display: inline-flex; gap: 8px; align-items: center; }
.hetlab-steps input[type=range] { width: 190px; }
.hetlab-steps input { accent-color: #0072B2; }
.hetlab-steps select { color: var(--ink); background: var(--paper); border: 1px solid var(--faint); border-radius: 3px; padding: 2px 4px; font: inherit; }
.hetlab-steps :is(input, select):focus-visible { outline: 2px solid #56B4E9; outline-offset: 2px; }
.hetlab-steps output { display: block; margin-top: 4px; min-height: 3em; }
`;
// JupyterLab takes arrow keys for its cells unless it is told that they are ours.
const KEYS = { "data-lm-suppress-shortcuts": "true" };
const CELL = 38, BOX = 23, ROW = 52, TOP = 20, STORED = "#E69F00", READ = "#0072B2";

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
  const data = model.get("steps"), n = data.values.length;
  const root = make("div", { class: "hetlab-steps" }, el);
  make("style", {}, root, CSS);
  const controls = make("div", { class: "row" }, root);
  const choice = make("label", {}, controls);
  make("span", {}, choice, "algorithm");
  const select = make("select", { ...KEYS }, choice);
  for (const name of Object.keys(data.algorithms)) make("option", { value: name }, select, name);
  const slide = make("label", {}, controls);
  make("span", {}, slide, "steps done");
  const slider = make("input", { ...KEYS, type: "range", min: 0, step: 1 }, slide);
  const number = make("b", {}, slide);
  const picture = svg("svg", { role: "img" }, root);
  const answer = make("output", {}, root);

  function row(k, values, threads) {
    const y = TOP + k * ROW;
    values.forEach((value, i) => {
      const stored = threads.has(i), x = i * CELL + 2;
      svg("rect", { x, y, width: CELL - 4, height: BOX, rx: 2, fill: stored ? STORED : "none", stroke: "var(--grid)" }, picture);
      svg("text", { x: x + (stored ? 3 : CELL / 2 - 2), y: y + 16, class: stored ? "stored" : "" }, picture, value);
      if (stored) svg("text", { x: x + CELL - 5.5, y: y + 20, class: "thread" }, picture, `t${threads.get(i)}`);
    });
  }
  function draw() {
    const name = model.get("algorithm"), algorithm = data.algorithms[name];
    const last = algorithm.steps.length, step = Math.max(0, Math.min(last, model.get("step")));
    select.value = name;
    slider.max = last;
    slider.value = step;
    number.textContent = `${step} of ${last}`;
    slider.setAttribute("aria-valuetext", `${step} of ${last} steps`);
    picture.setAttribute("viewBox", `0 0 ${n * CELL} ${TOP + last * ROW + BOX + 4}`);
    picture.replaceChildren();
    for (let first = 0; first < n; first += algorithm.warp) {
      svg("text", { x: (first + algorithm.warp / 2) * CELL, y: 13, class: "tick" }, picture, `warp ${first / algorithm.warp}`);
      if (first) svg("line", { x1: first * CELL, x2: first * CELL, y1: 4, y2: TOP + last * ROW + BOX, stroke: "var(--faint)", "stroke-dasharray": "2 4" }, picture);
    }
    row(0, data.values, new Map());
    for (let k = 1; k <= step; k++) {
      const { moves, after } = algorithm.steps[k - 1], y = TOP + (k - 1) * ROW + BOX;
      for (const [, into, sources] of moves)
        for (const source of sources) {
          const now = k === step, straight = source === into;
          svg("line", { x1: (source + 0.5) * CELL, x2: (into + 0.5) * CELL, y1: y, y2: y + ROW - BOX, "stroke-width": straight ? 1 : 1.8,
            stroke: straight || !now ? "var(--faint)" : READ, opacity: now ? 1 : 0.55 }, picture);
        }
      row(k, after, new Map(moves.map(([thread, into]) => [into, thread])));
    }
    answer.textContent = algorithm.told[step];
    picture.setAttribute("aria-label", `${name}. ${algorithm.told[step]} The array: ${(step ? algorithm.steps[step - 1].after : data.values).join(", ")}.`);
  }
  select.addEventListener("change", () => { model.set("algorithm", select.value); model.set("step", 1); model.save_changes(); draw(); });
  slider.addEventListener("input", () => { model.set("step", Number(slider.value)); draw(); });
  slider.addEventListener("change", () => model.save_changes());
  model.on("change:algorithm", draw);
  model.on("change:step", draw);
  draw();
  return () => {
    model.off("change:algorithm", draw);
    model.off("change:step", draw);
  };
}

export default { render };
