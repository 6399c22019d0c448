// A benchmark to wreck.  All samples were measured by Python; the switches choose among them, and
// what a report would say is computed here from the chosen ones.

const CSS = `
.hetlab-wreck fieldset { border: 1px solid var(--grid); border-radius: 4px; margin: 0 0 8px; padding: 4px 10px 8px;
  display: grid; grid-template-columns: repeat(auto-fit, minmax(250px, 1fr)); gap: 3px 14px; }
.hetlab-wreck legend { padding: 0 6px; font-weight: 600; color: var(--ink); font-size: 13px; }
.hetlab-wreck fieldset label { display: flex; gap: 7px; align-items: center; }
.hetlab-wreck output { min-height: 7.5em; }
.hetlab-wreck .says.false { border-left: 4px solid #E69F00; padding-left: 8px; }
`;
const W = 600, L = 84, R = 14, ROW = 60, AXIS = 2 * ROW + 8, SCALE = AXIS + 88, HEIGHT = SCALE + 48;
const TINY = 1e-9; // a clock that did not tick between two readings: count its nanosecond

const times = (x) => x >= 100 ? `${Math.round(x).toLocaleString("en-US")}x` : `${x.toFixed(x >= 10 ? 1 : 2)}x`;
const mean = (list) => Math.max(TINY, list.reduce((sum, x) => sum + x, 0) / list.length);
const ascending = (list) => [...list].sort((a, b) => a - b);
function median(list) {
  const s = ascending(list), h = s.length >> 1;
  return s.length % 2 ? s[h] : (s[h - 1] + s[h]) / 2;
}
function powers(low, high) {
  const found = [];
  const step = Math.log10(high / low) > 7 ? 2 : 1;
  for (let p = Math.ceil(Math.log10(low)); p <= Math.log10(high); p += step) found.push(10 ** p);
  return found;
}

// What the chosen samples say: the ratio of the means, and the median of the ratios with its interval.
function conclude(wreck, on) {
  const series = wreck.series[`${on.dropped ? "dropped" : "used"} ${on.cold ? "cold" : "warm"}`];
  const begin = (on.no_warmup ? 0 : wreck.warm) + (on.few ? on.start : 0);
  const count = on.few ? wreck.few : wreck.rounds;
  const [old, fresh] = [wreck.old, wreck.new].map((name) => series[name].slice(begin, begin + count));
  const logs = ascending(old.map((a, i) => Math.log(Math.max(a, TINY) / Math.max(fresh[i], TINY))));
  const k = wreck.ranks[count];
  return { old, fresh, count, quick: mean(old) / mean(fresh), value: Math.exp(median(logs)),
    low: k ? Math.exp(logs[k - 1]) : null, high: k ? Math.exp(logs[count - k]) : null };
}
function claim(wreck, ratio) {
  return `${wreck.new} is ${times(Math.max(ratio, 1 / ratio))} ${ratio >= 1 ? "faster" : "slower"}`;
}
function allowed(wreck, found) {
  if (found.low === null)
    return `${found.count} rounds: too few for an interval at 99 %. Nothing may be concluded.`;
  const range = found.value >= 1 ? [found.low, found.high] : [1 / found.high, 1 / found.low];
  const ends = `${times(range[0])} to ${times(range[1])}`;
  if (found.low <= 1 && found.high >= 1) return `${found.count} rounds: no difference seen (${times(found.low)} to ${times(found.high)}).`;
  return `${found.count} rounds: the median of the ratios says ${claim(wreck, found.value).replace(`${wreck.new} is `, "")} (${ends}, 99 % interval).`;
}
function why(wreck, on) {
  const said = [];
  if (on.no_warmup) said.push("The first call compiles. It is one sample among the others; the mean gives it its full weight, the median of many does not.");
  if (on.dropped) said.push("The compiler has removed the loop, because nobody uses its result. What is timed is an empty call.");
  if (on.cold) said.push("Both programs fetch the series from far away first. That is right only if your program does so too.");
  if (on.few) said.push("Move the slider: the same machine, another report.");
  return said.length ? said.join(" ") : "No mistake is switched on. Turn on one at a time, then several.";
}

