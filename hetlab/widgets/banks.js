// Shared memory as rows of 32 words, one column a bank, and the words that one warp reads.
// The wavefronts were counted by Python, with the code that counts for every report.

const CSS = `
.hetlab-banks { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-banks {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-banks svg { width: 100%; height: auto; display: block; }
.hetlab-banks text { fill: var(--ink); font-size: 12px; }
.hetlab-banks .tick { fill: var(--faint); font-size: 12px; }
.hetlab-banks .lane { fill: #fff; font-size: 9.5px; text-anchor: middle; }
.hetlab-banks .row { display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: center; margin: 2px 0 6px; }
.hetlab-banks label { display: inline-flex; gap: 8px; align-items: center; }
.hetlab-banks input[type=range] { width: 150px; }
.hetlab-banks input { accent-color: #0072B2; }
.hetlab-banks select { color: var(--ink); background: var(--paper); border: 1px solid var(--faint); border-radius: 3px; padding: 2px 4px; font: inherit; }
.hetlab-banks :is(input, select):focus-visible { outline: 2px solid #56B4E9; outline-offset: 2px; }
.hetlab-banks output { display: block; margin-top: 4px; min-height: 4.4em; }
.hetlab-banks output p { margin: 0 0 2px; }
.hetlab-banks .says { font-size: 15px; font-weight: 600; }
.hetlab-banks .says.slow { border-left: 4px solid #D55E00; padding-left: 8px; }
.hetlab-banks .says.free { border-left: 4px solid #0072B2; padding-left: 8px; }
`;
// JupyterLab takes arrow keys for its cells unless it is told that they are ours.
const KEYS = { "data-lm-suppress-shortcuts": "true" };
const CELL = 19, H = 12, TOP = 20, FREE = "#0072B2", BUSY = "#C65300";

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
  const data = model.get("banks"), B = data.banks;
  const root = make("div", { class: "hetlab-banks" }, el);
  make("style", {}, root, CSS);
  const controls = make("div", { class: "row" }, root), inputs = {}, values = {};
  for (const [key, text] of [["width", "elements of a row"], ["padding", "padding"]]) {
    const label = make("label", {}, controls);
    make("span", {}, label, text);
    const [min, max] = data.limits[key];
    inputs[key] = make("input", { ...KEYS, type: "range", min, max, step: 1 }, label);
    values[key] = make("b", {}, label);
    inputs[key].addEventListener("input", () => { model.set(key, Number(inputs[key].value)); draw(); });
    inputs[key].addEventListener("change", () => model.save_changes());
  }
  const label = make("label", {}, controls);
  make("span", {}, label, "the warp reads");
  inputs.way = make("select", { ...KEYS }, label);
  for (const [key, text] of Object.entries(data.ways)) make("option", { value: key }, inputs.way, text);
  inputs.way.addEventListener("change", () => { model.set("way", inputs.way.value); model.save_changes(); draw(); });
  const picture = svg("svg", { role: "img" }, root);
  const answer = make("output", {}, root);

  function draw() {
    const width = model.get("width"), padding = model.get("padding"), way = model.get("way");
    const stride = { column: width + padding, row: 1, one: 0 }[way];
    const counted = way === "column" ? data.wavefronts.column[stride] : data.wavefronts[way];
    for (const key of ["width", "padding", "way"]) inputs[key].value = model.get(key);
    for (const key of ["width", "padding"]) values[key].textContent = model.get(key);
    const lanes = new Map();
    for (let lane = 0; lane < 32; lane++) lanes.set(lane * stride, [...(lanes.get(lane * stride) ?? []), lane]);
    const busy = Array(B).fill(0);
    for (const word of lanes.keys()) busy[word % B] += 1;
    const rows = Math.floor((31 * stride) / B) + 1, height = TOP + rows * H + 6;
    picture.setAttribute("viewBox", `0 0 ${B * CELL + 2} ${height}`);
    picture.replaceChildren();
    for (let bank = 0; bank < B; bank += 4)
      svg("text", { x: bank * CELL + 2, y: 12, class: "tick" }, picture, bank ? `${bank}` : "bank 0");
    for (let row = 0; row < rows; row++)
      for (let bank = 0; bank < B; bank++) {
        const mine = lanes.get(row * B + bank), x = bank * CELL + 1, y = TOP + row * H;
        const fill = !mine ? "none" : busy[bank] > 1 ? BUSY : FREE;
        svg("rect", { x, y, width: CELL - 2, height: H - 1.5, fill, stroke: "var(--grid)", "stroke-width": 0.7 }, picture);
        if (mine) svg("text", { x: x + CELL / 2 - 1, y: y + H - 3.2, class: "lane" }, picture, mine.length > 1 ? "all" : mine[0]);
      }
    const most = Math.max(...busy);
    answer.replaceChildren();
    answer.dataset.wavefronts = counted;
    answer.dataset.busiest = most;
    const turns = counted === 1 ? "1 wavefront, no bank conflict"
      : `${counted} wavefronts, ${counted - 1} of them because of bank conflicts`;
    make("p", { class: `says ${counted > 1 ? "slow" : "free"}` }, answer, `${turns} (counted)`);
    const words = [0, 1, 2, 3].map((lane) => lane * stride);
    make("p", {}, answer, `tile = cuda.shared.array((32, ${width + padding}), float32); lanes 0, 1, 2, 3 read the words `
      + `${words.join(", ")}, which lie in the banks ${words.map((w) => w % B).join(", ")}.`);
    make("p", {}, answer, way === "one" ? "All lanes read one word: it is sent to all of them at once."
      : most === 1 ? "No bank has to give two different words." : `The busiest bank has ${most} different words to give, one a wavefront.`);
    picture.setAttribute("aria-label", answer.textContent);
  }
  const events = ["width", "padding", "way"].map((key) => `change:${key}`);
  for (const event of events) model.on(event, draw);
  draw();
  return () => { for (const event of events) model.off(event, draw); };
}

export default { render };
