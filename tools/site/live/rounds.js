// What a round does, without any model: both rules, lookup, and the form in which rounds are shown. Held to the
// rounds that the engine recorded (tests/ci/browser/test_live.py).

/**
 * The greedy rule: how many drafts are what the target says. favourites: the target's, at each draft and
 * after the last one.
 */
export function accepted(drafts, favourites) {
  const miss = drafts.findIndex((draft, i) => draft !== favourites[i]);
  return miss < 0 ? drafts.length : miss;
}

/**
 * γ tokens that followed the last time the newest 3, 2 or 1 tokens occurred; [] where they did not. At its
 * end a copy reads on in itself.
 */
export function lookup(text, gamma, longest = 3) {
  for (let n = Math.min(longest, text.length - 1); n >= 1; n--)
    for (let end = text.length - 1; end >= n; end--)
      if (text.slice(end - n, end).every((token, i) => token === text[text.length - n + i])) {
        const copy = text.slice(end);
        for (let i = 0; i < gamma; i++) copy.push(copy[i]);
        return copy.slice(0, gamma);
      }
  return [];
}

/** The chance of one token, and the most likely ones: [[id, chance], …]. */
export function chances(logits, id, most = 5) {
  let top = [],
    high = -Infinity,
    sum = 0;
  for (let i = 0; i < logits.length; i++) {
    if (top.length < most || logits[i] > logits[top.at(-1)]) {
      top.push(i);
      top.sort((a, b) => logits[b] - logits[a] || a - b);
      if (top.length > most) top.pop();
    }
    if (logits[i] > high) high = logits[i];
  }
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i] - high);
  const chance = (i) => (i < 0 ? 0 : Math.exp(logits[i] - high) / sum);
  return { of: id === undefined ? null : chance(id), top: top.map((i) => [i, chance(i)]) };
}

/** A row of scores as chances, at temperature 1. */
export function probabilities(logits) {
  const all = new Float32Array(logits.length);
  let high = -Infinity,
    sum = 0;
  for (const x of logits) if (x > high) high = x;
  for (let i = 0; i < all.length; i++) sum += all[i] = Math.exp(logits[i] - high);
  return all.map((x) => x / sum);
}

/** The token that a number between 0 and 1 draws. */
export function drawn(p, u) {
  let sum = 0,
    last = 0;
  for (let i = 0; i < p.length; i++) {
    if (!p[i]) continue;
    sum += p[i];
    if (u < sum) return i;
    last = i; // sums of rounded numbers may end below 1
  }
  return last;
}

/** What p has and q lacks, divided by its sum: p itself where q lacks nothing. */
export function residual(p, q) {
  const lacks = p.map((x, i) => Math.max(0, x - q[i])),
    sum = lacks.reduce((a, b) => a + b, 0);
  return sum > 0 ? lacks.map((x) => x / sum) : p;
}

/**
 * The rule for drawn text (specdec_lab/engine/verify.py): the draft x is kept if u·q(x) < p(x). The first that is
 * not is replaced by a token drawn from the residual; after the last one a token is drawn from p.
 * p: a row more than drafts. us: one number for each draft. dice() draws the other token.
 */
export function verify(drafts, p, q, us, dice) {
  const miss = drafts.findIndex((x, i) => !(us[i] * q[i][x] < p[i][x]));
  if (miss < 0) return { kept: drafts.length, own: drawn(p.at(-1), dice()) };
  return { kept: miss, own: drawn(residual(p[miss], q[miss]), dice()) };
}

/** q of a draft that is a copy: sure of its token. */
const sure = (id, size) => {
  const q = new Float32Array(size);
  q[id] = 1;
  return q;
};

/** The largest of some numbers: the first one where several are equal, as the engine takes it. */
export function largest(logits) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  return best;
}

/**
 * One round as the Round Explorer takes it.
 * drafts: [{id, q, row}] with q of `chances` or null for a copy, and row the chances that it was drawn from; rows:
 * the target's logits at each draft and after the last one; ends: tokens that end the text; room: how many tokens
 * may still be written; word(id, i): a token's text behind i of the drafts; dice: draws numbers, or null where the text
 * is greedy.
 */
export function roundOf(drafts, rows, ends, room, word, dice = null) {
  const ids = drafts.map(({ id }) => id),
    us = drafts.map(() => (dice ? dice() : null)),
    favourites = rows.map(largest);
  const p = dice && rows.map(probabilities),
    q = dice && drafts.map(({ id, row }, i) => row ?? sure(id, p[i].length));
  const found = dice ? verify(ids, p, q, us, dice) : { kept: accepted(ids, favourites) };
  const own = dice ? found.own : favourites[found.kept];
  let kept = found.kept,
    stop = null;
  for (let i = 0; i < kept && !stop; i++) if (ends.includes(ids[i])) [kept, stop] = [i + 1, "eos"];
  if (!stop && kept >= room) [kept, stop] = [room, "limit"];
  const pairs = (top, place) => top.map(([id, p]) => ({ id, text: word(id, place), p }));
  const drafted = drafts.map(({ id, q: of }, i) => {
    const raw = chances(rows[i], id),
      same = Number(id === favourites[i]); // p and q of greedy text are 1 for one token
    return {
      id,
      text: word(id, i),
      p: dice ? p[i][id] : same,
      q: dice ? q[i][id] : 1,
      p_raw: raw.of,
      q_raw: of ? of.of : 1,
      u: us[i],
      status: i < kept ? "accepted" : i === kept && !stop ? "rejected" : "discarded",
      overlap: dice ? p[i].reduce((sum, x, token) => sum + Math.min(x, q[i][token]), 0) : same,
      p_top: pairs(raw.top, i),
      q_top: of ? pairs(of.top, i) : [{ id, text: word(id, i), p: 1 }],
    };
  });
  let emitted = null;
  if (!stop) {
    const raw = chances(rows[kept], own);
    emitted = {
      id: own,
      text: word(own, kept),
      kind: !drafts.length ? "plain" : kept < drafts.length ? "corrected" : "bonus",
      p: dice ? p[kept][own] : 1,
      p_raw: raw.of,
      p_top: pairs(raw.top, kept),
    };
    if (ends.includes(own)) stop = "eos";
    else if (kept + 1 >= room) stop = "limit";
  }
  return { drafted, emitted, stop, after_top: pairs(chances(rows.at(-1)).top, drafts.length) };
}
