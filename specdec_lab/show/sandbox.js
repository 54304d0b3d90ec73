// The Acceptance Sandbox: three tokens, p and q to be changed by hand, and the rule, or a wrong one, at work.
// And all rules beside each other, in small.

const TOKENS = ["on", "by", "near"];
// in hundredths: the standing example of the course
const START = { p0: 50, p1: 30, p2: 20, q0: 70, q1: 10, q2: 20 };
const ROWS = ["p, target", "q, draft", "chance to accept", "drafted and accepted", "replacement", "comes out"];
// pixels: a bar, from bar to bar, from token to token
const LARGE = { bar: 52, next: 4, gap: 128, left: 6, up: 22, tall: 184, font: 14, most: 430 };
const SMALL = { bar: 20, next: 2, gap: 58, left: 4, up: 0, tall: 92, font: 13, most: 178 };
const WIDE = 376,
  HIGH = 248; // of the large picture

/** Weights to probabilities; all zero means all alike. */
const normalised = (weights) =>
  scaled(
    weights,
    weights.map(() => 1 / weights.length),
  );

/**
 * The two tokens beside token i share what it leaves of 100, as they did before: the sliders stand where the
 * numbers are.
 */
function share(state, which, i, left) {
  const [a, b] = TOKENS.map((_, j) => `${which}${j}`).filter((name) => name !== `${which}${i}`),
    all = state[a] + state[b];
  state[a] = Number((all ? (left * state[a]) / all : left / 2).toFixed(2));
  state[b] = Number((left - state[a]).toFixed(2));
}

/**
 * What a rule does with one draft from q where the target says p: rejected is a chance, right says if p comes
 * out.
 */
function played(rule, p, q) {
  const [accepts, replacement] = RULES[rule](p, q),
    out = emitted(p, q, accepts, replacement),
    kept = q.map((x, i) => x * accepts[i]);
  const wrong = Math.max(...out.map((x, i) => Math.abs(x - p[i])));
  return { p, q, accepts, replacement, out, kept, rejected: 1 - sum(kept), wrong, right: wrong < 1e-9 };
}

/**
 * How the parts of a bar are painted, and what they mean. Patterns are found by name in the whole page: each
 * picture has its own.
 */
function looksOf(marks) {
  const own = (globalThis.specdecPictures = (globalThis.specdecPictures ?? 0) + 1),
    [green, red, orange] = ["accepted", "rejected", "corrected"].map((word) => marks[word].colour);
  const pattern = (name, inside, more = "") =>
    `<pattern id="${name}-${own}" width="6" height="6" patternUnits="userSpaceOnUse" ${more}>${inside}</pattern>`;
  const stripes = `<path d="M0 0V6" stroke="${red}" stroke-width="3"/>`,
    dots = `<circle cx="3" cy="3" r="2" fill="${orange}"/>`;
  return {
    patterns: `<defs>${pattern("no", stripes, 'patternTransform="rotate(45)"')}${pattern("re", dots)}</defs>`,
    accepted: ["✓ drafted and accepted", `fill="${green}" stroke="${green}"`],
    rejected: ["✗ drafted and rejected", `fill="url(#no-${own})" stroke="${red}"`],
    replaced: ["↻ the replacement", `fill="url(#re-${own})" stroke="${orange}"`],
    wanted: ["p, what the target wants", 'fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"'],
  };
}

/**
 * Left of each pair: q, cut into what is accepted and what is rejected. Right: what comes out, over an
 * outline of p. below: texts under a pair.
 */
