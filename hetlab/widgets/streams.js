// Copies and kernels in streams: a slider for the chunks, a choice of streams, pinned or not.
// Every timeline was computed in Python; this only draws the chosen one.

const W = 600, LEFT = 62, ROW = 34;

function render({ model, el }) {
  const data = model.get("stories");
  const change = (name, value) => { model.set(name, value); model.save_changes(); };
  const root = frame(el, "streams", data.title, W);
  const controls = html("div", { class: "controls" }, root);
  const count = slider(controls, "chunks", { max: data.chunks.length - 1 }, (at) => model.set("chunk", at), () => model.save_changes());
  const pick = html("div", { class: "pick" }, root);
  const select = choice(pick, "streams", data.streams.map((n) => [n, n]), (n) => change("lanes", Number(n)));
  const box = tick(pick, "pinned memory", (on) => change("pinned", on));
  const high = 24 + ROW * Math.max(...data.streams);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${high + 24}`, role: "img" }, root);
  legend(root, Object.entries(data.colours).map(([engine, colour]) => [colour, engine]));
  const answer = html("output", { class: "says" }, root);

  // A round distance between marks of the clock, at most eight of them.
  const rough = data.longest / 7, power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough);

  function draw() {
    const at = Math.min(Math.max(model.get("chunk"), 0), data.chunks.length - 1);
    const lanes = model.get("lanes"), pinned = model.get("pinned");
    const state = data.states.find((s) => s.chunks === data.chunks[at] && s.streams === lanes && s.pinned === pinned)
      ?? data.states[0];
    count.set(at, String(data.chunks[at]));
    select.value = lanes;
    box.checked = pinned;
    answer.textContent = state.says;
    picture.setAttribute("aria-label", state.says);
    picture.replaceChildren();
    const X = (t) => LEFT + (t / data.longest) * (W - LEFT - 8);
    for (let t = 0; t <= data.longest * 1.0001; t += unit) {
      svg("line", { x1: X(t), x2: X(t), y1: 6, y2: high, stroke: "var(--grid)" }, picture);
      svg("text", { x: X(t), y: high + 16, "text-anchor": "middle", class: "tick" },
        picture, seconds(t));
    }
    const end = Math.max(...state.pieces.map((p) => p[4]));
    svg("line", { x1: X(end), x2: X(end), y1: 2, y2: high, stroke: "var(--ink)", "stroke-width": 1.5,
      "stroke-dasharray": "4 3" }, picture);
    for (let row = 0; row < lanes; row++)
      svg("text", { x: 0, y: 14 + row * ROW + 16 }, picture, `stream ${row + 1}`);
    for (const [name, engine, stream, start, stop] of state.pieces) {
      const x = X(start), wide = X(stop) - x, y = 14 + (Number(stream) - 1) * ROW;
      const bar = svg("rect", { x, y, width: Math.max(wide - 1, 0.7), height: ROW - 10, rx: 2,
        fill: data.colours[engine] }, picture);
      svg("title", {}, bar, `${engine} ${name}: ${seconds(start)} to ${seconds(stop)}`);
      if (wide > 7.5 * name.length)
        svg("text", { x: x + wide / 2, y: y + 16, "text-anchor": "middle",
          style: `fill: ${inkOn(data.colours[engine])}` }, picture, name);
    }
  }
  return follow(model, ["chunk", "lanes", "pinned"], draw);
}

export default { render };
