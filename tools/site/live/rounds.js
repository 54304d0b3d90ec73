// What a round does, without any model: the greedy rule, lookup, and the form in which rounds are shown. Held
// to the rounds
// that the engine recorded (tests/browser/test_live_rounds.py).

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

/** The largest of some numbers: the first one where several are equal, as the engine takes it. */
export function largest(logits) {
  let best = 0;
  for (let i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
  return best;
}

/**
 * One round as the Round Explorer takes it.
 * drafts: [{id, q}] with q of `chances` or null for a copy; rows: the target's logits at each draft and
 * after the last one;
 * stop: which token ends the text, or null; room: how many tokens may still be written; word(id): a
 * token's text.
 */
export function roundOf(drafts, rows, ends, room, word) {
  const favourites = rows.map(largest),
    ids = drafts.map(({ id }) => id);
  let kept = accepted(ids, favourites),
    stop = null;
  for (let i = 0; i < kept && !stop; i++) if (ends.includes(ids[i])) [kept, stop] = [i + 1, "eos"];
  if (!stop && kept >= room) [kept, stop] = [room, "limit"];
  const pairs = (top) => top.map(([id, p]) => ({ id, text: word(id), p }));
  const drafted = drafts.map(({ id, q }, i) => {
    const p = chances(rows[i], id),
      same = id === favourites[i];
    const status = i < kept ? "accepted" : i === kept && !stop ? "rejected" : "discarded";
    return {
      id,
      text: word(id),
      p: Number(same),
      q: 1,
      p_raw: p.of,
      q_raw: q ? q.of : 1,
      u: null,
      status,
      overlap: Number(same),
      p_top: pairs(p.top),
      q_top: q ? pairs(q.top) : [{ id, text: word(id), p: 1 }],
    };
  });
  let emitted = null;
  if (!stop) {
    const own = favourites[kept],
      p = chances(rows[kept], own);
    emitted = {
      id: own,
      text: word(own),
      kind: !drafts.length ? "plain" : kept < drafts.length ? "corrected" : "bonus",
      p: 1,
      p_raw: p.of,
      p_top: pairs(p.top),
    };
    if (ends.includes(own)) stop = "eos";
    else if (kept + 1 >= room) stop = "limit";
  }
  return { drafted, emitted, stop, after_top: pairs(chances(rows.at(-1)).top) };
}
