// Bars of modelled times on a logarithmic scale, and a slider for the size of the problem.
// All times come from Python; the browser only chooses which of them to draw.

const W = 640, L = 60, R = 110, ROW = 30, FOOT = 26;

function render({ model, el }) {
  const data = model.get("sizes"), height = data.names.length * ROW + FOOT;
  const root = frame(el, "sizes", data.title, W);
  const controls = html("div", { class: "controls" }, root);
  const size = slider(controls, "size", { max: data.grid.length - 1 }, (at) => model.set("stop", at), () => model.save_changes());
  const box = tick(html("div", { class: "pick" }, root), "the data lie in main memory", (on) => {
    model.set("host", on);
    model.save_changes();
  });
  const picture = svg("svg", { viewBox: `0 0 ${W} ${height}`, role: "img" }, root);
  const answer = html("output", { class: "says" }, root);
  const list = html("ul", {}, root);
  const every = Object.values(data.times).flatMap((place) => Object.values(place).flat());
  const low = Math.floor(Math.log10(Math.min(...every))), high = Math.ceil(Math.log10(Math.max(...every)));
  const X = (value) => L + ((Math.log10(value) - low) / (high - low)) * (W - L - R);

  function draw() {
    const place = model.get("host") ? "host" : "device", stop = model.get("stop");
    box.checked = model.get("host");
    size.set(stop, `n = ${data.grid[stop].toLocaleString("en-US")} ${data.what}`);
    picture.replaceChildren();
    for (let p = low; p <= high; p += high - low > 8 ? 3 : 2) {
      const x = X(10 ** p), y = height - FOOT;
      svg("line", { x1: x, x2: x, y1: 0, y2: y, stroke: "var(--grid)" }, picture);
      svg("text", { x, y: y + 17, "text-anchor": "middle", class: "tick" }, picture, seconds(10 ** p));
    }
    const now = data.names.map((name) => data.times[place][name][stop]), best = Math.min(...now);
    data.names.forEach((name, i) => {
      const y = i * ROW, first = now[i] === best;
      svg("text", { x: L - 8, y: y + 19, "text-anchor": "end", "font-weight": first ? "bold" : "normal" },
        picture, name);
      svg("rect", { x: L, y: y + 5, width: Math.max(2, X(now[i]) - L), height: ROW - 12, rx: 2,
        fill: COLOURS[i % COLOURS.length] }, picture);
      svg("text", { x: Math.max(L + 2, X(now[i])) + 6, y: y + 19, "font-weight": first ? "bold" : "normal" },
        picture, `${first ? "★ " : ""}${seconds(now[i])}`);
    });
    const at = `n = ${data.grid[stop].toLocaleString("en-US")} ${data.what}`;
    answer.textContent = `${at}: ${data.names[now.indexOf(best)]} is fastest, ${seconds(best)} (modelled).`;
    picture.setAttribute("aria-label", `${data.title}. ${at}: ${data.names.map((name, i) => `${name} ${seconds(now[i])}`).join(", ")}.`);
    list.replaceChildren();
    for (const text of data.verdicts[place]) html("li", {}, list, text);
  }

  return follow(model, ["stop", "host"], draw);
}

export default { render };
