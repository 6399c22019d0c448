// A roofline: logarithmic axes, a slider for the arithmetic intensity, measured points.
// The data come from Python; nothing here computes a figure that Python does not state.

const CSS = `
.hetlab-roof table { width: 100%; }
.hetlab-roof td { border-top: 1px solid var(--grid); }
`;
const W = 600, H = 370, L = 60, R = 14, T = 16, B = 46;

const short = (x) => String(Number(x.toPrecision(3)));

// Colour and shape say the same thing, for those who see one of them only.
function mark(i, x, y, parent) {
  const fill = COLOURS[i % COLOURS.length], style = { fill, stroke: "var(--paper)", "stroke-width": 1.5 };
  if (i % 4 === 0) return svg("circle", { cx: x, cy: y, r: 6, ...style }, parent);
  const shapes = [
    [], [[-6, -6], [6, -6], [6, 6], [-6, 6]], [[0, -7], [7, 6], [-7, 6]], [[0, -8], [7, 0], [0, 8], [-7, 0]],
  ];
  const points = shapes[i % 4].map(([dx, dy]) => `${x + dx},${y + dy}`).join(" ");
  return svg("polygon", { points, ...style }, parent);
}

function render({ model, el }) {
  const roof = model.get("roof");
  const [left, right, bottom, top] = roof.limits;
  const [slopeName, slope] = roof.bandwidths[0], [peakName, peak] = roof.peaks[0];
  const X = (v) => L + (Math.log10(v / left) / Math.log10(right / left)) * (W - L - R);
  const Y = (v) => H - B - (Math.log10(v / bottom) / Math.log10(top / bottom)) * (H - T - B);

  const root = frame(el, "roof", roof.title, W, CSS);
  const control = slider(html("div", { class: "controls" }, root), "arithmetic intensity",
    { min: Math.log10(left), max: Math.log10(right), step: 0.01 },
    (log) => { model.set("intensity", 10 ** log); }, () => model.save_changes());
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": roof.text }, root);
  // Ids are shared by all widgets of a page, so this one's is its own.
  const id = `hetlab-roof-${Math.random().toString(36).slice(2)}`;
  const clip = svg("clipPath", { id }, svg("defs", {}, picture));
  svg("rect", { x: L, y: T, width: W - L - R, height: H - T - B }, clip);

  const axes = svg("g", {}, picture);
  for (let p = Math.round(Math.log10(left)); p <= Math.round(Math.log10(right)); p++) {
    const x = X(10 ** p);
    svg("line", { x1: x, x2: x, y1: T, y2: H - B, stroke: "var(--grid)" }, axes);
    svg("text", { x, y: H - B + 17, "text-anchor": "middle", class: "tick" }, axes, short(10 ** p));
  }
  for (let p = Math.round(Math.log10(bottom)); p <= Math.round(Math.log10(top)); p++) {
    const y = Y(10 ** p);
    svg("line", { x1: L, x2: W - R, y1: y, y2: y, stroke: "var(--grid)" }, axes);
    svg("text", { x: L - 6, y: y + 4, "text-anchor": "end", class: "tick" }, axes, quantity(10 ** p, ""));
  }
  svg("text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, axes,
    "arithmetic intensity (FLOP per byte)");
  svg("text", { x: 14, y: (T + H - B) / 2, "text-anchor": "middle",
    transform: `rotate(-90 14 ${(T + H - B) / 2})` }, axes, "performance (FLOP/s)");

  const lines = svg("g", { "clip-path": `url(#${id})` }, picture);
  const line = (x1, y1, x2, y2, main) => svg("line", { x1: X(x1), y1: Y(y1), x2: X(x2), y2: Y(y2),
    stroke: main ? "var(--ink)" : "var(--faint)", "stroke-width": main ? 2.5 : 1.3,
    "stroke-dasharray": main ? "none" : "6 4" }, lines);
  roof.peaks.forEach(([, v], i) => line(v / slope, v, right, v, i === 0));
  roof.bandwidths.forEach(([, v], i) => line(left, left * v, peak / v, peak, i === 0));

  const guide = svg("line", { y1: T, y2: H - B, stroke: "var(--accent)", "stroke-width": 1.5,
    "stroke-dasharray": "3 3" }, picture);
  const ceilings = svg("g", {}, picture);  // under the points: no name may hide a measurement
  const points = svg("g", {}, picture);
  const labels = svg("g", {}, picture);
  // Boxes [left, top, right, bottom] that a label must not cover.
  const taken = [], wide = (text) => 0.56 * letters(W) * text.length;
  const free = (box) => box[0] > L && box[2] < W - 2 && !taken.some((t) =>
    box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]);
  for (const p of roof.points) {
    const x = X(p.intensity), y = Y(p.flops);
    taken.push([x - 7, y - 7, x + 7, y + 7]);
  }
  roof.peaks.forEach(([name, v]) => {
    // Above or below its line, at the right end or moved left past a point that is in the way.
    const text = `${name}: ${quantity(v, "FLOP/s")}`, long = wide(text);
    const boxes = [0, 40, 80, 120].flatMap((back) => [-17, 4].map((down) =>
      [W - R - 4 - back - long, Y(v) + down, W - R - 4 - back, Y(v) + down + 14]));
    const box = boxes.find(free) ?? boxes[0];
    svg("text", { x: box[2], y: box[1] + 11, "text-anchor": "end", class: "halo" }, ceilings, text);
    taken.push(box, [X(v / slope), Y(v) - 1, W - R, Y(v) + 1]);
  });
  roof.bandwidths.forEach(([name, v], i) => {
    const at = Math.max(left, bottom / v) * 1.6, x = X(at), y = Y(at * v);
    const angle = Math.atan2(Y(at * 2 * v) - y, X(at * 2) - x), side = i === 0 ? -7 : 17;
    const text = `${name}: ${quantity(v, "B/s")}`;
    svg("text", { x, y: y + side, transform: `rotate(${(angle * 180) / Math.PI} ${x} ${y})`, class: "halo" },
      ceilings, text);
    for (let d = 0; d < wide(text); d += 8) {  // a slanted label is a row of small boxes
      const cx = x + d * Math.cos(angle) - (side - 5) * Math.sin(angle);
      const cy = y + d * Math.sin(angle) + (side - 5) * Math.cos(angle);
      taken.push([cx - 6, cy - 6, cx + 6, cy + 6]);
    }
  });
  roof.points.forEach((p, i) => {
    const x = X(p.intensity), y = Y(p.flops), length = wide(p.name);
    if (p.low) svg("line", { x1: x, x2: x, y1: Y(p.low), y2: Y(p.high), "stroke-width": 3,
      stroke: COLOURS[i % COLOURS.length] }, points);
    svg("title", {}, mark(i, x, y, points), `${p.name}: ${p.says}`);
    // Right or left, then below or above, then farther away: the first place that covers nothing.
    const places = [[x + 11, y], [x - 11 - length, y], [x - length / 2, y + 17], [x - length / 2, y - 17]];
    for (const down of [14, -14, 28, -28, 44, -44, 60, -60])
      places.push([x + 11, y + down], [x - 11 - length, y + down], [x + 40, y + down]);
    const boxes = places.map(([from, row]) => [from, row - 7, from + length, row + 7]);
    const box = boxes.find(free) ?? boxes[0];
    const row = box[1] + 7;
    const gap = Math.max(box[0] - x, x - box[2], 0);
    if (Math.abs(row - y) > 20 || gap > 15) svg("line", { x1: x, y1: y, y2: row, 
      x2: Math.min(box[2], Math.max(box[0], x)),
      stroke: "var(--faint)", "stroke-width": 0.8 }, points);
    taken.push(box);
    svg("text", { x: (box[0] + box[2]) / 2, y: box[1] + 11, "text-anchor": "middle", class: "halo" },
      labels, p.name);
  });
  const cursor = svg("circle", { r: 7, fill: "none", stroke: "var(--accent)", "stroke-width": 3 }, picture);
  const answer = html("output", {}, root);

  function show() {
    const at = Math.min(right, Math.max(left, model.get("intensity")));
    const reach = Math.min(peak, slope * at), memory = slope * at < peak;
    control.set(Math.log10(at), `${short(at)} FLOP/B`);
    control.input.setAttribute("aria-valuetext", `${short(at)} FLOP per byte`);
    guide.setAttribute("x1", X(at));
    guide.setAttribute("x2", X(at));
    cursor.setAttribute("cx", X(at));
    cursor.setAttribute("cy", Y(Math.max(bottom, reach)));
    answer.textContent = `At ${short(at)} FLOP/B at most ${quantity(reach, "FLOP/s")} are attainable (modelled): `
      + (memory ? `memory binds (${slopeName}, ${quantity(slope, "B/s")}). More FLOP per byte would help.`
        : `arithmetic binds (${peakName}). Fewer bytes would not help.`)
      + ` They meet at ${short(peak / slope)} FLOP/B.`;
  }
  if (roof.points.length) {
    const table = html("table", { "aria-label": "points on the roofline" }, root);
    roof.points.forEach((p, i) => {
      const row = html("tr", {}, table), cell = html("td", { class: "name" }, row);
      mark(i, 9, 9, svg("svg", { viewBox: "0 0 18 18", style: "width:16px;display:inline;vertical-align:-3px",
        "aria-hidden": "true" }, cell));
      html("span", {}, cell, ` ${p.name}`);
      html("td", { class: "n" }, row, `${short(p.intensity)} FLOP/B`);
      html("td", {}, row, `${quantity(p.flops, "FLOP/s")}${p.label ? ` (${p.label})` : ""}`);
      html("td", {}, row, p.says);
    });
  }
  return follow(model, ["intensity"], show);
}

export default { render };
