// What all widgets share: one look, one set of colours, and a few helpers.
// Python puts this text before each widget's own: nothing is built, nothing is fetched.

// M. Okabe, K. Ito, "Color universal design", 2008; the order is that of palette.py.
const BLUE = "#0072B2", VERMILION = "#D55E00", GREEN = "#009E73", PURPLE = "#CC79A7", ORANGE = "#E69F00", SKY = "#56B4E9";
const COLOURS = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY];
// Text on a filled shape: at least 4.5 to 1 on each of the colours.
const inkOn = (colour) => (colour === BLUE ? "#fff" : "#111");
// JupyterLab takes arrow keys for its cells unless it is told that they are ours.
const KEYS = { "data-lm-suppress-shortcuts": "true" };

// Jupyter's own colours where there are any, then VS Code's, then the system's light or dark.
const LOOK = `
.hetlab { --accent: ${BLUE}; --ink0: #222; --faint0: #666; --grid0: #ddd; --paper0: #fff;
  --ink: var(--jp-ui-font-color1, var(--vscode-editor-foreground, var(--ink0)));
  --faint: var(--jp-ui-font-color2, var(--vscode-descriptionForeground, var(--faint0)));
  --grid: var(--jp-border-color2, var(--grid0));
  --paper: var(--jp-layout-color1, var(--vscode-editor-background, var(--paper0)));
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); color: var(--ink); background: var(--paper);
  max-width: 760px; padding: 8px; border-radius: 4px; }
@media (prefers-color-scheme: dark) { .hetlab { --accent: ${SKY}; --ink0: #e6e6e6; --faint0: #aaa; --grid0: #3c3c3c; --paper0: #161616; } }
[data-jp-theme-light="true"] .hetlab, .vscode-light .hetlab { --accent: ${BLUE}; }
[data-jp-theme-light="false"] .hetlab, .vscode-dark .hetlab { --accent: ${SKY}; }
.hetlab svg { width: 100%; height: auto; display: block; }
.hetlab text { fill: var(--ink); font-size: var(--letters); }
.hetlab .tick { fill: var(--faint); }
.hetlab .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.hetlab .title { font-weight: 600; margin-bottom: 2px; }
.hetlab .controls { display: grid; grid-template-columns: max-content minmax(80px, 1fr) minmax(4em, max-content);
  gap: 3px 12px; align-items: center; margin: 4px 0; }
.hetlab .controls label { display: contents; }
.hetlab .controls b { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
.hetlab .pick { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; margin: 4px 0; }
.hetlab .pick label { display: inline-flex; gap: 7px; align-items: center; }
.hetlab input { accent-color: var(--accent); margin: 3px 0; }
.hetlab input[type=range] { width: 100%; }
.hetlab select, .hetlab button { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--faint);
  border-radius: 4px; padding: 2px 8px; }
.hetlab button { cursor: pointer; white-space: nowrap; }
.hetlab :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.hetlab .key { display: flex; flex-wrap: wrap; gap: 2px 16px; color: var(--faint); margin: 2px 0 6px; }
.hetlab .key i, .hetlab td i { display: inline-block; width: 14px; height: 12px; margin-right: 6px; vertical-align: -1px;
  border: 1px solid var(--faint); border-radius: 2px; }
.hetlab output { display: block; margin: 4px 0; min-height: 2.9em; }
.hetlab p { margin: 0 0 3px; }
.hetlab .says { font-weight: 600; }
.hetlab ul { margin: 6px 0 0; padding-left: 20px; }
.hetlab table { border-collapse: collapse; margin: 4px 0; font-size: 13px; }
.hetlab tr { background: none; }
.hetlab td.n, .hetlab td.name { white-space: nowrap; }
.hetlab td, .hetlab th { text-align: left; vertical-align: top; padding: 2px 12px 2px 0; border: 0; color: var(--ink); font-weight: normal; }
.hetlab th { color: var(--faint); }
.hetlab .n { text-align: right; font-variant-numeric: tabular-nums; }
`;

function node(space, name, attributes, parent, text) {
  const made = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}
const svg = (...all) => node("http://www.w3.org/2000/svg", ...all);
const html = (...all) => node(null, ...all);

// The widget's box; `wide` is the width of its picture's viewBox: text in it is as tall as text beside it
// when the box is as wide as it can be.
const letters = (wide) => (13 * wide) / 744;
function frame(el, name, title, wide, css = "") {
  const root = html("div", { class: `hetlab-${name} hetlab`, role: "group", "aria-label": title,
    style: `--letters: ${letters(wide).toFixed(2)}px` }, el);
  html("style", {}, root, LOOK + css);
  html("div", { class: "title" }, root, title);
  return root;
}
// One row of the controls: its name, the slider, its value in words.
function slider(controls, name, attributes, move, settle) {
  const label = html("label", {}, controls);
  html("span", {}, label, name);
  const input = html("input", { ...KEYS, type: "range", min: 0, step: 1, "aria-label": name, ...attributes }, label);
  const value = html("b", {}, label);
  input.addEventListener("input", () => move(Number(input.value)));
  input.addEventListener("change", settle);
  const set = (at, words = String(at)) => {
    input.value = at;
    value.textContent = words;
    input.setAttribute("aria-valuetext", words);
  };
  return { input, set };
}
// A list to choose from: `options` are pairs of a value and its words.
function choice(parent, name, options, chosen) {
  const label = html("label", {}, parent);
  html("span", {}, label, name);
  const select = html("select", KEYS, label);
  for (const [value, words] of options) html("option", { value }, select, words);
  select.addEventListener("change", () => chosen(select.value));
  return select;
}
function tick(parent, name, ticked) {
  const label = html("label", {}, parent);
  const box = html("input", { ...KEYS, type: "checkbox" }, label);
  html("span", {}, label, name);
  box.addEventListener("change", () => ticked(box.checked));
  return box;
}
// What the colours mean, in words: pairs of a colour and its meaning.
function legend(root, pairs) {
  const key = html("div", { class: "key" }, root);
  for (const [colour, meaning] of pairs) {
    const item = html("span", {}, key);
    html("i", { style: `background: ${colour}` }, item);
    html("span", {}, item, meaning);
  }
}
// Draw now, and again whenever one of these values changes; gives what the front end calls at the end.
function follow(model, names, draw) {
  for (const name of names) model.on(`change:${name}`, draw);
  draw();
  return () => { for (const name of names) model.off(`change:${name}`, draw); };
}
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];
function quantity(value, unit, digits = 3) {
  if (!(Math.abs(value) > 0)) return `0 ${unit}`.trim();
  const known = unit === "s" ? PREFIXES.slice(4) : PREFIXES; // nobody says kiloseconds
  const [scale, prefix] = known.find(([s]) => Math.abs(value) >= s * 0.9995) ?? known.at(-1);
  return `${Number((value / scale).toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: 15 })} ${prefix}${unit}`.trim();
}
const seconds = (value, digits = 3) => quantity(value, "s", digits);
const plural = (count, word) => `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
const percent = (share) => `${share > 0 && share < 0.005 ? "under 1" : Math.round(100 * share)} %`;
