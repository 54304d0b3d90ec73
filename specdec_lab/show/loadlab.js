// The Load Lab: the same arrivals served by policies: no drafts, always, on and off, a list by load, and by
// the drafts' chances.

const POINTS = 80; // of a line over time
const TIED = 1.02; // policies that lie nearer to each other are not put in an order, as in measure/prompts.py

function render(context) {
  const kept = {}; // which folds are open
  let // how many times as fast as “never” the bars can say: while one drags, it may grow, and never shrinks
    widest = 1.4;
  const { machines, arrivals, mine, gammas, start } = context.model.get("data");
  const most = Math.max(...machines[start.machine].measured.map(([texts]) => texts));
  const policies = [
    "never",
    "always",
    "on and off",
    "by load",
    ...(machines[start.machine].best ? ["by confidence"] : []),
    ...Object.keys(mine),
  ];

  function controls(state, changed) {
    const whole = (name, label, low, high, step) =>
      slider(label, { value: state[name], low, high, step }, () => String(state[name]), changed(name));
    return {
      ...(Object.keys(machines).length > 1
        ? { machine: menu("machine", Object.keys(machines), state.machine, changed("machine")) }
        : {}),
      load: whole("load", "load, % of plain", 5, 120, 5),
      gamma: menu("γ, drafts a round", gammas, state.gamma, changed("gamma")),
      off: whole("off", "on and off: off above", 0, most, 1),
      on: slider(
        "and on again up to",
        { value: state.on, low: 1, high: most + 1, step: 1 },
        () => String(back(state)),
        changed("on"),
      ),
      watched: menu("show the steps of", policies, state.watched, changed("watched")),
      bursts: tick("arrivals in bursts", state.bursts, changed("bursts")),
    };
  }

  /** So many texts, or fewer: then it drafts again. Never more than those that turn it off. */
  const back = ({ off, on }) => Math.min(on, off + 1) - 1;

  function draw({ machine, load, bursts, gamma: chosen, off, on, watched }) {
    const { measured, join, catch_up: catchUp, capacity, list, best, tokens, limits } = machines[machine],
      gamma = Number(chosen);
    if (!(gamma in tokens)) {
      const said = `γ = ${gamma} was not measured on ${machine}: choose another γ.`;
      return { nodes: [div("", said)], said };
    }
    const came = arrivals[bursts ? "bursts" : "steady"];
    const server = {
      costs: stepCosts(measured),
      join,
      catchUp,
      most: Math.max(...measured.map(([texts]) => texts)),
      drawn: drawnFrom(machines[machine]),
    };
    const all = {
      never,
      always: always(gamma),
      "on and off": loadAware(gamma, off, back({ off, on }) + 1),
      "by load": (running) => list[running - 1],
      ...(best ? { "by confidence": byConfidence(machines[machine]) } : {}),
      ...Object.fromEntries(Object.entries(mine).map(([name, table]) => [name, tabled(table)])),
    };
    const due = came.map(([at, wanted]) => [(100 * at) / (load * capacity), wanted]);
    const logs = Object.entries(all).map(([name, policy]) => [name, simulate(due, policy, server)]),
      sums = logs.map(([name, log]) => [name, summary(log)]),
      plain = sums[0][1].mean;
    widest = Math.max(widest, ...sums.map(([, { mean }]) => plain / mean));
    /**
     * How many times as fast as “never”, in the colour that the policy has in charts; “never” is a line
     * through all bars.
     */
    const bar = (gain, i) =>
      h(
        "div",
        {
          class: `sdl-times${i ? "" : " sdl-never"}`,
          style: `--hue: ${COLOURS[(i + 4) % 5]}; --one: ${1 / widest}; --gain: ${gain / widest}`,
        },
        h("i"),
        h("b", { class: i ? lookOf(gain) : "" }, `${gain.toFixed(2)}×`),
      );
    const rows = sums.map(([name, s], i) => [
      name,
      bar(plain / s.mean, i),
      ...[s.mean, s.most].map((x) => (1e3 * x).toFixed(1)),
    ]);
    const counts = sums.map(([name, s]) => [
      name,
      s.throughput.toFixed(0),
      `${(100 * s.drafting).toFixed(0)}%`,
      String(s.switches),
    ]);
    const means = sums.map(([policy, { mean }]) => [policy, plain / mean]),
      [winner, gain] = means.reduce((a, b) => (b[1] > a[1] ? b : a));
    // Those within 2 % of the fastest are named with it, and in no order.
    const first = means.filter(([, other]) => gain <= TIED * other).map(([policy]) => `“${policy}”`);
    const together = `${first.slice(0, -1).join(", ")} and ${first.at(-1)} cannot be told apart`;
    const won =
        first.length > 1
          ? first.includes("“never”")
            ? `${together} here, and nothing is faster.`
            : `${together}: ${gain.toFixed(2)} times as fast as “never”.`
          : winner === "never"
            ? "“never” is the fastest here: drafts cost more than they bring."
            : `“${winner}” is the fastest: ${gain.toFixed(2)} times as fast as “never”.`,
      times = means[1][1].toFixed(2),
      other = `“always” is ${means[1][1] < 0.98 ? `slower: ${times}` : `${times} times`}.`;
    const limit = limits[gamma],
      [name, last] = logs.find(([policy]) => policy === watched) ?? logs.at(-1);
    const pays =
      limit === null
        ? `With γ\u00a0=\u00a0${gamma}, drafts pay at every size of the batch.`
        : `With γ\u00a0=\u00a0${gamma}, drafts do not pay from ${limit} texts on.`;
    const starts = back({ off, on }),
      waits = starts < off ? ` Once it has stopped, it waits until at most ${starts} run.` : "",
      by = starts < 1 ? "never drafts." : `drafts while at most ${off} texts run.${waits}`;
    const steps = last.steps.filter((_, i) => i % Math.max(1, Math.floor(last.steps.length / POINTS)) === 0);
    const over = (what, title, unit) =>
      drawn(
        chart(title, [{ name: unit, stairs: true, points: steps.map((s) => [s.at, s[what]]) }], "", "", {
          tall: 88,
          unit: " s",
        }),
      );
    const table = grid(
      ["policy", "speed, “never” is 1", "ms a token", "95 % within"],
      rows,
      undefined,
      "speed, and milliseconds a token",
    );
    table.classList.add("sdl-full");
    const note = [
      `${came.length} requests, ${load} % of what plain decoding can serve.`,
      `With γ\u00a0=\u00a0${gamma} a round writes ${tokens[gamma].toFixed(2)} tokens.`,
      "The times are milliseconds a token, from a request's arrival to its end; the speed compares their means.",
    ].join(" ");
    const folded = fold(
      "what is served",
      { kept },
      div("sdl-note", note),
      grid(["policy", "tokens/s", "steps with drafts", "switches"], counts),
    );
    return {
      nodes: [
        inLarge(gain, h("b", {}, won), ` ${other}`, span("sdl-exact", ` ${pays} “on and off” ${by}`)),
        table,
        folded,
      ],
      inside: [
        pair(
          [over("running", `Texts in the batch, with “${name}”`, "texts")],
          [over("gamma", "γ of its steps", "γ")],
          "sdl-halves",
        ),
      ],
      said: rows.map(([policy, , mean]) => `${policy}: ${mean}`).join(", ") + " milliseconds a token",
    };
  }

  panel(context, "Load Lab", { ...start, watched: Object.keys(mine).at(-1) ?? "on and off" }, controls, draw, {
    name: () => "set “on and off”, and watch the steps",
    holds: ["off", "on", "watched"],
  });
}

export default { render };
