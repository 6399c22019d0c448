// One scheduler of a GPU that issues from several warps, cycle by cycle.
// The rule is that of hetlab/models/latency.py; a test keeps both alike.

const CSS = `
.hetlab-warps .pick { flex-wrap: nowrap; gap: 8px; }
.hetlab-warps .key svg { display: inline-block; width: 22px; height: 12px; margin-right: 5px; vertical-align: -1px; }
.hetlab-warps output { min-height: 4.4em; }
`;
const W = 700, L = 74, ROW = 17, HEAD = 4;

// The schedule: for each cycle who issued (-1: nobody), for each warp a letter a cycle.
function schedule(warps, latency, work, cycles) {
  const ready = Array(warps).fill(0), done = Array(warps).fill(0), chosen = [];
  const states = Array.from({ length: warps }, () => []);
  let last = 0;
  for (let now = 0; now < cycles; now++) {
    let pick = -1;
    for (let k = 0; k < warps && pick < 0; k++) if (ready[(last + k) % warps] <= now) pick = (last + k) % warps;
    for (let w = 0; w < warps; w++)
      states[w].push(w === pick ? (done[w] === work ? "l" : "a") : ready[w] > now ? "w" : "r");
    chosen.push(pick);
    if (pick < 0) continue;
    const loads = done[pick] === work;
    ready[pick] = now + (loads ? latency : 1);
    done[pick] = loads ? 0 : done[pick] + 1;
    last = pick;
  }
  return { chosen, states };
}
function runs(list) {
  const found = [];
  list.forEach((value, at) => {
    const end = found.at(-1);
    if (end && end[0] === value) end[2] += 1; else found.push([value, at, 1]);
  });
  return found;
}
// One stretch of a warp's row; its shape says what its colour says.
function stretch(parent, state, x, wide, y) {
  if (state === "w") svg("line", { x1: x, x2: x + wide, y1: y + 6, y2: y + 6, stroke: "var(--faint)" }, parent);
  else if (state === "r") svg("rect", { x, y: y + 4, width: wide, height: 5, fill: ORANGE }, parent);
  else svg("rect", { x, y, width: Math.max(wide - 0.4, 0.6), height: 13, fill: state === "l" ? GREEN : BLUE }, parent);
}
function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");
}
const ofWarps = (list) => `warp${list.length > 1 ? "s" : ""} ${listed(list)}`;

