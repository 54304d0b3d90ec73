// The Load Lab: the same arrivals served without drafts, always with drafts, by the load, and by the drafts' chances.

const POINTS = 80; // of a line over time
const STEPS = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`))); // milliseconds that the axis may have
const [LEAST, MOST] = [5, 120]; // % of what plain decoding can serve

function render(context) {
  let unfolded = false;
  const axes = {}; // one for all loads, so that the dots move and not the axis
  const { machines, arrivals, mine, gammas, start } = context.model.get("data");
  const most = Math.max(...machines[start.machine].measured.map(([texts]) => texts));
  const policies = ["never", "always", "by load", ...(machines[start.machine].best ? ["by confidence"] : []), ...Object.keys(mine)];

  function controls(state, changed) {
    const whole = (name, label, low, high, step) =>
      slider(label, { value: state[name], low, high, step }, () => String(state[name]), changed(name));
    return {
      ...(Object.keys(machines).length > 1 ? { machine: menu("machine", Object.keys(machines), state.machine, changed("machine")) } : {}),
      load: whole("load", "load, % of plain", LEAST, MOST, 5),
      gamma: menu("γ, drafts a round", gammas, state.gamma, changed("gamma")),
      off: whole("off", "by load: off above", 0, most, 1),
      on: slider("and on again up to", { value: state.on, low: 1, high: most + 1, step: 1 }, () => String(back(state)), changed("on")),
      watched: menu("show the steps of", policies, state.watched, changed("watched")),
      bursts: tick("arrivals in bursts", state.bursts, changed("bursts")),
    };
  }

  /** So many texts, or fewer: then it drafts again. Never more than those that turn it off. */
  const back = ({ off, on }) => Math.min(on, off + 1) - 1;

  function draw({ machine, load, bursts, gamma: chosen, off, on, watched }) {
    const { measured, join, capacity, best, tokens, limits } = machines[machine], gamma = Number(chosen);
    if (!(gamma in tokens)) {
      const said = `γ = ${gamma} was not measured on ${machine}: choose another γ.`;
      return { nodes: [h("div", {}, said)], said };
    }
    const came = arrivals[bursts ? "bursts" : "steady"];
    const server = {
      costs: stepCosts(measured), join, most: Math.max(...measured.map(([texts]) => texts)),
      drawn: drawnFrom(machines[machine]),
    };
    const all = {
      never, always: always(gamma), "by load": loadAware(gamma, off, back({ off, on }) + 1),
      ...(best ? { "by confidence": byConfidence(machines[machine]) } : {}),
      ...Object.fromEntries(Object.entries(mine).map(([name, table]) => [name, tabled(table)])),
    };
    const serve = (load) => Object.entries(all).map(([name, policy]) => [name, simulate(came.map(([at, wanted]) => [(100 * at) / (load * capacity), wanted]), policy, server)]);
    const logs = serve(load), sums = logs.map(([name, log]) => [name, summary(log)]), plain = sums[0][1].mean;
    const [low, high] = (axes[[machine, gamma, bursts]] ??= [[LEAST, "mean", Math.min], [MOST, "most", Math.max]].map(([at, what, of]) => 1e3 * of(...serve(at).map(([, log]) => summary(log)[what]))));
    const ticks = STEPS.slice(STEPS.findLastIndex((x) => x <= low), STEPS.findIndex((x) => x >= high) + 1);
    const at = (x) => Math.max(0, Math.min(100, (100 * Math.log(1e3 * x / ticks[0])) / Math.log(ticks.at(-1) / ticks[0])));
    const look = ({ mean }) => (mean > 1.02 * plain ? "sdl-worse" : mean === Math.min(...sums.map(([, s]) => s.mean)) && mean < 0.98 * plain ? "sdl-better" : "");
    /** The mean as a dot, and a line on to what 95 % wait at most. */
    const bar = ({ mean, most }) => h("div", { class: "sdl-wait", "aria-hidden": "true" }, ...ticks.map((x) => h("i", { style: `left: ${at(x / 1e3)}%` })), h("span", { style: `left: ${at(mean)}%; width: ${at(most) - at(mean)}%`, class: look({ mean }) }), h("b", { style: `left: ${at(mean)}%`, class: look({ mean }) }));
    const scale = h("div", { class: "sdl-wait", role: "img", "aria-label": "a scale of milliseconds" }, ...ticks.map((x) => h("em", { style: `left: ${at(x / 1e3)}%` }, String(x))));
    const rows = sums.map(([name, s]) => [name, bar(s), ...[s.mean, s.most].map((x) => (1e3 * x).toFixed(1))]);
    const counts = sums.map(([name, s]) => [name, s.throughput.toFixed(0), `${(100 * s.drafting).toFixed(0)}%`, String(s.switches)]);
    const means = sums.map(([policy, { mean }]) => [policy, plain / mean]), [winner, gain] = means.reduce((a, b) => (b[1] > a[1] ? b : a));
    const won = (winner === "never" ? "“never” is the fastest here: drafts cost more than they bring."
      : `“${winner}” is the fastest: ${gain.toFixed(2)} times “never”.`) + ` “always” is ${means[1][1].toFixed(2)} times.`;
    const limit = limits[gamma], [name, last] = logs.find(([policy]) => policy === watched) ?? logs.at(-1);
    const pays = limit === null ? `With γ = ${gamma}, drafts pay at every size of the batch.` : `With γ = ${gamma}, drafts do not pay from ${limit} texts on.`;
    const starts = back({ off, on }), by = starts < 1 ? "never drafts." : `drafts while at most ${off} texts run.${starts < off ? ` Once it has stopped, it waits until at most ${starts} run.` : ""}`;
    const steps = last.steps.filter((_, i) => i % Math.max(1, Math.floor(last.steps.length / POINTS)) === 0);
    const over = (what, title, unit) => drawn(chart(title, [{ name: unit, stairs: true, points: steps.map((s) => [s.at, s[what]]) }], "", "", { tall: 88, unit: " s" }));
    const table = grid(["ms a token", scale, "mean", either("95 % within", "95 %")], rows, undefined, "milliseconds a token");
    table.classList.add("sdl-full");
    const note = `${came.length} requests, ${load} % of what plain decoding can serve. With γ = ${gamma} a round writes ${tokens[gamma].toFixed(2)} tokens. The times are milliseconds a token, from a request's arrival to its end, on an axis whose steps multiply.`;
    const folded = h("details", { open: unfolded, ontoggle: () => { unfolded = folded.open; } }, h("summary", {}, "what is served"), h("div", { class: "sdl-note" }, note), grid(["policy", "tokens/s", "steps with drafts", "switches"], counts));
    const looks = drawn(key([['<path d="M7 7H26" stroke="#0072b2" stroke-width="4"/><circle cx="7" cy="7" r="5" fill="#0072b2"/>', "mean, 95 % within"], ['<path d="M7 7H26" stroke="#d55e00" stroke-width="4"/><rect x="2" y="2" width="10" height="10" fill="#d55e00"/>', "slower than “never”"]]));
    return {
      nodes: [
        h("div", { class: "sdl-words sdl-with-big" }, h("b", { class: `sdl-big ${lookOf(gain)}` }, `${gain.toFixed(2)}×`), h("div", {}, h("b", {}, won), h("span", { class: "sdl-exact" }, ` ${pays} “by load” ${by}`))),
        table, looks, folded,
      ],
      inside: [pair([over("running", `Texts in the batch, with “${name}”`, "texts")], [over("gamma", "γ of its steps", "γ")], "sdl-halves")],
      said: rows.map(([policy, , mean]) => `${policy}: ${mean}`).join(", ") + " milliseconds a token",
    };
  }

  panel(context, "Load Lab", { ...start, watched: Object.keys(mine).at(-1) ?? "by load" }, controls, draw, { name: "set “by load”, and watch the steps", holds: ["off", "on", "watched"] });
}

export default { render };
