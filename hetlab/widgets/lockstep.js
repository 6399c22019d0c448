// Warps in a branch or a loop: lanes downwards, steps to the right, a slider for the rule.
// Every position was computed in Python; this only draws.

const CSS = `
.hetlab-lockstep { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); max-width: 760px;
  --ink: var(--jp-ui-font-color1, #222); --faint: var(--jp-ui-font-color2, #666);
  --grid: var(--jp-border-color2, #ddd); --paper: var(--jp-layout-color1, #fff);
  color: var(--ink); background: var(--paper); padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab-lockstep {
  --ink: var(--jp-ui-font-color1, #e6e6e6); --faint: var(--jp-ui-font-color2, #aaa);
  --grid: var(--jp-border-color2, #3c3c3c); --paper: var(--jp-layout-color1, #161616); } }
.hetlab-lockstep svg { width: 100%; height: auto; display: block; }
.hetlab-lockstep text { fill: var(--ink); font-size: 12px; }
.hetlab-lockstep label { display: flex; gap: 10px; align-items: center; flex-wrap: wrap; margin: 4px 0; }
.hetlab-lockstep input { flex: 1 1 180px; max-width: 360px; accent-color: #0072B2; }
.hetlab-lockstep input:focus-visible { outline: 2px solid #56B4E9; outline-offset: 3px; }
.hetlab-lockstep output { display: block; min-height: 1.5em; }
.hetlab-lockstep .key { display: inline-block; width: 12px; height: 12px; margin: 0 5px -1px 12px; }
`;
const COLOURS = { then: "#0072B2", else: "#E69F00", turn: "#0072B2" };
const NAMES = { then: "runs the “if” side", else: "runs the “else” side", turn: "runs a turn of the loop" };
const LANES = 32, W = 600, LEFT = 56, CELL = 5, GAP = 26;

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
  const data = model.get("lockstep"), warps = data.stops[0].walks.length;
  const high = LANES * CELL, height = 18 + warps * (high + GAP);
  const step = Math.min(28, (W - LEFT - 4) / Math.max(data.width, 1));
  const root = html("div", { class: "hetlab-lockstep" }, el);
  html("style", {}, root, CSS);
  const label = data.stops.length > 1 ? html("label", {}, root) : null;
  let slider, value;
  if (label) {
    html("span", {}, label, data.name);
    // JupyterLab takes arrow keys for its cells unless it is told that they are ours.
    slider = html("input", { type: "range", min: 0, max: data.stops.length - 1, step: 1,
      "aria-label": data.name, "data-lm-suppress-shortcuts": "true" }, label);
    value = html("span", {}, label);
  }
  const answer = html("output", { "aria-live": "polite" }, root);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img" }, root);
  const key = html("div", {}, root);
  for (const side of data.kind === "branch" ? ["then", "else"] : ["turn"]) {
    html("span", { class: "key", style: `background:${COLOURS[side]}` }, key);
    html("span", {}, key, NAMES[side]);
  }
  html("span", { class: "key", style: "border:1px solid var(--grid)" }, key);
  html("span", {}, key, "waits");

  function draw() {
    const at = Math.min(Math.max(model.get("stop"), 0), data.stops.length - 1), stop = data.stops[at];
    if (slider) {
      slider.value = at;
      value.textContent = stop.label;
      slider.setAttribute("aria-valuetext", stop.label);
    }
    answer.textContent = `${stop.says} (modelled)`;
    picture.setAttribute("aria-label", stop.says);
    picture.replaceChildren();
    svg("text", { x: LEFT, y: 12 }, picture, "time, one step a column →");
    stop.walks.forEach((walk, w) => {
      const top = 18 + w * (high + GAP);
      svg("text", { x: 0, y: top + 12 }, picture, `warp ${w}`);
      svg("text", { x: 0, y: top + 28, style: "fill:var(--faint);font-size:10px" }, picture, "32 lanes");
      walk.forEach(([side, mask], s) => {
        for (let lane = 0; lane < LANES; lane++) {
          const on = (mask >>> lane) & 1;
          svg("rect", { x: LEFT + s * step, y: top + lane * CELL, width: Math.max(step - 1.5, 1), height: CELL - 1,
            fill: on ? COLOURS[side] : "none", stroke: on ? "none" : "var(--grid)", "stroke-width": 0.6 }, picture);
        }
      });
      const text = walk.length ? `${walk.length} step${walk.length > 1 ? "s" : ""}` : "nothing to do";
      svg("text", { x: LEFT, y: top + high + 14 }, picture, text);
    });
  }
  if (slider) {
    slider.addEventListener("input", () => {
      model.set("stop", Number(slider.value));
      draw();
    });
    slider.addEventListener("change", () => model.save_changes());
  }
  model.on("change:stop", draw);
  draw();
  return () => model.off("change:stop", draw);
}

export default { render };
