// Controls, tables and charts of the widgets that compute in the page. common.js stands in front of it.

/** A slider with its name and what it stands at. shown: the value as text. */
function slider(name, { value, low, high, step }, shown, changed) {
  const output = h("output", { "aria-live": "off" }, shown(value)); // the slider says it already
  const input = h("input", {
    type: "range",
    min: low,
    max: high,
    step,
    "aria-label": name,
    oninput: () => {
      changed(Number(input.value));
    },
  });
  const line = h("label", { class: "sdl-control" }, span("", name), input, output);
  line.read = (wanted) => (wanted !== "" && wanted >= low && wanted <= high ? Number(wanted) : undefined);
  line.refresh = (now) => {
    input.value = now;
    output.textContent = shown(now);
    input.setAttribute("aria-valuetext", shown(now));
  };
  line.refresh(value);
  return line;
}

/** A menu of names. */
function menu(name, names, value, changed) {
  const select = h(
    "select",
    { "aria-label": name, onchange: () => changed(select.value) },
    ...names.map((x) => h("option", { value: x }, x)),
  );
  const line = h(
    "label",
    { class: `sdl-control sdl-menu${names.every((x) => x.length < 12) ? " sdl-short" : ""}` },
    span("", name),
    select,
  );
  line.read = (wanted) => names.find((name) => name === wanted);
  line.refresh = (now) => {
    select.value = now;
  };
  line.refresh(value);
  return line;
}

/** A box to tick. */
function tick(name, value, changed) {
  const input = h("input", { type: "checkbox", onchange: () => changed(input.checked) });
  const line = h("label", { class: "sdl-control sdl-tick" }, input, span("", name));
  line.read = (wanted) => ({ true: true, false: false })[wanted];
  line.refresh = (now) => {
    input.checked = now;
  };
  line.refresh(value);
  return line;
}

/**
 * A table; cells are text, or nodes. The first cell of a row says what the row is. name: for those who do not
 * see it.
 */
function grid(heads, rows, cell = (content) => td("", content), name = "table") {
  const box = h(
    "div",
    { class: "sdl-scroll", tabindex: 0, role: "group", "aria-label": name },
    tabular(
      h(
        "table",
        { class: "sdl-grid", role: "table", "aria-label": name },
        tr("", ...heads.map((x) => (x ? h("th", { scope: "col" }, x) : td()))),
        ...rows.map(([head, ...rest]) => tr("", h("th", { scope: "row" }, head), ...rest.map(cell))),
      ),
    ),
  );
  new ResizeObserver(() => box.classList.toggle("sdl-wide", box.scrollWidth > box.clientWidth + 1)).observe(box);
  return box;
}

