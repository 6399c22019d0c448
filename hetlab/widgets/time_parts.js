// Where the time of one measurement went, and what its first call means for a whole program.
// The parts come from Python.  Only the second bar is computed here: once + calls * each.

const W = 600, BAR = 34;

// A stacked bar; a name stands inside a piece that is wide enough for it.
function stack(picture, top, pieces) {
  const total = pieces.reduce((sum, p) => sum + p.seconds, 0) || 1;
  let left = 0;
  for (const piece of pieces) {
    const wide = (piece.seconds / total) * W;
    svg("rect", { x: left, y: top, width: Math.max(wide - 1, 0.8), height: BAR, fill: piece.colour }, picture);
    if (wide > 9 * piece.name.length)
      svg("text", { x: left + wide / 2, y: top + BAR / 2 + 5, "text-anchor": "middle",
        style: `fill: ${inkOn(piece.colour)}` }, picture, piece.name);
    left += wide;
  }
}

function render({ model, el }) {
  const time = model.get("time");
  const total = time.parts.reduce((sum, p) => sum + p.seconds, 0);
  const root = frame(el, "time", `${time.name}: where ${seconds(total)} went, ${time.label}`, W);
  const first = svg("svg", { viewBox: `0 0 ${W} 40`, role: "img", "aria-label": time.text }, root);
  stack(first, 4, time.parts);
  const table = html("table", { "aria-label": "parts of the time" }, root);
  for (const part of time.parts) {
    const row = html("tr", {}, table), name = html("td", {}, row);
    html("i", { style: `background: ${part.colour}` }, name);
    html("span", {}, name, part.name);
    html("td", { class: "n" }, row, seconds(part.seconds));
    html("td", { class: "n" }, row, percent(total ? part.seconds / total : 0));
    html("td", {}, row, part.says);
  }

  // Calls from 1 to 10 000 times the even point, in round numbers.
  const decades = Math.max(4, Math.ceil(Math.log10(time.even)) + 4), stops = [];
  for (let p = 0; p < decades; p++)
    for (const s of p ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 2, 3, 4, 5, 7]) stops.push(Math.round(s * 10 ** p));
  stops.push(10 ** decades);
  const control = slider(html("div", { class: "controls" }, root), "in a program that calls it", { max: stops.length - 1 },
    (at) => model.set("calls", stops[at]), () => model.save_changes());
  const second = svg("svg", { viewBox: `0 0 ${W} 44`, role: "img" }, root);
  const answer = html("output", {}, root);

  function draw() {
    const calls = Math.max(1, model.get("calls")), runs = calls * time.each;
    const all = time.once + runs, share = all ? time.once / all : 0;
    const times = plural(calls, "time");
    control.set(stops.findLastIndex((stop) => stop <= calls), times);
    second.replaceChildren();
    stack(second, 6, [
      { name: "paid once", seconds: time.once, colour: VERMILION },
      { name: "calls", seconds: runs, colour: BLUE }]);
    answer.textContent = `Called ${times}: ${seconds(all)}, of it ${percent(share)} paid once, in the first call `
      + `(modelled: once + calls × median). The two are equal at ${time.even.toLocaleString("en-US")} calls.`;
    second.setAttribute("aria-label", answer.textContent);
  }
  return follow(model, ["calls"], draw);
}

export default { render };
