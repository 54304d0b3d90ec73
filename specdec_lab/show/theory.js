// The formulas of theory.py that widgets need. A test compares both over the whole range of the controls.

const sum = (row) => row.reduce((a, b) => a + b, 0);

function expectedTokens(alpha, gamma) {
  let total = 0;
  for (let i = 0; i <= gamma; i += 1) total += alpha ** i;
  return total;
}

const speedup = (alpha, gamma, c, v, o) => expectedTokens(alpha, gamma) / (gamma * c + v + o);

/**
 * The γ with the largest speed-up, v[γ] being the cost of a pass over γ + 1 rows; 0 when none is worth it.
 */
function bestGamma(alpha, c, v, o) {
  let best = 0,
    most = 1;
  for (let gamma = 1; gamma < v.length; gamma += 1) {
    const gain = speedup(alpha, gamma, c, v[gamma], o);
    if (gain > most) [best, most] = [gamma, gain];
  }
  return best;
}

/** The α at which S = 1; null when even α = 1 loses. */
function breakEven(gamma, c, v, o) {
  if (speedup(1, gamma, c, v, o) < 1) return null;
  let low = 0,
    high = 1;
  for (let i = 0; i < 50; i += 1) {
    const middle = (low + high) / 2;
    if (speedup(middle, gamma, c, v, o) >= 1) high = middle;
    else low = middle;
  }
  return high;
}

const acceptance = (p, q) => sum(p.map((x, i) => Math.min(x, q[i])));
const scaled = (row, instead) => (sum(row) > 1e-12 ? row.map((x) => x / sum(row)) : [...instead]);
const residual = (p, q) =>
  scaled(
    p.map((x, i) => Math.max(0, x - q[i])),
    p,
  );
const ratio = (p, q) => p.map((x, i) => (q[i] > 0 ? Math.min(1, x / q[i]) : 1));
const favourite = (p) => p.map((_, i) => Number(i === p.indexOf(Math.max(...p))));
const unmatched = (p, q) =>
  scaled(
    p.map((x, i) => x * (1 - q[i])),
    p,
  );

/** Name: [chance to accept each token, distribution of the replacement]. */
const RULES = {
  "the rule: accept with min(1, p/q), replace from the residual": (p, q) => [ratio(p, q), residual(p, q)],
  "bug: after a rejection, draw from p": (p, q) => [ratio(p, q), p],
  "bug: after a rejection, draw from the draft's q": (p, q) => [ratio(p, q), q],
  "bug: after a rejection, take the target's favourite": (p, q) => [ratio(p, q), favourite(p)],
  "bug: accept every draft": (p) => [p.map(() => 1), p],
  "bug: accept only the target's favourite": (p, q) => [favourite(p), residual(p, q)],
  "relaxed: accept what is at least half as likely as p's favourite": (p) => [
    p.map((x) => Number(x >= Math.max(...p) / 2)),
    p,
  ],
  "another exact way: sample the target, accept a match": (p, q) => [[...p], unmatched(p, q)],
};

/** What comes out of one place: q(x)·accepts(x), and the replacement for all that was rejected. */
function emitted(p, q, accepts, replacement) {
  const rejected = 1 - sum(q.map((x, i) => x * accepts[i]));
  return q.map((x, i) => x * accepts[i] + rejected * replacement[i]);
}