const COLOURS = ["#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]; // a line looks as in charts.py
const DASHES = ["", "9 3 2 3", "2 3", "4 2", "12 4"];
// what others are compared with
const PLAIN = 'stroke="currentColor" stroke-width="2" stroke-dasharray="7 3" stroke-opacity=".6"';
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** SVG as text: shape("rect", { x: 3 }, "more attributes", "what is in it"). */
function shape(name, numbers, look = "", inside = "") {
  const places = Object.entries(numbers).map(([key, value]) => ` ${key}="${Number(value.toFixed(1))}"`);
  return `<${name}${places.join("")} ${look}>${inside}</${name}>`;
}
const label = (x, y, anchor, text, look = "") =>
  shape("text", { x, y }, `text-anchor="${anchor}" ${look}`, escaped(String(text)));

/** A picture of these parts. words: the same in text. look: its styles. */
const picture = (title, words, wide, tall, look, parts) =>
  `<svg viewBox="0 0 ${wide} ${tall}" role="img" fill="currentColor" style="display:block;width:100%;${look}">` +
  `<title>${escaped(title)}</title><desc>${escaped(words)}</desc>${parts}</svg>`;

/**
 * A line chart as SVG text: lines of {name, points: [[x, y], …]}, with the numbers in its description.
 * plain: the others are compared with it; beside one other it is named in the picture. stairs: a value holds
 * until the next. dots: points with their words, or none. highest:
 * where the axis ends at least. tall: its height. unit: behind the numbers below. doubling: equal steps to
 * the right double x.
 */
function chart(
  title,
  lines,
  xName,
  yName,
  { dots = [], tall = 220, doubling = false, highest = 1e-9, unit = "" } = {},
) {
  const [wide, left, right, top, bottom] = [
    matchMedia("(max-width: 600px)").matches ? 320 : 380,
    34,
    12,
    yName ? 28 : 10,
    xName ? 40 : 22,
  ]; // so narrow that its words are read on a phone
  const inset = dots.length ? 10 : 0; // so that a dot covers no axis
  const xs = lines.flatMap((line) => line.points.map(([x]) => x)),
    ys = lines.flatMap((line) => line.points.map(([, y]) => y));
  const [x0, x1, most] = [Math.min(...xs), Math.max(...xs), Math.max(...ys, highest)];
  const step =
    [1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4]
      .flatMap((power) => [1, 2, 5].map((digit) => digit * power))
      .find((s) => most / s <= tall / 45) ?? most;
  const y1 = step * Math.ceil(most / step - 1e-9); // the axis ends on a number
  const scale = doubling ? Math.log2 : Number;
  const across = (x) =>
    left + inset + ((scale(x) - scale(x0)) / (scale(x1) - scale(x0) || 1)) * (wide - left - right - 2 * inset);
  const down = (y) => tall - bottom - (y / y1) * (tall - top - bottom);
  const tint = (hue, from, to) =>
    shape(
      "rect",
      { x: left, y: down(to), width: wide - left - right, height: down(from) - down(to) },
      `fill="${hue}" opacity=".08"`,
    );
  // above it is what gains, below it what loses
  const one = lines.some((line) => line.plain && line.points.every(([, y]) => y === 1));
  let svg = one ? tint("#D55E00", 0, 1) + tint("#009E73", 1, y1) : "";
  for (let y = 0; y <= y1 + 1e-9; y += step) {
    const across = `d="M${left} ${down(y)}H${wide - right}"`;
    svg += `<path ${across} stroke="currentColor" stroke-opacity="${y ? 0.15 : 0.5}"/>`;
    svg += label(left - 6, down(y) + 4, "end", Number(y.toFixed(2)));
  }
  const round = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => (x1 - x0) / s <= 8) || 1000;
  const places = [...new Set(xs)],
    powers = places.filter((x) => Number.isInteger(Math.log2(x)) && (places.length < 9 || Math.log2(x) % 2 === 0)),
    rounds = Array.from({ length: Math.floor(x1 / round + 1e-9) + 1 }, (_, i) => Number((i * round).toFixed(1)));
  const counted = places.length <= 12 && xs.every(Number.isInteger),
    marks = doubling ? powers : counted ? places : rounds.filter((x) => x >= x0);
  for (const x of marks) svg += label(across(x), tall - bottom + 16, "middle", `${x}${unit}`);
  const own = lines.filter((line) => !line.plain),
    late = dots.some(([x, , said]) => said && x > (x0 + x1) / 2),
    alone = own.length < 2,
    colour = (line) => COLOURS[own.indexOf(line) % 5];
  const look = (line) =>
    line.plain
      ? PLAIN
      : `stroke="${colour(line)}" stroke-width="2.5" stroke-dasharray="${DASHES[own.indexOf(line) % 5]}"`;
  for (const line of lines) {
    const { points, stairs } = line,
      ways = points.map(([x, y]) => [across(x).toFixed(1), down(y).toFixed(1)]);
    const d = ways.map(([x, y], i) => (stairs && i ? `H${x} V${y}` : `${i ? "L" : "M"}${x} ${y}`)).join(" ");
    svg += `<path d="${d}" fill="none" stroke-linejoin="round" ${look(line)}/>`;
    if (!line.plain && !alone && !stairs && points.length < 13)
      for (const [x, y] of points)
        svg += shape("circle", { cx: across(x), cy: down(y), r: 3.5 }, `fill="${colour(line)}"`);
    if (!line.plain || !alone) continue;
    // on the side on which the curve is not, away from the dot that has a name
    const [[, y]] = points,
      free = own.some((other) => other.points.at(late ? 0 : -1)[1] < y) ? -6 : 15;
    svg += label(late ? left + 4 : wide - right, down(y) + free, late ? "start" : "end", line.name);
  }
  for (const [x, y, said] of dots) {
    const middle = Math.min(Math.max(across(x), 50), wide - 24),
      paint = said ? `fill="${COLOURS[0]}"` : `fill="none" stroke="${COLOURS[0]}" stroke-width="2"`;
    svg += shape("circle", { cx: across(x), cy: down(y), r: said ? 5 : 8 }, paint);
    const above = down(y) + (down(y) < 28 ? 24 : -13);
    if (said) svg += label(middle, above, "middle", said, 'font-weight="600" class="sdl-halo"');
  }
  svg += label((left + wide - right) / 2, tall - 8, "middle", xName) + label(0, 13, "start", yName);
  const words = lines
    .map((line) => `${line.name}: ${line.points.map(([x, y]) => `${y.toFixed(2)} at ${x}`).join(", ")}`)
    .join("\n");
  return (
    `<b class="sdl-chart">${escaped(title)}</b>` +
    picture(title, words, wide, tall, "max-width:420px;font-size:13px", svg) +
    (!alone ? key(lines.map((line) => [`<path d="M0 7H26" ${look(line)}/>`, line.name])) : "")
  );
}

