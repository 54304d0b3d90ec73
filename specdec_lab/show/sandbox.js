// The Acceptance Sandbox: three tokens, p and q to be changed by hand, and the rule, or a wrong one, at work.

const [BAR, GAP, UP, TALL] = [44, 96, 26, 170]; // pixels: a bar's width, from token to token, above the bars, their height

/** Weights to probabilities; all zero means all alike. */
const normalised = (weights) => scaled(weights, weights.map(() => 1 / weights.length));

/** Left of each pair: q, cut into what is accepted and what is rejected. Right: what comes out, over an outline of p. */
function barPicture(tokens, looks, p, q, kept, replaced) {
  const box = (left, low, high, look) => `<rect x="${left}" y="${UP + TALL * (1 - high)}" width="${BAR * 0.8}" height="${TALL * Math.max(0, high - low)}" ${looks[look].look}/>`;
  let svg = looks.patterns;
  tokens.forEach((token, i) => {
    const left = 10 + GAP * i, right = left + BAR * 0.9;
    svg += box(left, 0, kept[i], "accepted") + box(left, kept[i], q[i], "rejected") + box(right, 0, kept[i], "accepted");
    svg += box(right, kept[i], kept[i] + replaced[i], "replaced") + box(right, 0, p[i], "wanted");
    svg += `<text x="${left + BAR * 0.4}" y="${UP + TALL + 14}" text-anchor="middle">q</text><text x="${right + BAR * 0.4}" y="${UP + TALL + 14}" text-anchor="middle">out</text>`;
    svg += `<text x="${left + BAR * 0.85}" y="${UP + TALL + 32}" text-anchor="middle" font-weight="600">${escaped(token)}</text>`;
  });
  const width = GAP * tokens.length + 10, names = ["accepted", "rejected", "replaced", "wanted"];
  return `<svg viewBox="0 0 ${width} ${UP + TALL + 40}" role="img" fill="currentColor" style="max-width:${width}px;width:100%;font:13px sans-serif"><title>One draft, checked</title>${svg}</svg>` +
    key(names.map((name) => [`<rect x="1" y="1" width="24" height="12" ${looks[name].look}/>`, looks[name].words]));
}

function render(context) {
  const { tokens, heads, start, marks, id, ...data } = context.model.get("data");
  // Patterns are found by name in the whole page, and those of the hidden picture draw nothing.
  const looks = JSON.parse(JSON.stringify(data.looks).replaceAll("sdl-no", `sdl-no-${id}`).replaceAll("sdl-re", `sdl-re-${id}`));
  const shares = (state, which) => normalised(tokens.map((_, i) => state[`${which}${i}`]));

  function controls(state, changed) {
    const lines = { rule: menu("rule", Object.keys(RULES), state.rule, changed("rule")) };
    tokens.forEach((token, i) => { // a row for each token, where there is room for two
      for (const which of ["p", "q"]) {
        const shown = () => shares(state, which)[i].toFixed(3);
        const name = `${which === "p" ? "p, target" : "q, draft"}: “${token}”`;
        lines[`${which}${i}`] = slider(name, { value: state[`${which}${i}`], low: 0, high: 100, step: 1 }, shown, changed(`${which}${i}`));
      }
    });
    return lines;
  }

  function draw(state) {
    const p = shares(state, "p"), q = shares(state, "q");
    const [accepts, replacement] = RULES[state.rule](p, q);
    const out = emitted(p, q, accepts, replacement), kept = q.map((x, i) => x * accepts[i]);
    const rejected = 1 - sum(kept), wrong = Math.max(...out.map((x, i) => Math.abs(x - p[i])));
    const verdict = wrong < 1e-9
      ? `${marks.accepted.symbol} What comes out is p: nobody can tell that there was a draft.`
      : `${marks.rejected.symbol} What comes out is not p. The largest difference is ${wrong.toFixed(3)}.`;
    const rows = tokens.map((token, i) => [token, ...[p, q, accepts, kept, replacement, out].map((row) => row[i].toFixed(3))]);
    const sums = `Accepted in all: ${sum(kept).toFixed(3)}. Rejected: ${rejected.toFixed(3)}. Σ min(p, q), the α of the rule: ${acceptance(p, q).toFixed(3)}.`;
    const bars = barPicture(tokens, looks, p, q, kept, replacement.map((x) => rejected * x));
    const table = grid(["", ...heads], rows, undefined, "p, q, and what comes out");
    return { nodes: [h("b", {}, verdict), pair([drawn(bars)], [table, h("p", {}, sums)], "sdl-narrow-wide")], said: verdict };
  }

  panel(context, "Acceptance Sandbox", start, controls, draw);
}

export default { render };
