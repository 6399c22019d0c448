// The 32 lanes of one request, and the 32-byte sectors of memory that it moves.
// The numbers of sectors come from Python, from the virtual GPU's own counting; here they are drawn.

const CSS = `
.hetlab-access .on { fill: #fff; font-size: 10px; }
`;
const W = 700, L = 60, CELL = 20, SECTOR = 32, TOP = 4, BELOW = 96;

function render({ model, el }) {
  const fixed = model.get("fixed");
  const root = frame(el, "access", "One request of a warp, and the sectors that it moves", W, CSS);
  const controls = html("div", { class: "controls" }, root), sliders = {};
  for (const [key, [min, max]] of [["stride", fixed.strides], ["offset", fixed.offsets]])
    sliders[key] = slider(controls, `${key}, elements`, { min, max }, (value) => model.set(key, value), () => model.save_changes());
  const pick = html("div", { class: "pick" }, root), choices = {};
  for (const [key, label, values] of [["size", "bytes of an element", fixed.sizes], ["order", "lanes", Object.keys(fixed.orders)]])
    choices[key] = choice(pick, label, values.map((value) => [value, value]), (value) => {
      model.set(key, key === "size" ? Number(value) : value);
      model.save_changes();
    });
  const picture = svg("svg", { viewBox: `0 0 ${W} ${BELOW + 44}`, role: "img" }, root);
  legend(root, [[BLUE, "a lane that asks"], [GREEN, "bytes that were asked for"], [ORANGE, "bytes moved for nothing"]]);
  const answer = html("output", { class: "says" }, root);

  function draw() {
    const [stride, offset, size, order] = ["stride", "offset", "size", "order"].map((name) => model.get(name));
    for (const name of Object.keys(sliders)) sliders[name].set(model.get(name));
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
          stroke: "var(--accent)", "stroke-width": 0.8 }, picture);
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
    answer.textContent = `${plural(counted, "sector")}, ${counted === least ? "as few as can be" : `${least} would be enough`}: `
      + `${asked} B asked for, ${moved} B moved, ${Number(((100 * asked) / moved).toPrecision(3))} % of what is moved is used. (counted)`;
    picture.setAttribute("aria-label", `One request of a warp: elements of ${size} B, stride ${stride}, offset ${offset}, lanes ${order}. ${answer.textContent}`);
  }
  return follow(model, ["stride", "offset", "size", "order"], draw);
}

export default { render };
