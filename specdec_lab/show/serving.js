// The server under load of measure/serving.py. A test compares both over the whole range of the Load Lab's controls.

const never = () => 0;
const always = (gamma) => () => gamma;

/** γ drafts while few texts run, none while many do: off above one number of texts, on again below another. */
const loadAware = (gamma, offAbove, onBelow) => (running, last) => (running < (last ? offAbove + 1 : onBelow) ? gamma : 0);

/** A policy that was asked beforehand: table[γ of the step before][texts − 1] is its γ. */
const tabled = (table) => (running, last) => table[last][running - 1];

/** (texts, γ) → seconds of a step, on straight lines between what was measured: [[texts, γ, seconds], …]. */
function stepCosts(measured) {
  const known = new Map(measured.map(([texts, gamma, seconds]) => [`${texts} ${gamma}`, seconds]));
  const sizes = [...new Set(measured.map(([texts]) => texts))].sort((a, b) => a - b);
  return (texts, gamma) => {
    const above = sizes.find((n) => n >= texts), below = sizes.findLast((n) => n <= texts) ?? above;
    const share = above > below ? (texts - below) / (above - below) : 0;
    return known.get(`${below} ${gamma}`) * (1 - share) + known.get(`${above} ${gamma}`) * share;
  };
}

/** What a server would do with these arrivals, [[seconds, tokens], …] in their order.
 *  machine: {costs, join, most, accepted}, accepted(i) being the accepted drafts of the round drawn as number i. */
function simulate(arrivals, policy, { costs, join, most, accepted }) {
  const log = { served: [], steps: [] };
  let running = [], next = 0, now = 0, gamma = 0, drawn = 0;
  while (next < arrivals.length || running.length) {
    if (!running.length) now = Math.max(now, arrivals[next][0]);
    let joined = 0;
    while (next < arrivals.length && arrivals[next][0] <= now && running.length < most) {
      const [at, tokens] = arrivals[next];
      running.push({ at, tokens, begun: now, written: 0 });
      next += 1;
      joined += 1;
    }
    gamma = policy(running.length, gamma);
    const seconds = costs(running.length, gamma) + joined * join;
    log.steps.push({ at: now, seconds, running: running.length, gamma });
    now += seconds;
    for (const row of running) {
      row.written += Math.min(1 + Math.min(gamma, accepted(drawn)), row.tokens - row.written);
      drawn += 1;
      if (row.written === row.tokens) log.served.push({ at: row.at, begun: row.begun, done: now, tokens: row.tokens });
    }
    running = running.filter((row) => row.written < row.tokens);
  }
  return log;
}

/** What the table says of a log: seconds a token (mean, half within, 95 % within), tokens a second, share of steps with drafts, switches. */
function summary({ served, steps }) {
  const times = served.map((s) => (s.done - s.at) / s.tokens).sort((a, b) => a - b);
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const within = (share) => times[Math.max(0, Math.ceil(share * times.length - 1e-9) - 1)];
  const first = Math.min(...served.map((s) => s.at)), last = Math.max(...served.map((s) => s.done));
  return {
    mean: total(times) / times.length, half: within(0.5), most: within(0.95),
    throughput: total(served.map((s) => s.tokens)) / (last - first),
    drafting: steps.filter((s) => s.gamma > 0).length / steps.length,
    switches: steps.filter((s, i) => i && s.gamma > 0 !== steps[i - 1].gamma > 0).length,
  };
}
