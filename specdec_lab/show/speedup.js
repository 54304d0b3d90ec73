// The Speed-up Explorer: S over α and γ, for costs that can be changed, with the learner's own machine among
// them.

const ALPHAS = [0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05];
const GAMMAS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/**
 * A gain or a loss on its shade; the best of its row and the chosen cell are marked, and a line stands
 * towards the cells on the other side of S = 1. A press chooses it.
 */
function gainCell(s, best, chosen, right, below, short, choose) {
  const across = (other, edge) => (other !== undefined && s >= 1 !== other >= 1 ? [`inset ${edge} currentColor`] : []),
    edges = [...across(right, "-2px 0"), ...across(below, "0 -2px")];
  const shade = Math.round(s >= 1 ? 10 + 65 * (1 - Math.exp(1 - s)) : 65 * (1 - s)),
    style = `--gain: ${shade}%${edges.length ? `; box-shadow: ${edges}` : ""}`;
  const kind = `sdl-gain${s < 1 ? " sdl-loss" : ""}${best ? " sdl-best" : ""}${chosen ? " sdl-here" : ""}`;
  return h(
    "td",
    { class: kind, style, "aria-current": chosen ? "true" : null, onclick: choose },
    !short ? s.toFixed(2) : s < 0.995 ? s.toFixed(2).slice(1) : s.toFixed(1),
  ); // a phone has room for three signs
}

function render(context) {
  const { machines, start } = context.model.get("data");
  let set = null; // changes several of the controls at once
  const again = { highest: 3 }; // of the picture before

  function controls(state, changed) {
    set = (part) => {
      Object.assign(state, part);
      changed("gamma")(state.gamma);
    };
    const number = (name, label, low, high, step) =>
      slider(
        label,
        { value: state[name], low, high, step },
        () => state[name].toFixed(step < 1 ? 2 : 0),
        changed(name),
      );
    return {
      alpha: number("alpha", "α, acceptance rate", 0, 0.99, 0.01),
      gamma: number("gamma", "γ, drafts a round", 1, 10, 1),
      c: number("c", "c, cost of a draft", 0, 1, 0.01),
      o: number("o", "o, cost of the loop", 0, 0.5, 0.01),
      machine: menu("v, cost of a pass", Object.keys(machines), state.machine, changed("machine")),
    };
  }

  function draw({ alpha, gamma, c, o, machine }) {
    const v = machines[machine];
    const gain = speedup(alpha, gamma, c, v[gamma], o),
      best = bestGamma(alpha, c, v, o),
      even = breakEven(gamma, c, v[gamma], o);
    const narrow = context.el.clientWidth < 600,
      every = ALPHAS.filter((_, i) => !narrow || i % 2 === 0);
    const place = `α = ${alpha.toFixed(2)}, γ = ${gamma}`,
      tokens = expectedTokens(alpha, gamma).toFixed(2),
      words = `A round writes ${tokens} tokens and costs ${(gamma * c + v[gamma] + o).toFixed(2)} plain steps`,
      sum = ` (${gamma}·${c.toFixed(2)} + ${v[gamma].toFixed(2)} + ${o.toFixed(2)})`;
    const advice = best
      ? `. The best γ here is ${best}. `
      : ". No γ is worth it here: the best choice is not to draft. ";
    const passes = span(
      "sdl-exact",
      even === null ? "Even α = 1 would lose." : `With γ = ${gamma} it pays from α = ${even.toFixed(2)} on.`,
    );
    const alphas = [alpha, ...every],
      // the sliders have a row of their own, so that the others stay
      gains = alphas.map((a) => GAMMAS.map((g) => speedup(a, g, c, v[g], o)));
    const rows = alphas.map((a, i) => [
      a.toFixed(2),
      ...GAMMAS.map((g, j) =>
        gainCell(
          gains[i][j],
          g === bestGamma(a, c, v, o),
          !i && g === gamma,
          gains[i][j + 1],
          i ? gains[i + 1]?.[j] : undefined,
          narrow,
          () => set({ alpha: a, gamma: g }),
        ),
      ),
    ]);
    const points = GAMMAS.map((g) => [g, speedup(alpha, g, c, v[g], o)]),
      lines = [
        { name: "S", points },
        { name: "plain", plain: true, points: [1, 10].map((g) => [g, 1]) },
      ];
    // while one drags, the axis may grow, and never shrinks
    again.highest = Math.max(again.highest, ...points.map(([, s]) => s));
    const key = [
      "The greener, the faster; the more orange, the slower than plain decoding. The line between them is 1×.",
      "Bold and underlined: the best γ of its row. The first row is that of your sliders; press another cell.",
      "In the chart, a circle around the best γ.",
    ].join(" ");
    const map = grid(["α \\ γ", ...GAMMAS.map(String)], rows, (cell) => cell, "S for each α and γ");
    map.classList.add("sdl-heat");
    const folded = fold("how to read it", { kept: again }, div("sdl-note", key));
    return {
      nodes: [
        inLarge(
          gain,
          h("b", {}, `as fast as plain decoding${gain < 1 ? ": slower" : ""}. `),
          words,
          span("sdl-exact", sum),
          advice,
          passes,
        ),
        pair(
          [h("b", { class: "sdl-chart" }, "The speed-up for each α and γ"), map, folded],
          [
            drawn(
              chart(`The speed-up by γ, at α = ${alpha.toFixed(2)}`, lines, "γ, drafts a round", "", {
                dots: [
                  ...(best ? [[best, speedup(alpha, best, c, v[best], o), ""]] : []),
                  [gamma, gain, `${gain.toFixed(2)}×`],
                ],
                highest: again.highest,
                tall: narrow ? 136 : 260,
              }),
            ),
          ],
        ),
      ],
      said: `${place}: S = ${gain.toFixed(2)}`,
    };
  }

  panel(context, "Speed-up Explorer", start, controls, draw, {
    name: ({ c, o, machine }) =>
      span("", `costs: c = ${c.toFixed(2)}, o = ${o.toFixed(2)}, `, either(`v of ${machine}`, "and v")),
    holds: ["c", "o", "machine"],
    before: true,
  });
}

export default { render };
