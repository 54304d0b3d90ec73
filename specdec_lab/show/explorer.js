// The Round Explorer: find the first miss of a round, see what happened, step and play through all of them.
// Everything it shows comes from one synced value, `data`; it needs no kernel once drawn.

const LEGEND = ["accepted", "rejected", "corrected", "bonus", "discarded", "plain"];

/**
 * The first miss of a round, counted from 0; the number of its drafts where there is none. What a learner
 * says has the same form.
 */
const missOf = (r) => {
  const miss = r.drafted.findIndex((d) => d.status === "rejected");
  return miss < 0 ? r.drafted.length : miss;
};

/** One run. above: what stands over its title. */
function explore({ model, el }, above = "") {
  const data = model.get("data");
  const rounds = data.rounds;
  const state = { ...readerOf(model), timer: null },
    kept = {}; // which folds are open
  // as lessons/stills.py asks for it: nothing can be pressed
  if (model.get("still")) rounds.forEach((_, i) => state.revealed.add(i));

  const [body, live] = [div(), aloud()];
  const root = card("Round Explorer", rounds.length === 1 ? "sdl-one" : "", above, body, live);
  el.append(root);

  const mark = (word) => data.marks[word];
  const chip = (word) => chipOf(mark(word), word);

  /** What really happened, a word for each column: the drafts, then the target's own token. */
  const truth = (r) => [...r.drafted.map((d) => d.status), r.emitted ? r.emitted.kind : "nothing"];

  /** The learner says which draft is the first miss; all marks of the round follow from it. */
  function say(miss) {
    state.guesses[state.round] = miss;
    state.chosen = Math.min(miss, missOf(rounds[state.round]));
    reveal();
  }

  function again() {
    state.revealed.delete(state.round);
    delete state.guesses[state.round];
    draw(".sdl-token");
    keep();
  }

  function reveal() {
    state.revealed.add(state.round);
    draw(
      state.timer
        ? null
        : rounds.length > 1
          ? ".sdl-next:not([disabled])"
          : `.sdl-token[data-column="${state.chosen}"]`,
    );
    const r = rounds[state.round];
    live.textContent = `Round ${state.round + 1}: ${said()} ${verdictSentence(r)}`;
    if (!state.timer) bringIn(root); // who lets it play may read on
    keep();
  }

  const keep = () => keepPlace(model, state);

  function go(to, focus) {
    const next = Math.max(0, Math.min(rounds.length - 1, to));
    if (next !== state.round) {
      // the text goes on with it, so its marks are to be seen
      if (next === state.round + 1) state.revealed.add(state.round);
      state.round = next;
      state.chosen = 0;
    }
    live.textContent = `Round ${state.round + 1} of ${rounds.length}.`;
    draw(focus);
    keep();
  }

  /** All rounds from here on, revealed one after the other: who plays them is not asked. */
  function play() {
    if (state.timer) return stop();
    if (state.round === rounds.length - 1) state.round = 0;
    state.timer = setInterval(() => {
      if (!el.isConnected) return clearInterval(state.timer);
      if (state.round === rounds.length - 1) return stop();
      state.revealed.add(state.round + 1); // at once: it is not asked, so it is never drawn closed
      go(state.round + 1);
      reveal();
    }, 1500);
    if (!state.revealed.has(state.round)) reveal();
    draw(".sdl-play");
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    draw();
  }

  /** Where the first miss is, and what became of what the learner said. */
  function said() {
    const guess = state.guesses[state.round],
      r = rounds[state.round],
      miss = missOf(r);
    // and nobody knows if a miss would have come
    if (!r.emitted) return `The text ends here (${STOPS[r.stop] ?? r.stop}).`;
    if (guess === miss) return "✓ Right.";
    const where = miss < r.drafted.length ? `the first miss is draft ${miss + 1}.` : "there is no miss.";
    if (guess === undefined) return where[0].toUpperCase() + where.slice(1);
    return `Not quite: ${where}`;
  }

  function verdictSentence(r) {
    const n = r.drafted.length,
      miss = missOf(r);
    const kept = r.drafted.filter((d) => d.status === "accepted").length;
    if (!r.emitted) {
      const ends = `the text ends there (${STOPS[r.stop] ?? r.stop}): the rest of the round is not used.`;
      return `${kept} accepted, and ${ends}`;
    }
    if (n === 0) return "Nothing was drafted: a plain step, one token from one pass.";
    const guess = state.guesses[state.round],
      agrees = guess < miss ? `Draft ${guess + 1} agrees. ` : "";
    const all = n === 1 ? "The one draft" : `All ${n} drafts`,
      first = kept ? `${kept} accepted, and draft` : "Draft",
      tokens = `${kept + 1} token${kept ? "s" : ""} from one pass.`;
    return miss === n
      ? `${agrees}${all} accepted, and a + bonus token from the last row of the same pass: ${n + 1} tokens.`
      : `${agrees}${first} ${miss + 1} is ↻ corrected by the target: ${tokens}`;
  }

  /** A token as a button: before the round is revealed it is an answer, afterwards it shows its numbers. */
  function tokenButton(column, text, word, label, press) {
    return h(
      "button",
      {
        class: `sdl-token${word ? ` sdl-${word}` : ""}${word && state.chosen === column ? " sdl-chosen" : ""}`,
        style: word ? `--mark: ${mark(word).colour}` : null,
        "aria-pressed": word ? String(state.chosen === column) : null,
        "aria-label": label,
        "data-column": column,
        "data-happened": word && column < rounds[state.round].drafted.length ? word : null,
        onclick:
          press ??
          (() => {
            state.chosen = column;
            kept[NUMBERS] = true;
            keep();
            draw(`.sdl-token[data-column="${column}"]`);
            bringIn(body.querySelector(".sdl-numbers"));
          }),
      },
      word === (rounds[state.round].emitted?.kind ?? "") ? `${mark(word).symbol} ` : null,
      token(text),
    );
  }

  function ownButton(r, column) {
    const { text, kind } = r.emitted;
    return tokenButton(column, text, kind, `the target's own token: ${named(text)}, ${kind}`);
  }

  function strip(r, shown) {
    const n = r.drafted.length,
      words = truth(r);
    const head = tr(
      "",
      td(),
      ...r.drafted.map((_, i) => h("th", { scope: "col" }, `draft ${i + 1}`)),
      h("th", { scope: "col" }, n ? `after draft ${n}` : "next"),
    );
    const drafts = tr(
      "",
      h("th", { scope: "row", class: "sdl-of-draft" }, either("the draft says", "draft")),
      ...r.drafted.map((d, i) =>
        td(
          "",
          shown
            ? tokenButton(i, d.text, d.status, `draft ${i + 1}: ${named(d.text)}, ${d.status}`)
            : tokenButton(i, d.text, null, `draft ${i + 1}, ${named(d.text)}, is the first miss`, () => say(i)),
        ),
      ),
      td("", n && !shown ? h("button", { class: "sdl-none", "data-column": n, onclick: () => say(n) }, "no miss") : ""),
    );
    // Its words are the answer. A round made by hand shows them, to be compared by eye; a real one keeps them
    // until it is answered.
    const favourites = [...r.drafted.map((d) => d.p_top[0]), r.after_top[0]],
      told = shown || data.words;
    // of the target's own token: a correction stands where the miss was, a bonus after the last draft
    const place = shown && r.emitted ? words.filter((word) => word === "accepted").length : -1;
    const target = tr(
      "",
      h(
        "th",
        { scope: "row", class: "sdl-of-target" },
        either(data.greedy ? "the target says" : "the target's favourite", "target"),
      ),
      ...favourites.map((top, i) =>
        i === place
          ? h("td", { "data-happened": r.emitted.kind }, ownButton(r, n))
          : td(
              "",
              told
                ? token(top?.text ?? "–", "sdl-plain")
                : h("span", { class: "sdl-shut", role: "img", "aria-label": "not shown yet" }, "?"),
            ),
      ),
    );
    // empty until the round is revealed, so that nothing moves then
    const marks = tr(
      "",
      h("th", { scope: "row" }, either("what happened", "result")),
      ...words.map((word, i) =>
        td(
          "",
          !shown
            ? ""
            : i === n && word !== "bonus" && word !== "plain"
              ? span("sdl-note sdl-unused", "not used")
              : chip(word),
        ),
      ),
    );
    const rows = [head, drafts, target, marks];
    const table = h(
      "table",
      { class: `sdl-strip${n > 6 ? " sdl-many" : ""}`, role: "table", style: `--columns: ${words.length + 1}` },
      h("tbody", { role: "rowgroup" }, ...rows),
    );
    return div("sdl-scroll", tabular(table));
  }

  /**
   * All rounds beside each other, each as high as the tokens that it wrote; those that were not revealed yet
   * are flat.
   */
  function roundsStrip() {
    const most = Math.max(...rounds.map((r) => written(r).length), 1),
      seen = (i) => state.revealed.has(i);
    return h(
      "div",
      { class: "sdl-rounds", role: "group", "aria-label": "All rounds", style: `--most: ${most}` },
      ...rounds.map((r, i) =>
        h(
          "button",
          {
            class: `sdl-round${seen(i) ? "" : " sdl-closed"}`,
            "data-column": `r${i}`,
            tabindex: i === state.round ? 0 : -1,
            "aria-current": i === state.round ? "true" : null,
            "aria-label": `round ${i + 1}: ${seen(i) ? `${written(r).length} tokens` : "still closed"}`,
            onclick: () => go(i, ".sdl-round[aria-current]"),
          },
          ...(seen(i)
            ? written(r)
                .map(([, word]) =>
                  h("span", { class: `sdl-${word}`, style: `--mark: ${mark(word).colour}` }, mark(word).symbol),
                )
                .reverse()
            : [span("", "?")]),
        ),
      ),
    );
  }

  /**
   * Whether a draft is kept, on a line from 0 to 1: min(1, p/q) is filled, and the number that was drawn is a
   * tick.
   */
  function chance(ratio, u) {
    return h(
      "div",
      { class: "sdl-chance", role: "img", "aria-label": `min(1, p/q) = ${number(ratio)}, drawn ${number(u)}` },
      h("div", { style: `width: ${100 * ratio}%` }),
      u == null ? null : h("span", { style: `left: ${100 * u}%` }),
    );
  }

  /** The numbers behind one token. */
  function detail(r, shown) {
    const n = r.drafted.length;
    if (state.chosen < n) {
      const d = r.drafted[state.chosen];
      const decided =
        d.status === "discarded"
          ? r.emitted
            ? "not compared: it follows a token that is not in the text"
            : "cut off, where the text ends"
          : data.greedy
            ? d.p === 1
              ? "it is the target's own choice"
              : "the target chooses another token"
            : `u·q = ${number(d.u * d.q)} is ${d.u * d.q < d.p ? "less than" : "not less than"} p = ${number(d.p)}`;
      return draftDetail(
        state.chosen,
        d,
        data.greedy,
        "p, the target's",
        "q, the draft's",
        data.greedy ? null : chance(ratioOf(d), d.u),
        shown ? div("", decided) : null,
      );
    }
    return div(
      "sdl-detail",
      div("", h("b", {}, "the target's own token: "), shown && r.emitted ? token(r.emitted.text) : "?"),
      shown && r.emitted ? bars("target, top 5", r.emitted.p_top) : null,
    );
  }

  /** The counts over the rounds that were revealed, in one line. */
  function totals() {
    const open = [...state.revealed],
      seen = open.map((i) => rounds[i]);
    const tested = seen.flatMap((r) => r.drafted).filter((d) => d.status !== "discarded");
    const tokens = seen.reduce((sum, r) => sum + written(r).length, 0);
    const alpha = tested.length ? (tested.reduce((sum, d) => sum + d.overlap, 0) / tested.length).toFixed(2) : "–",
      kept = tested.filter((d) => d.status === "accepted");
    const given = open.filter((i) => rounds[i].emitted && state.guesses[i] !== undefined),
      right = given.filter((i) => state.guesses[i] === missOf(rounds[i]));
    const items = [
      ["tokens", tokens],
      ["passes", seen.length],
      [either("tokens per pass", "per pass"), seen.length ? (tokens / seen.length).toFixed(2) : "–"],
      [either("compared and accepted", "accepted"), tested.length ? `${kept.length} of ${tested.length}` : "–"],
      ["α", alpha],
      [either("first misses found", "found"), given.length ? `${right.length} of ${given.length}` : "–"],
    ];
    return counted(items, seen.length ? "" : " sdl-later"); // nothing to count yet, but their place
  }

  /**
   * Draw all of it again, with the focus on `focus`; without one the focus stays where it is, if it is in
   * here.
   */
  function draw(focus) {
    if (!focus && body.contains(document.activeElement)) {
      const held = document.activeElement;
      focus = held.dataset.column
        ? `.${held.classList[0]}[data-column="${held.dataset.column}"]`
        : `.${held.classList[0]}`;
    }
    const r = rounds[state.round],
      shown = state.revealed.has(state.round),
      n = r.drafted.length;
    const last = state.round === rounds.length - 1;
    const bar = div(
      "sdl-nav",
      ...roundButtons(state.round, rounds, { shown, go, reveal }),
      h(
        "button",
        { class: "sdl-play", "aria-pressed": String(!!state.timer), onclick: play },
        state.timer ? "■ stop" : last && shown ? "▶ again" : "▶ play",
      ),
      span("sdl-where", span("sdl-word-of", "round "), `${state.round + 1} of ${rounds.length}`),
    );
    const question = n ? `Which draft ${data.words ? "is" : "will be"} the first miss?` : "Nothing was drafted here.";
    const numbers = fold(NUMBERS, { class: "sdl-numbers", kept }, detail(r, shown));
    const keys = "Keys: Tab moves, Enter presses, ← and → change the round.";
    // nothing to step through; of several, the drafts stay where they are when one is pressed
    const alone = rounds.length === 1;
    const why = shown
      ? verdictSentence(r)
      : n
        ? data.words
          ? "Compare the two rows, and press the first draft that differs, or “no miss”."
          : "Press it, or press “no miss” if the target would write all of them."
        : "";
    body.replaceChildren(
      div("sdl-title", data.title),
      alone ? "" : div("sdl-steps", roundsStrip(), bar),
      textSoFar(rounds, state.round, state.revealed, mark),
      h("p", { class: "sdl-verdict" }, h("b", {}, shown && n ? said() : question)),
      h("p", { class: "sdl-why" }, why),
      strip(r, shown),
      data.words ? "" : totals(),
      div(
        "sdl-foot",
        data.words || !shown ? null : numbers,
        legend(kept, data.marks, keys, LEGEND),
        shown && alone ? h("button", { class: "sdl-again", onclick: again }, "again") : null,
      ),
    );
    const here = body.querySelector(".sdl-round[aria-current]"); // on a phone the strip scrolls
    if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetWidth / 2;
    if (focus) focusOn(body, focus, Boolean(state.timer)); // who lets it play may read on
  }

  ownKeys(
    root,
    arrows((by) => go(state.round + by, by > 0 ? ".sdl-next" : ".sdl-previous")),
  );
  draw();
  return () => clearInterval(state.timer);
}

/** One of several runs, by a menu. */
function render({ model, el }) {
  const { runs, marks, by } = model.get("data");
  if (!runs) return explore({ model, el });
  const names = runs.map((run) => run.name);
  let end, shown;

  function show(name) {
    end?.();
    const choice = menu(by, names, name, (other) => {
      model.set("state", { run: other });
      show(other);
      model.save_changes();
      shown.querySelector("select").focus();
    });
    const data = { ...runs[names.indexOf(name)], marks };
    end = explore({ model: partOf(model, name, data), el }, div("sdl-controls", choice));
    const root = el.lastElementChild;
    shown?.replaceWith(root); // what the page put below it stays there
    shown = root;
  }

  const asked = names.find((name) => name === model.get("state").run) ?? names[0];
  model.set("state", { ...model.get("state"), run: asked });
  show(asked);
  return () => end();
}

export default { render };