function columns(
  title,
  looks,
  { p, q, kept, out },
  { bar, next, gap, left, up, tall, font, most },
  width,
  lines,
  below,
) {
  const box = (x, low, high, look) =>
    shape("rect", { x, y: up + tall * (1 - high), width: bar, height: tall * Math.max(0, high - low) }, looks[look][1]);
  const pairs = TOKENS.map((token, i) => {
    const x = left + gap * i,
      other = x + bar + next;
    return (
      box(x, 0, kept[i], "accepted") +
      box(x, kept[i], q[i], "rejected") +
      box(other, 0, kept[i], "accepted") +
      box(other, kept[i], out[i], "replaced") +
      box(other, 0, p[i], "wanted") +
      below(token, i, x, other, up + tall)
    );
  });
  const two = (x) => x.toFixed(2),
    numbers = TOKENS.map(
      (token, i) =>
        `${token}: drafted ${two(q[i])}, kept ${two(kept[i])}, comes out ${two(out[i])}, wanted ${two(p[i])}`,
    );
  const look = `max-width:${most}px;font-size:${font}px`,
    parts = looks.patterns + pairs.join("");
  return picture(title, numbers.join("\n"), width, up + tall + lines, look, parts);
}

const under = (x, y, text, more) => label(x, y, "middle", text, more);

/**
 * A grip on a bar: a slider for hands and keys, with its number. shown: the value as text, and as a share of
 * the height.
 */
function grip(which, i, shown, set) {
  const { left, gap, bar, next, up, tall } = LARGE,
    name = `${which === "p" ? "p, target" : "q, draft"}: “${TOKENS[i]}”`;
  const node = h("button", {
    type: "button",
    class: "sdl-grip",
    role: "slider",
    "aria-orientation": "vertical",
    "aria-label": name,
    "aria-valuemin": 0,
    "aria-valuemax": 100,
    onkeydown: (event) => {
      const now = Math.round(100 * shown()),
        step = {
          ArrowUp: 1,
          ArrowRight: 1,
          ArrowDown: -1,
          ArrowLeft: -1,
          PageUp: 10,
          PageDown: -10,
          Home: -now,
          End: 100 - now,
        }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      set(which, i, Math.max(0, Math.min(100, now + step)));
    },
  });
  node.style.left = `${(100 * (left + gap * i + (which === "p" ? bar + next : 0))) / WIDE}%`;
  node.style.width = `${(100 * bar) / WIDE}%`;
  node.read = (wanted) => (wanted !== "" && wanted >= 0 && wanted <= 100 ? Number(wanted) : undefined);
  node.refresh = () => {
    node.style.top = `${(100 * (up + tall * (1 - shown()))) / HIGH}%`;
    node.textContent = `${which} ${shown().toFixed(2)}`;
    node.setAttribute("aria-valuenow", Math.round(100 * shown()));
    node.setAttribute("aria-valuetext", shown().toFixed(3));
  };
  return node;
}

/**
 * Bars are pulled to a height, q on the left of a pair and p on the right: by their grips, or where they are
 * pressed.
 */
function pulled(layer, grips, set) {
  const { left, gap, bar, next, up, tall } = LARGE;
  layer.addEventListener("pointerdown", (event) => {
    const box = layer.getBoundingClientRect(),
      scale = WIDE / box.width,
      high = (y) => 100 * (1 - ((y - box.top) * scale - up) / tall);
    const x = (event.clientX - box.left) * scale - left,
      i = Math.floor(x / gap);
    if (!TOKENS[i]) return;
    const which = x - i * gap < bar + next / 2 ? "q" : "p",
      held = grips[`${which}${i}`];
    // a grip stands above what it holds
    const apart = event.target === held ? high(event.clientY) - held.ariaValueNow : 0;
    const to = ({ clientY }) => set(which, i, Math.max(0, Math.min(100, Math.round(high(clientY) - apart))));
    to(event);
    held.focus();
    layer.setPointerCapture(event.pointerId);
    layer.addEventListener("pointermove", to);
    layer.addEventListener("lostpointercapture", () => layer.removeEventListener("pointermove", to), { once: true });
    event.preventDefault();
  });
}

