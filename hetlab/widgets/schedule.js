// A schedule: a row a device and a link, zoom, a cursor that plays, and why a device was idle.
// All times and sentences come from Python; nothing here computes what Python does not state.

const CSS = `
.hetlab-gantt .gap { fill: var(--grid); opacity: 0.45; }
.hetlab-gantt .bar, .hetlab-gantt .gap { cursor: pointer; }
.hetlab-gantt .chosen { stroke: var(--ink); stroke-width: 3; }
.hetlab-gantt .critical { stroke: var(--ink); stroke-width: 2; }
.hetlab-gantt .faded { opacity: 0.25; }
.hetlab-gantt .pick { gap: 6px 8px; }
.hetlab-gantt .pick input[type=range] { flex: 1 1 160px; width: auto; }
`;
const W = 820, R = 10, T = 22, ROW = 26, WARM = 90;

function render({ model, el }) {
  const plan = model.get("schedule"), length = plan.length || 1;
  const show = (v) => (plan.unit === "s" ? quantity(v, "s") : String(Number(v.toPrecision(6))));
  const left = Math.min(180, 16 + 8 * Math.max(...plan.rows.map((r) => r.name.length)));
  const warm = Object.entries(plan.degrees), base = T + ROW * plan.rows.length;
  const high = base + 26 + (warm.length ? WARM + 12 : 0);
  const root = frame(el, "gantt", `${plan.title}: ${plan.headline}`, W, CSS);
  const controls = html("div", { class: "pick" }, root);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${high}`, role: "application", tabindex: 0, ...KEYS,
    "aria-label": `${plan.text} Arrow keys go from piece to piece, plus and minus zoom, space plays.` }, root);
  const id = `hetlab-gantt-${Math.random().toString(36).slice(2)}`, defs = svg("defs", {}, picture);
  svg("rect", { x: left, y: 0, width: W - left - R, height: high }, svg("clipPath", { id }, defs));
  const hatch = svg("pattern", { id: `${id}-hatch`, width: 6, height: 6, patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)" }, defs);
  svg("rect", { width: 6, height: 6, fill: "var(--paper)" }, hatch);
  svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, stroke: "var(--faint)", "stroke-width": 3 }, hatch);
  plan.rows.forEach((row, y) => {
    const long = Math.floor((left - 12) / 8);
    const name = row.name.length > long ? `${row.name.slice(0, long - 1)}…` : row.name;
    svg("text", { x: left - 8, y: T + ROW * y + 17, "text-anchor": "end", class: row.device ? "" : "tick" }, picture, name);
  });
  const body = svg("g", { "clip-path": `url(#${id})` }, picture);

  let from = 0, to = length, chosen = null, only = false, timer = null;
  const X = (t) => left + ((t - from) / (to - from)) * (W - left - R);
  const pieces = plan.rows.map((row, y) => [
    ...row.bars.map((b) => ({ ...b, y, sentence: `${b.says}.` })),
    ...row.gaps.map((g) => ({ ...g, y, kind: "gap", sentence: `${row.name} idle, ${show(g.start)} to ${show(g.end)}: `
      + `${plan.why[g.why]}${g.says ? ` (${g.says})` : ""}.` })),
  ].sort((a, b) => a.start - b.start));

  const button = (text, label, action) => {
    const node = html("button", { type: "button", "aria-label": label }, controls, text);
    node.addEventListener("click", action);
    return node;
  };
  const play = button("▶ play", "play the schedule", () => (timer ? stop() : start()));
  const cursor = html("input", { ...KEYS, type: "range", min: 0, max: 1000, step: 1, "aria-label": "time" }, controls);
  button("+", "zoom in", () => zoom(0.5));
  button("−", "zoom out", () => zoom(2));
  button("all", "show everything", () => { from = 0; to = length; draw(); });
  tick(controls, "critical path only", (on) => { only = on; draw(); });
  const answer = html("output", {}, root);

  function zoom(factor) {
    const middle = Math.min(to, Math.max(from, chosen ? (chosen.start + chosen.end) / 2 : model.get("now")));
    const half = Math.min(length, Math.max(length / 1e4, (to - from) * factor)) / 2;
    from = Math.max(0, Math.min(length - 2 * half, middle - half));
    to = from + 2 * half;
    draw();
  }
  function choose(piece) {
    chosen = piece;
    const wide = to - from;
    if (piece.end < from || piece.start > to) {
      from = Math.max(0, Math.min(length - wide, (piece.start + piece.end - wide) / 2));
      to = from + wide;
    }
    answer.textContent = piece.sentence;
    draw();
  }
  function draw() {
    body.replaceChildren();
    const step = [1, 2, 5, 10].map((s) => s * 10 ** Math.floor(Math.log10((to - from) / 8)))
      .find((s) => (to - from) / s <= 8) ?? (to - from) / 8;
    for (let t = Math.ceil(from / step) * step; t <= to * (1 + 1e-9); t += step) {
      svg("line", { x1: X(t), x2: X(t), y1: T, y2: base, stroke: "var(--grid)" }, body);
      const anchor = X(t) > W - 40 ? "end" : X(t) < left + 10 ? "start" : "middle";
      svg("text", { x: X(t), y: base + 16, "text-anchor": anchor, class: "tick" }, body, show(Math.abs(t) < step / 1e6 ? 0 : t));
    }
    for (const piece of pieces.flat()) {
      if (piece.end < from || piece.start > to) continue;
      const x = X(piece.start), wide = Math.max(0.7, X(piece.end) - x), thin = piece.kind === "transfer";
      const gap = piece.kind === "gap", solid = piece.kind === "run" || thin;
      const marks = [gap ? "gap" : "bar"];
      if (piece.critical) marks.push("critical");
      if (only && !piece.critical) marks.push("faded");
      if (piece === chosen) marks.push("chosen");
      const top = T + ROW * piece.y + (thin ? 7 : gap ? 10 : 3), tall = thin ? 11 : gap ? 6 : ROW - 6;
      const node = svg("rect", { x, y: top, width: wide, height: tall, class: marks.join(" "),
        ...(gap ? {} : { fill: solid ? piece.colour : `url(#${id}-hatch)` }) }, body);
      svg("title", {}, node, piece.sentence);
      node.addEventListener("click", () => choose(piece));
      if (solid && !thin && wide > 8 * piece.name.length + 4)
        svg("text", { x: x + wide / 2, y: top + tall / 2 + 4, "text-anchor": "middle", "pointer-events": "none",
          class: only && !piece.critical ? "faded" : "", style: `fill: ${inkOn(piece.colour)}` }, body, piece.name);
    }
    if (warm.length) heat();
    const now = model.get("now");
    if (now >= from && now <= to)
      svg("line", { x1: X(now), x2: X(now), y1: T - 8, y2: high, stroke: VERMILION, "stroke-width": 2 }, body);
    cursor.value = Math.round((1000 * now) / length);
    cursor.setAttribute("aria-valuetext", show(now));
  }
  function heat() {
    const all = warm.flatMap(([, points]) => points.map((p) => p[1]));
    const low = Math.min(...all), top = Math.max(...all, low + 1), y0 = base + 30;
    const Y = (d) => y0 + WARM - ((d - low) / (top - low)) * WARM;
    for (const d of [low, top])
      svg("text", { x: left + 4, y: Y(d) + (d === low ? -3 : 12), class: "tick" }, body, `${Math.round(d)} °C`);
    warm.forEach(([name, points], i) => {
      const d = points.map((p, k) => `${k ? "L" : "M"}${X(p[0]).toFixed(1)},${Y(p[1]).toFixed(1)}`).join("");
      const drawn = { fill: "none", stroke: COLOURS[i % 6], "stroke-width": 2, "stroke-dasharray": ["none", "6 3", "2 3"][i % 3] };
      svg("path", { d, ...drawn }, body);
      const y = y0 + 14 + 16 * i;
      svg("path", { d: `M${W - R - 26} ${y - 4}h22`, ...drawn }, body);
      svg("text", { x: W - R - 31, y, "text-anchor": "end", class: "halo" }, body, name);
    });
  }
  function told() {
    const now = model.get("now");
    const doing = plan.rows.map((row, y) => pieces[y].find((p) => p.kind !== "gap" && p.start <= now && now < p.end))
      .map((p, y) => (p && plan.rows[y].device ? `${plan.rows[y].name} ${p.name}` : null)).filter(Boolean);
    answer.textContent = `At ${show(now)}: ${doing.length ? doing.slice(0, 8).join(", ") : "no device works"}.`;
  }
  function set(now) {
    if (now > to || now < from) { const wide = to - from; from = Math.max(0, Math.min(length - wide, now)); to = from + wide; }
    model.set("now", Math.max(0, Math.min(length, now)));
  }
  function start() {
    // Without motion the button still helps: it goes to the end in one step.
    if (still()) { set(model.get("now") >= length ? 0 : length); return; }
    if (model.get("now") >= length) set(0);
    answer.setAttribute("aria-live", "off"); // twenty sentences a second are no help to anybody
    play.textContent = "❚❚ pause";
    // The whole schedule in ten seconds, whatever its unit.
    timer = setInterval(() => {
      set(model.get("now") + length / 200);
      if (model.get("now") >= length) stop();
    }, 50);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
    answer.setAttribute("aria-live", "polite");
    model.save_changes();
  }
  cursor.addEventListener("input", () => set((cursor.value / 1000) * length));
  cursor.addEventListener("change", () => model.save_changes());
  picture.addEventListener("keydown", (event) => {
    const row = chosen ? chosen.y : 0, at = chosen ? pieces[row].indexOf(chosen) : -1;
    const near = (y) => pieces[y]?.find((p) => p.end > (chosen ? chosen.start : 0)) ?? pieces[y]?.at(-1);
    const go = { ArrowRight: () => pieces[row][at + 1], ArrowLeft: () => pieces[row][at - 1],
      ArrowDown: () => near(row + 1), ArrowUp: () => near(row - 1), Home: () => pieces[row][0], End: () => pieces[row].at(-1) };
    if (event.key in go) { const piece = go[event.key](); if (piece) choose(piece); }
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === " ") timer ? stop() : start();
    else return;
    event.preventDefault();
  });

  const table = html("table", { "aria-label": "devices" }, root), head = html("tr", {}, table);
  const joules = plan.facts.some((f) => f.joules);
  const reasons = Object.keys(plan.why).filter((why) => plan.facts.some((f) => f.idle[why] > 0));
  for (const text of ["device", "busy", ...reasons.map((why) => plan.why[why]), ...(joules ? ["energy"] : [])])
    html("th", { scope: "col", ...(text === "device" ? {} : { class: "n" }) }, head, text);
  for (const fact of plan.facts.slice(0, 32)) {
    const line = html("tr", {}, table);
    const cells = [fact.device, `${Math.round(100 * fact.busy)} %`, ...reasons.map((why) => show(fact.idle[why]))];
    [...cells, ...(joules ? [quantity(fact.joules, "J")] : [])].forEach((text, i) => html("td", i ? { class: "n" } : {}, line, text));
  }
  html("div", {}, root, plan.critical);
  if (plan.left_out) html("div", {}, root, `${plan.left_out.toLocaleString("en-US")} short pieces are left out.`);
  const leave = follow(model, ["now"], () => { told(); draw(); });
  answer.textContent = "Choose a piece with a click or the arrow keys: it says what it is, or why the device was idle.";
  return () => { clearInterval(timer); leave(); };
}

export default { render };
