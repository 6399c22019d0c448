// Measurements side by side: every sample as a dot under a histogram, median and interval drawn.
// The data come from Python; nothing here computes a figure that Python does not state.

const W = 600, L = 10, R = 16, ROW = 104, FOOT = 46, BINS = 60;

// Round numbers: 1, 2, 5 times a power of ten; about five of them, on either scale.
function ticks(low, high, logarithmic) {
  const found = [];
  if (logarithmic) {
    const steps = high / low > 300 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5];
    for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high); p++)
      for (const s of steps) found.push(s * 10 ** p);
  } else {
    const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  }
  return found.filter((t) => t >= low && t <= high);
}

function render({ model, el }) {
  const spread = model.get("spread");
  const height = spread.rows.length * ROW + FOOT;
  const root = frame(el, "dist", "Measurements side by side", W);
  const rare = spread.whole[1] > spread.focus[1];
  const box = rare && tick(html("div", { class: "pick" }, root), "show the rare slow samples too", (on) => {
    model.set("show_all", on);
    model.save_changes();
  });
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": spread.text }, root);

  function draw() {
    picture.replaceChildren();
    if (box) box.checked = model.get("show_all");
    const all = model.get("show_all"), [low, high] = all ? spread.whole : spread.focus;
    const scale = spread.logarithmic ? Math.log : (v) => v;
    const part = (v) => (scale(v) - scale(low)) / (scale(high) - scale(low));
    const X = (v) => L + part(v) * (W - L - R);
    const base = height - FOOT;
    const marks = ticks(low, high, spread.logarithmic);
    const digits = spread.logarithmic ? 2 : Math.max(3, Math.ceil(Math.log10(high / (high - low))) + 2);
    for (const t of marks) {
      svg("line", { x1: X(t), x2: X(t), y1: 4, y2: base, stroke: "var(--grid)" }, picture);
      svg("text", { x: Math.min(W - 30, Math.max(26, X(t))), y: base + 17, "text-anchor": "middle",
        class: "tick" }, picture, seconds(t, digits));
    }
    svg("text", { x: W / 2, y: height - 8, "text-anchor": "middle" }, picture,
      `time a call${spread.logarithmic ? ", logarithmic" : ""}; line: median, band: ${spread.confidence} interval, dots: samples`);
    spread.rows.forEach((row, i) => {
      const colour = COLOURS[i % COLOURS.length], top = i * ROW, floor = top + 68;
      const counts = new Array(BINS).fill(0), inside = row.samples.filter((s) => s >= low && s <= high);
      for (const s of inside) counts[Math.min(BINS - 1, Math.floor(part(s) * BINS))] += 1;
      const most = Math.max(1, ...counts), step = (W - L - R) / BINS;
      if (row.interval) {
        const [a, b] = row.interval.map((v) => X(Math.min(high, Math.max(low, v))));
        svg("rect", { x: a, y: top + 26, width: Math.max(1, b - a), height: ROW - 32, fill: "var(--ink)",
          opacity: 0.16 }, picture);
      }
      counts.forEach((c, k) => c && svg("rect", { x: L + k * step, y: floor - (c / most) * 40, width: step - 0.5,
        height: (c / most) * 40, fill: colour, opacity: 0.7 }, picture));
      row.samples.forEach((s, k) => s >= low && s <= high && svg("circle", { cx: X(s), r: 2.2, fill: colour,
        cy: floor + 5 + 24 * ((k * 0.6180339887498949) % 1), opacity: 0.85 }, picture));
      svg("line", { x1: L, x2: W - R, y1: floor, y2: floor, stroke: "var(--faint)", "stroke-width": 0.6 }, picture);
      svg("line", { x1: X(row.median), x2: X(row.median), y1: top + 26, y2: top + ROW - 6, stroke: "var(--ink)",
        "stroke-width": 2 }, picture);
      const beyond = row.samples.length - inside.length;
      svg("text", { x: L, y: top + 18 }, picture, row.says + (beyond ? `; ${beyond} slower →` : ""));
    });
  }

  if (spread.notes.length) {
    const list = html("ul", {}, root);
    for (const note of spread.notes) html("li", {}, list, note);
  }
  return follow(model, ["show_all"], draw);
}

export default { render };
