// Warps in a branch or a loop: lanes downwards, steps to the right, a slider for the rule.
// Every position was computed in Python; this only draws.

const SIDES = { then: BLUE, else: ORANGE, turn: BLUE };
const NAMES = { then: "runs the “if” side", else: "runs the “else” side", turn: "runs a turn of the loop" };
const LANES = 32, W = 600, LEFT = 56, CELL = 5, GAP = 26;

function render({ model, el }) {
  const data = model.get("lockstep"), warps = data.stops[0].walks.length;
  const high = LANES * CELL, height = 18 + warps * (high + GAP);
  const step = Math.min(28, (W - LEFT - 4) / Math.max(data.width, 1));
  const root = frame(el, "lockstep", `The lanes of a warp in a ${data.kind}`, W);
  // A rule without a number to change has no slider.
  const stops = data.stops.length > 1 && slider(html("div", { class: "controls" }, root), data.name, { max: data.stops.length - 1 },
    (at) => model.set("stop", at), () => model.save_changes());
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img" }, root);
  const sides = data.kind === "branch" ? ["then", "else"] : ["turn"];
  legend(root, [...sides.map((side) => [SIDES[side], NAMES[side]]), ["none", "waits"]]);
  const answer = html("output", { class: "says" }, root);

  function draw() {
    const at = Math.min(Math.max(model.get("stop"), 0), data.stops.length - 1), stop = data.stops[at];
    if (stops) stops.set(at, stop.label);
    answer.textContent = `${stop.says} (modelled)`;
    picture.setAttribute("aria-label", stop.says);
    picture.replaceChildren();
    svg("text", { x: LEFT, y: 12 }, picture, "time, one step a column →");
    stop.walks.forEach((walk, w) => {
      const top = 18 + w * (high + GAP);
      svg("text", { x: 0, y: top + 12 }, picture, `warp ${w}`);
      svg("text", { x: 0, y: top + 28, class: "tick" }, picture, "32 lanes");
      let waiting = ""; // all that wait are one shape: hundreds of their own take long to draw
      walk.forEach(([side, mask], s) => {
        const x = LEFT + s * step, wide = Math.max(step - 1.5, 1);
        for (let lane = 0; lane < LANES; lane++) {
          const y = top + lane * CELL;
          if ((mask >>> lane) & 1) svg("rect", { x, y, width: wide, height: CELL - 1, fill: SIDES[side] }, picture);
          else waiting += `M${x} ${y}h${wide}v${CELL - 1}h${-wide}z`;
        }
      });
      svg("path", { d: waiting, fill: "none", stroke: "var(--grid)", "stroke-width": 0.6 }, picture);
      const text = walk.length ? plural(walk.length, "step") : "nothing to do";
      svg("text", { x: LEFT, y: top + high + 14 }, picture, text);
    });
  }
  return follow(model, ["stop"], draw);
}

export default { render };