function render({ model, el }) {
  const wreck = model.get("wreck"), careful = conclude(wreck, {});
  const root = frame(el, "wreck", "A benchmark to wreck", W, CSS);
  const set = html("fieldset", {}, root), boxes = {};
  html("legend", {}, set, "mistakes to switch on");
  for (const [key, text] of Object.entries(wreck.switches))
    boxes[key] = tick(set, text, (on) => { model.set(key, on); model.save_changes(); });
  const which = html("div", { class: "controls" }, root);
  const runs = slider(which, "which runs", { max: wreck.rounds - wreck.few }, (at) => model.set("start", at), () => model.save_changes());
  const picture = svg("svg", { viewBox: `0 0 ${W} ${HEIGHT}`, role: "img" }, root);
  const answer = html("output", {}, root);

  const log = (v, [low, high]) => L + ((Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (W - L - R);
  const ends = [wreck.limits[0] / 1.5, wreck.limits[1] * 1.5], ratios = [wreck.ratios[0] / 2, wreck.ratios[1] * 2];

  function samples(name, row, taken) {
    const colour = COLOURS[row], top = row * ROW + 6, middle = top + 26;
    svg("text", { x: 0, y: middle + 5 }, picture, name);
    taken.forEach((s, i) => svg("circle", { cx: log(Math.max(s, TINY), ends), r: 3, fill: colour, opacity: 0.65,
      cy: middle - 18 + 36 * ((i * 0.6180339887498949) % 1) }, picture));
    const m = log(mean(taken), ends);
    svg("path", { d: `M${m} ${middle - 9} l9 9 l-9 9 l-9 -9 z`, fill: "none", stroke: "var(--ink)", "stroke-width": 2 }, picture);
    const x = log(Math.max(TINY, median(taken)), ends);
    svg("line", { x1: x, x2: x, y1: top, y2: top + 52, stroke: "var(--ink)", "stroke-width": 2 }, picture);
  }
  function draw() {
    const on = Object.fromEntries([...Object.keys(wreck.switches), "start"].map((key) => [key, model.get(key)]));
    const found = conclude(wreck, on);
    for (const key of Object.keys(boxes)) boxes[key].checked = on[key];
    which.style.visibility = on.few ? "visible" : "hidden";
    runs.set(on.start, `${on.start + 1} to ${on.start + wreck.few}`);
    picture.replaceChildren();
    for (const t of powers(...ends)) {
      svg("line", { x1: log(t, ends), x2: log(t, ends), y1: 4, y2: AXIS, stroke: "var(--grid)" }, picture);
      svg("text", { x: Math.min(W - 22, log(t, ends)), y: AXIS + 15, "text-anchor": "middle", class: "tick" }, picture, seconds(t));
    }
    samples(wreck.old, 0, found.old);
    samples(wreck.new, 1, found.fresh);
    svg("text", { x: W, y: AXIS + 34, "text-anchor": "end", class: "tick" }, picture,
      `time a call, ${wreck.label}; dots: samples, line: median, diamond: mean`);

    for (const t of powers(...ratios)) {
      svg("line", { x1: log(t, ratios), x2: log(t, ratios), y1: SCALE - 20, y2: SCALE + 12, stroke: t === 1 ? "var(--ink)" : "var(--grid)",
        "stroke-width": t === 1 ? 1.5 : 1 }, picture);
      svg("text", { x: Math.min(W - 22, log(t, ratios)), y: SCALE + 27, "text-anchor": "middle", class: "tick" }, picture,
        t >= 1 ? `${t.toLocaleString("en-US")}x` : `1/${Math.round(1 / t).toLocaleString("en-US")}x`);
    }
    svg("text", { x: 0, y: SCALE }, picture, "faster by");
    if (found.low !== null) {
      const a = log(found.low, ratios), b = log(found.high, ratios);
      svg("rect", { x: a - 1, y: SCALE - 12, width: Math.max(3, b - a + 2), height: 16, fill: COLOURS[0], opacity: 0.6 }, picture);
    }
    const c = log(careful.value, ratios), q = log(found.quick, ratios);
    svg("circle", { cx: c, cy: SCALE - 4, r: 9, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }, picture);
    svg("path", { d: `M${q} ${SCALE - 10} l6 6 l-6 6 l-6 -6 z`, fill: COLOURS[1] }, picture);
    svg("text", { x: W, y: SCALE + 44, "text-anchor": "end", class: "tick" }, picture,
      "diamond: the report, bar: what the rounds allow, ring: careful benchmark");

    const inside = careful.low <= found.quick && found.quick <= careful.high;
    answer.replaceChildren();
    for (const [key, value] of Object.entries({ quick: found.quick, value: found.value, low: found.low, high: found.high }))
      answer.dataset[key] = value ?? "";
    html("p", { class: `says ${inside}` }, answer, `Your report: ${claim(wreck, found.quick)}.`);
    html("p", {}, answer, allowed(wreck, found));
    html("p", {}, answer, why(wreck, on));
    picture.setAttribute("aria-label", answer.textContent);
  }
  return follow(model, [...Object.keys(wreck.switches), "start"], draw);
}

export default { render };
