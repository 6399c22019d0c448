// Sums and scans on a small array.  Every step was computed by Python; the slider chooses one.

const CSS = `
.hetlab-steps text { text-anchor: middle; }
.hetlab-steps .thread { fill: #1a1a1a; font-size: 9px; text-anchor: end; }
.hetlab-steps .stored { fill: #1a1a1a; font-weight: 600; text-anchor: start; }
`;
const CELL = 38, BOX = 23, ROW = 52, TOP = 20;

function render({ model, el }) {
  const data = model.get("steps"), n = data.values.length;
  const root = frame(el, "steps", "A sum or a scan, step by step", n * CELL, CSS);
  const pick = html("div", { class: "pick" }, root);
  const select = choice(pick, "algorithm", Object.keys(data.algorithms).map((name) => [name, name]), (name) => {
    model.set("algorithm", name);
    model.set("step", 1);
    model.save_changes();
  });
  const controls = html("div", { class: "controls" }, root);
  const done = slider(controls, "steps done", {}, (at) => model.set("step", at), () => model.save_changes());
  const picture = svg("svg", { role: "img" }, root);
  legend(root, [[ORANGE, "stored in this step, by thread t"], ["var(--accent)", "read in the last step"]]);
  const answer = html("output", {}, root);

  function row(k, values, threads) {
    const y = TOP + k * ROW;
    values.forEach((value, i) => {
      const stored = threads.has(i), x = i * CELL + 2;
      svg("rect", { x, y, width: CELL - 4, height: BOX, rx: 2, fill: stored ? ORANGE : "none", stroke: "var(--grid)" }, picture);
      svg("text", { x: x + (stored ? 3 : CELL / 2 - 2), y: y + 16, class: stored ? "stored" : "" }, picture, value);
      if (stored) svg("text", { x: x + CELL - 5.5, y: y + 20, class: "thread" }, picture, `t${threads.get(i)}`);
    });
  }
  function draw() {
    const name = model.get("algorithm"), algorithm = data.algorithms[name];
    const last = algorithm.steps.length, step = Math.max(0, Math.min(last, model.get("step")));
    select.value = name;
    done.input.max = last;
    done.set(step, `${step} of ${last}`);
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
            stroke: straight || !now ? "var(--faint)" : "var(--accent)", opacity: now ? 1 : 0.55 }, picture);
        }
      row(k, after, new Map(moves.map(([thread, into]) => [into, thread])));
    }
    answer.textContent = algorithm.told[step];
    picture.setAttribute("aria-label", `${name}. ${algorithm.told[step]} The array: ${(step ? algorithm.steps[step - 1].after : data.values).join(", ")}.`);
  }
  return follow(model, ["algorithm", "step"], draw);
}

export default { render };
