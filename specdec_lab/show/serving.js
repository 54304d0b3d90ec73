// The server under load of measure/serving.py. A test compares both over the whole range of the Load Lab's
// controls.

const never = () => 0;
const always = (gamma) => () => gamma;

/**
 * γ drafts while few texts run, none while many do: off above one number of texts, on again below another.
 */
const loadAware = (gamma, offAbove, onBelow) => (running, last) =>
  running < (last ? offAbove + 1 : onBelow) ? gamma : 0;

/** A policy that was asked beforehand: table[γ of the step before][texts − 1] is its γ. */
const tabled = (table) => (running, last) => table[last][running - 1];

/** (texts, γ) → seconds of a step, on straight lines between what was measured: [[texts, γ, seconds], …]. */
function stepCosts(measured) {
  const known = new Map(measured.map(([texts, gamma, seconds]) => [`${texts} ${gamma}`, seconds]));
  const sizes = [...new Set(measured.map(([texts]) => texts))].sort((a, b) => a - b);
  return (texts, gamma) => {
    const above = sizes.find((n) => n >= texts),
      below = sizes.findLast((n) => n <= texts) ?? above;
    const share = above > below ? (texts - below) / (above - below) : 0;
    return known.get(`${below} ${gamma}`) * (1 - share) + known.get(`${above} ${gamma}`) * share;
  };
}

/**
 * Seconds of a step with γ drafts for each text, by the rows of its pass, where not all drafts are checked:
 * seconds_by_rows of measure/serving.py.
 */
function costsByRows(measured, free, texts, gamma) {
  const pass = stepCosts(free),
    drafting = stepCosts(measured)(texts, gamma) - pass(texts, gamma);
  const gammas = [...new Set(free.map(([, g]) => g))].sort((a, b) => a - b),
    hull = [];
  for (const [x, y] of gammas.map((g) => [texts * (g + 1), pass(texts, g)])) {
    const bends = ([x0, y0], [x1, y1]) => (y1 - y0) * (x - x0) >= (y - y0) * (x1 - x0);
    while (hull.length > 1 && bends(hull.at(-2), hull.at(-1))) hull.pop();
    hull.push([x, y]);
  }
  return (rows) => {
    const found = hull.findIndex(([x]) => x >= rows),
      i = Math.min(Math.max(1, found < 0 ? hull.length : found), hull.length - 1);
    const [[x0, y0], [x1, y1]] = [hull[i - 1], hull[i]];
    return drafting + y0 + ((y1 - y0) / (x1 - x0)) * (rows - x0);
  };
}

/**
 * How many drafts of each text to check, by the chances of each to survive: to_check of engine/confidence.py.
 */
function toCheck(chances, seconds) {
  const counts = chances.map(() => 0),
    slots = chances.flatMap((row, text) => row.map((chance) => [chance, text]));
  let tokens = chances.length,
    rows = chances.length;
  for (const [chance, text] of slots.sort((a, b) => b[0] - a[0])) {
    if ((tokens + chance) / seconds(rows + 1) < tokens / seconds(rows)) break;
    counts[text] += 1;
    tokens += chance;
    rows += 1;
  }
  return counts;
}

/**
 * γ by the number of texts, [[texts, γ], …]; and of these drafts only those are checked that are worth their
 * row.
 */
function byConfidence({ measured, free, best }) {
  const known = new Map();
  const policy = (running) => best.find(([texts]) => texts >= running)[1];
  policy.seconds = (texts, gamma) => {
    const key = `${texts} ${gamma}`;
    if (!known.has(key)) known.set(key, costsByRows(measured, free, texts, gamma));
    return known.get(key);
  };
  return policy;
}

/**
 * The rounds of a machine in the order in which they are drawn: number i → [accepted drafts, their chances].
 */
const drawnFrom =
  ({ outcomes, rounds }) =>
  (i) =>
    outcomes[90 * (rounds.charCodeAt(2 * i) - 35) + rounds.charCodeAt(2 * i + 1) - 35];

/** The tokens that each text of a step writes, and the seconds that it takes. */
function oneStep(drawn, gamma, costs, policy) {
  const texts = drawn.length,
    written = (counts) => drawn.map(([accepted], i) => 1 + Math.min(counts(i), accepted));
  if (gamma === 0 || !policy.seconds) return [written(() => gamma), costs(texts, gamma)];
  const seconds = policy.seconds(texts, gamma),
    counts = toCheck(
      drawn.map(([, chances]) => chances.slice(0, gamma)),
      seconds,
    );
  return [written((i) => counts[i]), seconds(texts + counts.reduce((a, b) => a + b, 0))];
}

/** What a server would do with these arrivals, [[seconds, tokens], …] in their order.
 *  machine: {costs, join, catchUp, most, drawn}, drawn(i) being the round drawn as number i. */
function simulate(arrivals, policy, { costs, join, catchUp, most, drawn }) {
  const log = { served: [], steps: [] };
  let running = [],
    next = 0,
    now = 0,
    gamma = 0,
    rounds = 0;
  while (next < arrivals.length || running.length) {
    if (!running.length) now = Math.max(now, arrivals[next][0]);
    let joined = 0;
    while (next < arrivals.length && arrivals[next][0] <= now && running.length < most) {
      const [at, tokens] = arrivals[next];
      running.push({ at, tokens, begun: now, written: 0, missed: 0 });
      next += 1;
      joined += 1;
    }
    gamma = policy(running.length, gamma);
    const [tokens, spent] = oneStep(
      running.map((_, i) => drawn(rounds + i)),
      gamma,
      costs,
      policy,
    );
    rounds += running.length;
    const caughtUp = gamma ? running.reduce((sum, row) => sum + row.missed, 0) : 0;
    const seconds = spent + joined * join + caughtUp * catchUp;
    log.steps.push({ at: now, seconds, running: running.length, gamma });
    now += seconds;
    running.forEach((row, i) => {
      const fresh = Math.min(tokens[i], row.tokens - row.written);
      row.written += fresh;
      row.missed = gamma ? 0 : row.missed + fresh;
      if (row.written === row.tokens) log.served.push({ at: row.at, begun: row.begun, done: now, tokens: row.tokens });
    });
    running = running.filter((row) => row.written < row.tokens);
  }
  return log;
}

/**
 * What the table says of a log: seconds a token (mean, half within, 95 % within), tokens a second, share of
 * steps with drafts, switches.
 */
function summary({ served, steps }) {
  const times = served.map((s) => (s.done - s.at) / s.tokens).sort((a, b) => a - b);
  const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const within = (share) => times[Math.max(0, Math.ceil(share * times.length - 1e-9) - 1)];
  const first = Math.min(...served.map((s) => s.at)),
    last = Math.max(...served.map((s) => s.done));
  return {
    mean: total(times) / times.length,
    half: within(0.5),
    most: within(0.95),
    throughput: total(served.map((s) => s.tokens)) / (last - first),
    drafting: steps.filter((s) => s.gamma > 0).length / steps.length,
    switches: steps.filter((s, i) => i && s.gamma > 0 !== steps[i - 1].gamma > 0).length,
  };
}
