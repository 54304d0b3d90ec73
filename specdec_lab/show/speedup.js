// The Speed-up Explorer: S over α and γ, for costs that can be changed, with the learner's own machine among them.

const ALPHAS = [0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.25, 0.15, 0.05];
const GAMMAS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** A gain on its shade: losses with a corner and in brackets, the best of its row bold, the chosen cell framed. A press chooses it. */
function gainCell(s, best, framed, choose) {
  const paint = s >= 1
    ? `rgba(0,158,115,${Math.min(0.75, 0.28 * (s - 1)).toFixed(2)})`
    : `linear-gradient(225deg,#d55e00 6px,transparent 6px),rgba(213,94,0,${Math.min(0.4, 0.5 * (1 - s)).toFixed(2)})`;
  const shown = either(s >= 1 ? s.toFixed(2) : `(${s.toFixed(2)})`, s.toFixed(2).replace(/^0/, ""));
  const style = `background:${paint}${framed ? ";outline:2px solid currentColor" : ""}`;
  return h("td", { style, onclick: choose }, best ? h("b", {}, shown) : shown);
}

function render(context) {
  const { machines, start } = context.model.get("data");
  let set = null; // changes several of the controls at once

  function controls(state, changed) {
    set = (part) => { Object.assign(state, part); changed("gamma")(state.gamma); };
    const number = (name, label, low, high, step) =>
      slider(label, { value: state[name], low, high, step }, () => state[name].toFixed(step < 1 ? 2 : 0), changed(name));
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
    const gain = speedup(alpha, gamma, c, v[gamma], o), best = bestGamma(alpha, c, v, o), even = breakEven(gamma, c, v[gamma], o);
    const nearest = ALPHAS.reduce((a, b) => (Math.abs(b - alpha) < Math.abs(a - alpha) - 1e-9 ? b : a));
    const words = `α = ${alpha.toFixed(2)}, γ = ${gamma}: E = ${expectedTokens(alpha, gamma).toFixed(2)} tokens a pass; a round costs ` +
      `${gamma}·${c.toFixed(2)} + ${v[gamma].toFixed(2)} + ${o.toFixed(2)} = ${(gamma * c + v[gamma] + o).toFixed(2)} plain steps; `;
    const advice = (best ? `The best γ here is ${best}. ` : "No γ is worth it here: the best choice is not to draft. ") +
      (even === null ? "Even α = 1 would lose." : `With γ = ${gamma}, S passes 1 at α = ${even.toFixed(2)}.`);
    const rows = ALPHAS.map((a) => {
      const most = bestGamma(a, c, v, o);
      return [either(`α=${a.toFixed(2)}`, a.toFixed(2)), ...GAMMAS.map((g) => gainCell(speedup(a, g, c, v[g], o), g === most, a === nearest && g === gamma, () => set({ alpha: a, gamma: g })))];
    });
    const lines = [
      { name: "speed-up S", points: GAMMAS.map((g) => [g, speedup(alpha, g, c, v[g], o)]) },
      { name: "E, tokens a pass", points: GAMMAS.map((g) => [g, expectedTokens(alpha, g)]) },
      { name: "plain decoding", points: GAMMAS.map((g) => [g, 1]) },
    ];
    const key = "S for each α and γ. An orange corner: slower than plain decoding. Bold: the best γ of the row. Framed: the cell nearest to your sliders; press another one to go there. Circle: the best γ.";
    return {
      nodes: [
        h("div", {}, words, h("b", {}, `S = ${gain.toFixed(2)}`), `. ${advice}`),
        pair(
          [grid([either("", "α, γ"), ...GAMMAS.map((g) => either(`γ=${g}`, String(g)))], rows, (cell) => cell, "S for each α and γ"), h("div", { class: "sdl-note" }, key)],
          [drawn(chart(`Speed-up by γ at α = ${alpha.toFixed(2)}`, lines, "γ, drafts a round", "times plain decoding", { dots: [...(best ? [[best, speedup(alpha, best, c, v[best], o), ""]] : []), [gamma, gain, `${gain.toFixed(2)}×`]], highest: [2, 4, 6, 12] }))],
        ),
      ],
      said: `S = ${gain.toFixed(2)}`,
    };
  }

  panel(context, "Speed-up Explorer", start, controls, draw);
}

export default { render };
