// The occupancy calculator: three sliders, the warp slots of one multiprocessor, and the limits.
// What each resource allows comes from Python as tables; here only the least of them is taken.

const BLOCKS = [BLUE, SKY, GREEN], W = 600;

function render({ model, el }) {
  const tables = model.get("tables");
  const root = frame(el, "occupancy", "Occupancy: how many blocks fit on a multiprocessor", W);
  const chips = Object.entries(tables).map(([name, table]) => [name, table.chip ? `${name} (${table.chip})` : name]);
  const select = choice(html("div", { class: "pick" }, root), "compute capability", chips, (name) => {
    model.set("capability", name);
    model.save_changes();
  });
  const controls = html("div", { class: "controls" }, root), sliders = {};
  for (const [name, text, min, max, step] of [["threads", "threads a block", 32, 1024, 32],
    ["registers", "registers a thread", 16, 255, 1], ["shared", "shared memory a block, KiB", 0, 0, 1]])
    sliders[name] = slider(controls, text, { min, max, step }, (value) => model.set(name, value), () => model.save_changes());
  const picture = svg("svg", { viewBox: `0 0 ${W} 236`, role: "img" }, root);
  const answer = html("output", { class: "says" }, root);

  function compute(threads, registers, shared, table) {
    const warps = Math.ceil(threads / 32);
    const by = [["block slots", table.blocks], ["warp slots", Math.floor(table.warps / warps)],
      ["registers", Math.floor(table.registers[registers - 1] / warps)]];
    if (shared) by.push(["shared memory", table.shared[shared]]);
    const blocks = Math.min(...by.map(([, n]) => n));
    return { by, blocks, warps, resident: blocks * warps, percent: (100 * blocks * warps) / table.warps };
  }
  // One small chart: occupancy when one input varies; a ring marks where it stands now.
  function chart(left, text, values, at, percent) {
    const wide = 176, top = 154, high = 52;
    const x = (i) => left + (wide * i) / Math.max(values.length - 1, 1), y = (p) => top + high * (1 - p / 100);
    svg("line", { x1: left, x2: left + wide, y1: top + high, y2: top + high, stroke: "var(--grid)" }, picture);
    svg("line", { x1: left, x2: left + wide, y1: top, y2: top, stroke: "var(--grid)", "stroke-dasharray": "2 3" },
      picture);
    const path = values.map((p, i) => `${i ? `H${x(i).toFixed(1)}V` : `M${x(i).toFixed(1)} `}${y(p).toFixed(1)}`);
    svg("path", { d: path.join(""), fill: "none", stroke: "var(--accent)", "stroke-width": 2 }, picture);
    svg("circle", { cx: x(at), cy: y(percent), r: 4.5, fill: "var(--paper)", stroke: VERMILION, "stroke-width": 2.5 },
      picture);
    svg("text", { x: left, y: top + high + 16, class: "tick" }, picture, text);
  }

  function draw() {
    const capability = model.get("capability"), table = tables[capability];
    const most = table.shared.length - 1;
    select.value = capability;
    sliders.shared.input.max = most;
    const now = { threads: model.get("threads"), registers: model.get("registers"),
      shared: Math.min(model.get("shared"), most) };
    for (const name of Object.keys(sliders)) sliders[name].set(now[name]);
    const found = compute(now.threads, now.registers, now.shared, table);
    const walls = found.by.filter(([, n]) => n === found.blocks).map(([name]) => name);
    answer.textContent = found.blocks
      ? `Occupancy ${Math.round(found.percent)} % (modelled): ${plural(found.blocks, "block")} of `
        + `${plural(found.warps, "warp")}, ${found.resident} of ${table.warps} warp slots. `
        + (found.resident === table.warps ? "All slots are taken." : `Limited by ${walls.join(" and ")}.`)
      : `Occupancy 0 %: no block fits on the multiprocessor. Limited by ${walls.join(" and ")}.`;
    picture.setAttribute("aria-label", answer.textContent);
    picture.replaceChildren();

    svg("text", { x: 0, y: 12 }, picture, "warp slots of one multiprocessor");
    const columns = 16, cell = 15;
    for (let slot = 0; slot < table.warps; slot++) {
      const x = (slot % columns) * cell, y = 20 + Math.floor(slot / columns) * cell;
      const block = Math.floor(slot / found.warps), taken = slot < found.resident;
      svg("rect", { x, y, width: cell - 2, height: cell - 2, fill: taken ? BLOCKS[block % 3] : "none",
        stroke: taken ? "none" : "var(--faint)", "stroke-width": 0.7 }, picture);
    }
    svg("text", { x: 0, y: 34 + Math.ceil(table.warps / columns) * cell, class: "tick" }, picture,
      "one colour: one block; empty: nobody");
    svg("text", { x: 290, y: 12 }, picture, "blocks that each resource alone allows");
    const top = Math.max(...found.by.map(([, n]) => n), 1);
    found.by.forEach(([name, n], i) => {
      const y = 22 + i * 22, wall = n === found.blocks;
      svg("text", { x: 376, y: y + 11, "text-anchor": "end" }, picture, name);
      svg("rect", { x: 382, y, width: Math.max((110 * n) / top, 1), height: 14, fill: wall ? VERMILION : BLUE },
        picture);
      svg("text", { x: 387 + (110 * n) / top, y: y + 11 }, picture, wall ? `${n}  ← limits` : n);
    });

    svg("text", { x: 0, y: 142 }, picture, "occupancy (0 to 100 %) when one number changes");
    const upTo = (n, f) => Array.from({ length: n }, (_, i) => f(i));
    const percent = (t, r, s) => compute(t, r, s, table).percent;
    chart(4, "threads a block, 32 to 1024", upTo(32, (i) => percent(32 * (i + 1), now.registers, now.shared)),
      now.threads / 32 - 1, found.percent);
    chart(210, "registers a thread, 16 to 255",
      upTo(240, (i) => percent(now.threads, 16 + i, now.shared)), now.registers - 16, found.percent);
    chart(416, `shared memory, 0 to ${most} KiB`, upTo(most + 1, (i) => percent(now.threads, now.registers, i)),
      now.shared, found.percent);
  }
  return follow(model, ["threads", "registers", "shared", "capability"], draw);
}

export default { render };