/** What the looks of a picture mean, below it: [SVG text of 26 × 14 pixels, words] each. */
function key(entries) {
  const entry = ([look, words]) =>
    `<span><svg width="26" height="14" aria-hidden="true">${look}</svg> ${escaped(words)}</span>`;
  return `<div class="sdl-key">${entries.map(entry).join("")}</div>`;
}

/** The box of a widget. */
function frame({ el }, title, ...parts) {
  const root = card(title, "", ...parts);
  ownKeys(root);
  el.append(root);
}

/**
 * A widget of controls and a picture below them. draw(state) → nodes; what the learner set is kept in the
 * model. inner: the name of a fold, and of the controls in it; draw returns its nodes as `inside`. before: it
 * stands above the picture.
 */
function panel({ model, el }, title, start, controls, draw, inner = { name: () => "", holds: [] }) {
  const kept = model.get("state"),
    state = { ...start };
  const shown = div("sdl-picture"),
    inside = div("sdl-picture"),
    live = aloud();
  const lines = controls(state, (name) => (value) => {
    state[name] = value;
    model.set("state", { ...state });
    model.save_changes();
    redraw();
  });
  function redraw() {
    for (const line of Object.values(lines)) line.refresh(state[line.dataset.name]);
    summary.replaceChildren(inner.name(state));
    const { nodes, said, inside: below = [] } = draw(state);
    inside.replaceChildren(...below);
    if (nodes.some((node) => node.parentElement !== shown)) shown.replaceChildren(...nodes);
    live.textContent = said;
  }
  for (const [name, line] of Object.entries(lines)) {
    line.dataset.name = name;
    // what was kept, or came with a link, may not be of these controls
    state[name] = line.read(kept[name]) ?? start[name];
  }
  model.set("state", { ...state });
  const { holds, before } = inner,
    summary = h("summary"),
    those = (within) =>
      div(
        "sdl-controls",
        ...Object.keys(lines)
          .filter((x) => holds.includes(x) === within)
          .map((x) => lines[x]),
      );
  const more = holds.length
    ? h("details", { open: holds.some((x) => state[x] !== start[x]) }, summary, those(true), inside)
    : null;
  frame({ model, el }, title, div("sdl-title", title), those(false), ...(before ? [more, shown] : [shown, more]), live);
  redraw();
}

/** How a large number looks: a gain, a loss, or neither. */
const lookOf = (gain) => (gain > 1.02 ? "sdl-faster" : gain < 0.98 ? "sdl-slower" : "");

/** A gain in large figures; and with what is said beside it. */
const figure = (gain) => h("b", { class: `sdl-big ${lookOf(gain)}` }, `${gain.toFixed(2)}×`);
const inLarge = (gain, ...words) => div("sdl-words sdl-with-big", figure(gain), div("", ...words));

/** Two things beside each other, where there is room. */
const pair = (left, right, how = "") => div(`sdl-pair ${how}`, div("", ...left), div("", ...right));

/** A node from SVG or HTML text of our own. */
function drawn(text) {
  const node = div();
  node.innerHTML = text;
  return node;
}
