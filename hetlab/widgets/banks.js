// Shared memory as rows of 32 words, one column a bank, and the words that one warp reads.
// The wavefronts were counted by Python, with the code that counts for every report.

const CSS = `
.hetlab-banks .lane { font-size: 9.5px; text-anchor: middle; }
.hetlab-banks output { min-height: 4.4em; }
.hetlab-banks .says.slow { border-left: 4px solid #D55E00; padding-left: 8px; }
.hetlab-banks .says.free { border-left: 4px solid #0072B2; padding-left: 8px; }
`;
const CELL = 19, H = 12, TOP = 20;

function render({ model, el }) {
  const data = model.get("banks"), B = data.banks;
  const root = frame(el, "banks", "The banks of shared memory", B * CELL, CSS);
  const controls = html("div", { class: "controls" }, root), sliders = {};
  for (const [key, text] of [["width", "elements of a row"], ["padding", "padding"]]) {
    const [min, max] = data.limits[key];
    sliders[key] = slider(controls, text, { min, max }, (value) => model.set(key, value), () => model.save_changes());
  }
  const pick = html("div", { class: "pick" }, root);
  const ways = choice(pick, "the warp reads", Object.entries(data.ways), (value) => { model.set("way", value); model.save_changes(); });
  const picture = svg("svg", { role: "img" }, root);
  legend(root, [[BLUE, "a word that a lane reads"], [VERMILION, "a word of a bank with several to give"]]);
  const answer = html("output", {}, root);

  function draw() {
    const width = model.get("width"), padding = model.get("padding"), way = model.get("way");
    const stride = { column: width + padding, row: 1, one: 0 }[way];
    const counted = way === "column" ? data.wavefronts.column[stride] : data.wavefronts[way];
    for (const key of Object.keys(sliders)) sliders[key].set(model.get(key));
    ways.value = way;
    const lanes = new Map();
    for (let lane = 0; lane < 32; lane++) lanes.set(lane * stride, [...(lanes.get(lane * stride) ?? []), lane]);
    const busy = Array(B).fill(0);
    for (const word of lanes.keys()) busy[word % B] += 1;
    const rows = Math.floor((31 * stride) / B) + 1, height = TOP + rows * H + 6;
    picture.setAttribute("viewBox", `0 0 ${B * CELL + 2} ${height}`);
    picture.replaceChildren();
    for (let bank = 0; bank < B; bank += 4)
      svg("text", { x: bank * CELL + 2, y: 12, class: "tick" }, picture, bank ? `${bank}` : "bank 0");
    let empty = ""; // all empty cells are one shape: a thousand of their own take long to draw
    for (let row = 0; row < rows; row++)
      for (let bank = 0; bank < B; bank++) {
        const mine = lanes.get(row * B + bank), x = bank * CELL + 1, y = TOP + row * H;
        if (!mine) {
          empty += `M${x} ${y}h${CELL - 2}v${H - 1.5}h${2 - CELL}z`;
          continue;
        }
        const fill = busy[bank] > 1 ? VERMILION : BLUE;
        svg("rect", { x, y, width: CELL - 2, height: H - 1.5, fill, stroke: "var(--grid)", "stroke-width": 0.7 }, picture);
        svg("text", { x: x + CELL / 2 - 1, y: y + H - 3.2, class: "lane", style: `fill: ${inkOn(fill)}` }, picture, mine.length > 1 ? "all" : mine[0]);
      }
    svg("path", { d: empty, fill: "none", stroke: "var(--grid)", "stroke-width": 0.7 }, picture);
    const most = Math.max(...busy);
    answer.replaceChildren();
    answer.dataset.wavefronts = counted;
    answer.dataset.busiest = most;
    const turns = counted === 1 ? "1 wavefront, no bank conflict"
      : `${counted} wavefronts, ${counted - 1} of them because of bank conflicts`;
    html("p", { class: `says ${counted > 1 ? "slow" : "free"}` }, answer, `${turns} (counted)`);
    const words = [0, 1, 2, 3].map((lane) => lane * stride);
    html("p", {}, answer, `tile = cuda.shared.array((32, ${width + padding}), float32); lanes 0, 1, 2, 3 read the words `
      + `${words.join(", ")}, which lie in the banks ${words.map((w) => w % B).join(", ")}.`);
    html("p", {}, answer, way === "one" ? "All lanes read one word: it is sent to all of them at once."
      : most === 1 ? "No bank has to give two different words." : `The busiest bank has ${most} different words to give, one a wavefront.`);
    picture.setAttribute("aria-label", answer.textContent);
  }
  return follow(model, ["width", "padding", "way"], draw);
}

export default { render };
