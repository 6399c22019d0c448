// The 32 lanes of one request, and the 32-byte sectors of memory that it moves.
// The numbers of sectors come from Python, from the virtual GPU's own counting; here they are drawn.

const CSS = `
.hetlab-access { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-access {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-access svg { width: 100%; height: auto; display: block; }
.hetlab-access text { fill: var(--ink); font-size: 12px; }
.hetlab-access .tick { fill: var(--faint); }
.hetlab-access .on { fill: #fff; font-size: 10px; }
.hetlab-access .controls { display: grid; grid-template-columns: max-content 1fr 5em; gap: 3px 12px; align-items: center; }
.hetlab-access .controls b { text-align: right; font-variant-numeric: tabular-nums; }
.hetlab-access input[type=range] { width: 100%; margin: 2px 0; }
.hetlab-access input { accent-color: #0072B2; }
.hetlab-access select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--faint); border-radius: 4px; padding: 1px 6px; }
.hetlab-access input:focus-visible, .hetlab-access select:focus-visible { outline: 2px solid #56B4E9; outline-offset: 2px; }
.hetlab-access .pick { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 4px 0 8px; }
.hetlab-access .pick label { display: inline-flex; gap: 7px; align-items: center; }
.hetlab-access .key { display: flex; flex-wrap: wrap; gap: 2px 16px; color: var(--faint); margin: 2px 0 6px; }
.hetlab-access .key i { display: inline-block; width: 14px; height: 12px; margin-right: 5px; vertical-align: -1px; border: 1px solid var(--faint); }
.hetlab-access output { display: block; min-height: 3em; font-weight: 600; }
`;
// JupyterLab takes arrow keys for its cells unless it is told that they are ours.
const KEYS = { "data-lm-suppress-shortcuts": "true" };
const BLUE = "#0072B2", ORANGE = "#E69F00", GREEN = "#009E73";
const W = 700, L = 60, CELL = 20, SECTOR = 32, TOP = 4, BELOW = 96;

function node(space, name, attributes, parent, text) {
  const made = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}
const svg = (...all) => node("http://www.w3.org/2000/svg", ...all);
const html = (...all) => node(null, ...all);