function render({ model, el }) {
  const { limits, states: meaning } = model.get("fixed");
  const root = frame(el, "warps", "Warps that take turns", W, CSS);
  const controls = html("div", { class: "controls" }, root), sliders = {};
  const names = { warps: "warps to choose from", latency: "memory latency, cycles", work: "arithmetic between loads" };
  for (const [key, label] of Object.entries(names)) {
    const [min, max] = limits[key];
    sliders[key] = slider(controls, label, { min, max }, (value) => { stop(); model.set("cycle", -1); model.set(key, value); },
      () => model.save_changes());
  }
  const steps = html("div", { class: "pick" }, root);
  const play = html("button", { type: "button" }, steps, "▶ play");
  const next = html("button", { type: "button" }, steps, "one cycle");
  const time = html("input", { ...KEYS, type: "range", min: 0, step: 1, "aria-label": "cycle" }, steps);
  const picture = svg("svg", { role: "img" }, root);
  const key = html("div", { class: "key" }, root);
  for (const [state, text] of [["a", meaning.a], ["l", meaning.l], ["w", meaning.w], ["r", meaning.r]]) {
    const item = html("span", {}, key);
    stretch(svg("svg", { viewBox: "0 0 22 13", "aria-hidden": "true" }, item), state, 0, 22, 0);
    html("span", {}, item, text);
  }
  const answer = html("output", {}, root);
  let timer = null;

  const get = () => ["warps", "latency", "work"].map((name) => model.get(name));
  function length() {
    const [, latency, work] = get();
    return 2 * (work + latency) + work + 3;
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
    answer.setAttribute("aria-live", "polite");
  }
  function step(by) {
    const cycles = length(), at = model.get("cycle");
    const to = (at < 0 ? 0 : at) + by;
    if (to >= cycles) stop();
    model.set("cycle", Math.min(to, cycles));
  }
  play.addEventListener("click", () => {
    if (timer !== null) { stop(); return; }
    if (model.get("cycle") >= length() || model.get("cycle") < 0) model.set("cycle", 0);
    // Without motion the button still helps: it goes to the end in one step.
    if (still()) { model.set("cycle", -1); return; }
    play.textContent = "❚❚ pause";
    answer.setAttribute("aria-live", "off"); // sixteen sentences a second are no help to anybody
    timer = setInterval(() => step(Math.max(1, Math.round(length() / 120))), 60);
  });
  next.addEventListener("click", () => { stop(); step(1); });
  time.addEventListener("input", () => { stop(); model.set("cycle", Number(time.value)); });
  time.addEventListener("change", () => model.save_changes());

  function draw() {
    const [warps, latency, work] = get(), cycles = length();
    const at = model.get("cycle") < 0 ? cycles : Math.min(model.get("cycle"), cycles);
    const { chosen, states } = schedule(warps, latency, work, cycles);
    for (const name of Object.keys(sliders)) sliders[name].set(model.get(name));
    time.max = cycles;
    time.value = at;
    time.setAttribute("aria-valuetext", `after ${at} of ${cycles} cycles`);
    const bottom = HEAD + warps * ROW + 6, x = (cycle) => L + (cycle / cycles) * (W - L - 6);
    picture.setAttribute("viewBox", `0 0 ${W} ${bottom + 36}`);
    picture.replaceChildren();
    states.forEach((row, w) => {
      const y = HEAD + w * ROW;
      svg("text", { x: 0, y: y + 11 }, picture, `warp ${w}`);
      for (const [state, first, count] of runs(row.slice(0, at))) stretch(picture, state, x(first), x(first + count) - x(first), y);
    });
    svg("text", { x: 0, y: bottom + 11 }, picture, "scheduler");
    svg("rect", { x: L, y: bottom, width: W - L - 6, height: 14, fill: "none", stroke: "var(--grid)" }, picture);
    for (const [busy, first, count] of runs(chosen.slice(0, at).map((who) => who >= 0))) {
      const wide = x(first + count) - x(first);
      if (busy) svg("rect", { class: "busy", x: x(first), y: bottom, width: Math.max(wide - 0.4, 0.6), height: 14, fill: "var(--ink)" }, picture);
      else {
        svg("rect", { class: "idle", x: x(first), y: bottom + 1, width: Math.max(wide - 1, 0.6), height: 12, fill: "none", stroke: VERMILION, "stroke-width": 1.5 }, picture);
        if (wide > 32) svg("text", { x: x(first) + wide / 2, y: bottom + 11, "text-anchor": "middle" }, picture, "idle");
      }
    }
    for (let tick = 0; tick <= 4; tick++) {
      const cycle = Math.round((tick * cycles) / 4);
      svg("text", { x: x(cycle), y: bottom + 30, class: "tick", "text-anchor": tick === 4 ? "end" : tick ? "middle" : "start" }, picture,
        tick ? cycle : "cycle 0");
    }
    tell(warps, latency, work, cycles, at, chosen, states);
  }
  function tell(warps, latency, work, cycles, at, chosen, states) {
    const idle = chosen.slice(0, at).filter((who) => who < 0).length;
    const needed = Math.ceil((work + latency) / (work + 1)), share = Math.min(1, (warps * (work + 1)) / (work + latency));
    let now = "";
    if (at > 0 && at < cycles) {
      const t = at - 1, waits = states.flatMap((row, w) => (row[t] === "w" ? [w] : []));
      now = chosen[t] < 0 ? "every warp waits for memory, the scheduler is idle"
        : `warp ${chosen[t]} issues ${states[chosen[t]][t] === "l" ? "its load" : "arithmetic"}${waits.length ? `; ${ofWarps(waits)} wait${waits.length > 1 ? "" : "s"}` : ""}`;
      now = `Cycle ${t}: ${now}.`;
    }
    const sum = warps >= needed ? `No cycle is lost: ${plural(warps, "warp")} hide${warps > 1 ? "" : "s"} ${latency} cycles of latency.`
      : `In the long run the scheduler is busy in ${Math.round(100 * share)} % of all cycles; from ${needed} warps on, no cycle would be lost.`;
    answer.replaceChildren();
    Object.assign(answer.dataset, { idle, cycles, needed, share, chosen: chosen.join(" ") });
    html("p", { class: "says" }, answer, `${sum} (modelled)`);
    html("p", {}, answer, `Idle in ${idle} of the ${at === cycles ? "" : "first "}${at} cycles shown. ${now}`);
    picture.setAttribute("aria-label", `One scheduler, ${warps} warps, memory latency ${latency} cycles, ${work} arithmetic instructions between loads. ${answer.textContent}`);
  }
  const leave = follow(model, ["warps", "latency", "work", "cycle"], draw);
  return () => { stop(); leave(); };
}

export default { render };