/** Every rule, with its small picture and a verdict. */
function allRules(context, { p, q }) {
  const { marks } = context.model.get("data");
  const tiles = Object.keys(RULES).map((name) => {
    const one = played(name, p, q),
      mark = marks[one.right ? "accepted" : "rejected"],
      verdict = `${mark.symbol} ${one.right ? "p comes out" : "not p"}`;
    const below = (token, i, x, other, foot) =>
      under(other, foot + 14, token) + under(other, foot + 27, one.out[i].toFixed(2));
    return div(
      "sdl-tile",
      div("", name),
      drawn(columns(`${name}: ${verdict}`, looksOf(marks), one, SMALL, 178, 30, below)),
      h("b", { style: `border-left: 4px solid ${mark.colour}` }, verdict),
    );
  });
  const note =
    "Left of each pair: what is drafted, kept (full) or rejected (stripes). Right: what comes out, over p (dashed).";
  frame(context, "All rules", div("sdl-title", "All rules"), div("sdl-tiles", ...tiles), div("sdl-note", note));
}

function render(context) {
  const { marks, rule, rules } = context.model.get("data"),
    looks = looksOf(marks);
  if (rules) return allRules(context, rules);
  const shares = (state, which) => normalised(TOKENS.map((_, i) => state[`${which}${i}`]));

  function controls(state, changed) {
    const set = (which, i, value) => {
      share(state, which, i, 100 - value);
      changed(`${which}${i}`)(value);
    };
    for (const which of ["q", "p"])
      TOKENS.forEach((token, i) => {
        grips[`${which}${i}`] = grip(which, i, () => shares(state, which)[i], set);
      });
    pulled(layer, grips, set);
    return { rule: menu("rule", Object.keys(RULES), state.rule, changed("rule")), ...grips };
  }

  const looked = ["accepted", "rejected", "replaced", "wanted"].map((look) => [
    `<rect x="1" y="1" width="24" height="12" ${looks[look][1]}/>`,
    looks[look][0],
  ]);
  const grips = {},
    bars = div(),
    layer = div("sdl-bars", bars),
    verdict = h("b"),
    sums = h("p"),
    numbers = div();
  const facts = [drawn(key(looked)), sums, fold("the numbers", {}, numbers)];
  const nodes = [verdict, pair([layer], facts, "sdl-wide-narrow")]; // they stay, for who holds a grip

  function draw(state) {
    if (!layer.children[1]) layer.append(...TOKENS.flatMap((_, i) => [grips[`q${i}`], grips[`p${i}`]]));
    const one = played(state.rule, shares(state, "p"), shares(state, "q")),
      { p, q, accepts, kept, replacement, out } = one;
    verdict.textContent = one.right
      ? `${marks.accepted.symbol} What comes out is p: nobody can tell that there was a draft.`
      : `${marks.rejected.symbol} What comes out is not p. The largest difference is ${one.wrong.toFixed(3)}.`;
    const rows = [p, q, accepts, kept, replacement, out].map((row, i) => [ROWS[i], ...row.map((x) => x.toFixed(3))]);
    const all = [sum(kept), one.rejected, acceptance(p, q)].map((x) => x.toFixed(3));
    sums.textContent = `Accepted in all: ${all[0]}. Rejected: ${all[1]}. Σ min(p, q), the α of the rule: ${all[2]}.`;
    const below = (token, i, x, other, foot) =>
      under(x + 26, foot + 16, "draft") +
      under(other + 26, foot + 16, `out ${out[i].toFixed(2)}`) +
      under(x + 54, foot + 36, token, 'font-weight="600"');
    // what is too much stands above it
    TOKENS.forEach((_, i) => grips[`p${i}`].classList.toggle("sdl-below", out[i] > p[i] + 0.005));
    bars.innerHTML = columns("One draft, checked", looks, one, LARGE, WIDE, HIGH - LARGE.up - LARGE.tall, below);
    numbers.replaceChildren(grid(["", ...TOKENS], rows, undefined, "p, q, and what comes out"));
    return { nodes, said: verdict.textContent };
  }

  panel(context, "Acceptance Sandbox", { rule, ...START }, controls, draw);
}

export default { render };