function render({ model, el }) {
  const fixed = model.get("fixed");
  const root = html("div", { class: "hetlab-access" }, el);
  html("style", {}, root, CSS);
  const controls = html("div", { class: "controls" }, root), sliders = {}, shown = {};
  for (const [key, label, range] of [["stride", "stride, elements", fixed.strides], ["offset", "offset, elements", fixed.offsets]]) {
    html("span", {}, controls, label);
    sliders[key] = html("input", { ...KEYS, type: "range", min: range[0], max: range[1], step: 1, "aria-label": label }, controls);
    shown[key] = html("b", {}, controls);
    sliders[key].addEventListener("input", () => { model.set(key, Number(sliders[key].value)); draw(); });
    sliders[key].addEventListener("change", () => model.save_changes());
  }
  const pick = html("div", { class: "pick" }, root), choices = {};
  for (const [key, label, values] of [["size", "bytes of an element", fixed.sizes], ["order", "lanes", Object.keys(fixed.orders)]]) {
    const around = html("label", {}, pick);
    html("span", {}, around, label);
    choices[key] = html("select", KEYS, around);
    for (const value of values) html("option", { value }, choices[key], value);
    choices[key].addEventListener("change", () => {
      model.set(key, key === "size" ? Number(choices[key].value) : choices[key].value);
      model.save_changes();
      draw();
    });
  }
  const picture = svg("svg", { viewBox: `0 0 ${W} ${BELOW + 44}`, role: "img" }, root);
  const key = html("div", { class: "key" }, root);
  for (const [colour, text] of [[BLUE, "a lane that asks"], [GREEN, "bytes that were asked for"], [ORANGE, "bytes moved for nothing"]]) {
    const item = html("span", {}, key);
    html("i", { style: `background: ${colour}` }, item);
    html("span", {}, item, text);
  }
  const answer = html("output", {}, root);

  function draw() {
    const [stride, offset, size, order] = ["stride", "offset", "size", "order"].map((name) => model.get(name));
    for (const name of Object.keys(sliders)) {
      sliders[name].value = model.get(name);
      shown[name].textContent = model.get(name);
    }
    for (const name of Object.keys(choices)) choices[name].value = String(model.get(name));
    const addresses = fixed.orders[order].map((at) => (at === null ? null : (offset + at * stride) * size));
    const wanted = addresses.filter((address) => address !== null);
    const touched = [...new Set(wanted.flatMap((a) => {
      const found = [];
      for (let s = Math.floor(a / SECTOR); s <= Math.floor((a + size - 1) / SECTOR); s++) found.push(s);
      return found;
    }))].sort((a, b) => a - b);
    const counted = fixed.table[order][size][stride][offset % (SECTOR / size)];

    picture.replaceChildren();
    const wide = Math.min(84, (W - L) / touched.length), left = new Map(touched.map((s, i) => [s, L + i * wide]));
    svg("text", { x: 0, y: TOP + 13 }, picture, "lanes");
    svg("text", { x: 0, y: BELOW + 14 }, picture, "sectors");
    addresses.forEach((address, lane) => {
      if (address === null) return;
      for (let s = Math.floor(address / SECTOR); s <= Math.floor((address + size - 1) / SECTOR); s++) {
        const middle = Math.min(address + size / 2 - s * SECTOR, SECTOR - 1);
        svg("line", { x1: L + lane * CELL + CELL / 2 - 1, y1: TOP + 18, x2: left.get(s) + (middle / SECTOR) * (wide - 2), y2: BELOW,
          stroke: BLUE, "stroke-width": 0.8, opacity: 0.7 }, picture);
      }
    });
    addresses.forEach((address, lane) => {
      svg("rect", { class: address === null ? "idle" : "lane", x: L + lane * CELL, y: TOP, width: CELL - 2, height: 18,
        fill: address === null ? "none" : BLUE, stroke: "var(--faint)", "stroke-width": 0.7 }, picture);
      if (address !== null) svg("text", { x: L + lane * CELL + CELL / 2 - 1, y: TOP + 13, "text-anchor": "middle", class: "on" }, picture, lane);
    });
    touched.forEach((s, i) => {
      svg("rect", { class: "sector", x: left.get(s), y: BELOW, width: wide - 2, height: 20, fill: ORANGE }, picture);
      if (i && s !== touched[i - 1] + 1)
        svg("line", { x1: left.get(s) - 1, x2: left.get(s) - 1, y1: BELOW - 5, y2: BELOW + 25, stroke: "var(--ink)", "stroke-dasharray": "2 2" }, picture);
    });
    for (const address of new Set(wanted)) for (const s of touched) {
      const from = Math.max(address, s * SECTOR), to = Math.min(address + size, (s + 1) * SECTOR);
      if (from < to) svg("rect", { x: left.get(s) + ((from - s * SECTOR) / SECTOR) * (wide - 2), y: BELOW,
        width: ((to - from) / SECTOR) * (wide - 2), height: 20, fill: GREEN }, picture);
    }
    const last = touched.at(-1);
    svg("text", { x: L, y: BELOW + 38, class: "tick" }, picture, `byte ${touched[0] * SECTOR}`);
    if (touched.length > 4 || wide * touched.length > 190)
      svg("text", { x: left.get(last) + wide - 2, y: BELOW + 38, "text-anchor": "end", class: "tick" }, picture, `byte ${last * SECTOR + SECTOR - 1}`);

    const asked = new Set(wanted).size * size, least = Math.ceil(asked / SECTOR), moved = counted * SECTOR;
    Object.assign(answer.dataset, { counted, drawn: touched.length, asked });
    answer.textContent = `${counted} sector${counted === 1 ? "" : "s"}, ${counted === least ? "as few as can be" : `${least} would be enough`}: `
      + `${asked} B asked for, ${moved} B moved, ${Number(((100 * asked) / moved).toPrecision(3))} % of what is moved is used. (counted)`;
    picture.setAttribute("aria-label", `One request of a warp: elements of ${size} B, stride ${stride}, offset ${offset}, lanes ${order}. ${answer.textContent}`);
  }
  const events = ["stride", "offset", "size", "order"].map((name) => `change:${name}`);
  for (const event of events) model.on(event, draw);
  draw();
  return () => { for (const event of events) model.off(event, draw); };
}

export default { render };
