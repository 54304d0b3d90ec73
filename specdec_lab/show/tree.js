// The Tree Explorer: choose the way through a tree that you expect to be kept, reveal the round, step through
// all of them.

const KEYS = "Keys: Tab moves, Enter chooses, ← and → change the round.";

function render({ model, el }) {
  const data = model.get("data");
  const rounds = data.rounds;
  const state = readerOf(model),
    opened = {}; // which folds are open

  const [body, live] = [div(), aloud()];
  const root = card("Tree Explorer", "sdl-trees", body, live);
  el.append(root);

  const mark = (word) => data.marks[word];
  const chip = (word) => chipOf(mark(word), word);
  const parent = (r, i) => r.drafted[i].parent ?? i - 1;
  const way = (r, i) => (i < 0 ? [] : [...way(r, parent(r, i)), i]); // a draft, behind all that it follows
  const children = (r, place) => r.drafted.map((_, i) => i).filter((i) => parent(r, i) === place);
  const kept = (r) => r.drafted.map((d, i) => (d.status === "accepted" ? i : -1)).filter((i) => i >= 0);
  /** Where the target's own token goes: behind the last draft that was kept. */
  const place = (r) => kept(r).at(-1) ?? -1;
  /** The target's favourites behind a draft, or behind the text. */
  function favourites(r, at) {
    const next = children(r, at)[0];
    if (next !== undefined) return r.drafted[next].p_top;
    return (at < 0 ? r.after_top : (r.drafted[at].after_top ?? (at === r.drafted.length - 1 ? r.after_top : []))) ?? [];
  }
  const marked = () => new Set(state.guesses[state.round] ?? []);

  const keep = () => keepPlace(model, state);

  function reveal() {
    state.revealed.add(state.round);
    draw(".sdl-next");
    live.textContent = `Round ${state.round + 1}: ${yours()}${sentence(rounds[state.round])}`;
    keep();
  }

  function go(to, focus) {
    // what was chosen gets its answer
    if (to > state.round && marked().size && !state.revealed.has(state.round)) return reveal();
    const next = Math.max(0, Math.min(rounds.length - 1, to));
    if (next !== state.round) Object.assign(state, { round: next, chosen: 0 });
    live.textContent = `Round ${state.round + 1} of ${rounds.length}.`;
    draw(focus);
    keep();
  }

  function choose(i) {
    const r = rounds[state.round],
      shown = state.revealed.has(state.round);
    state.chosen = i;
    if (shown) opened[NUMBERS] = true;
    // at most one way is kept: it ends here, or before what is taken off
    else state.guesses[state.round] = way(r, marked().has(i) ? parent(r, i) : i);
    if (!shown) live.textContent = yours();
    keep();
    draw(`.sdl-token[data-column="${i}"]`);
  }

  /** What is chosen in this round, and what came of it. */
  function yours() {
    const n = marked().size,
      way = kept(rounds[state.round]),
      right = way.filter((i) => marked().has(i)).length;
    if (!state.revealed.has(state.round)) return `${n} draft${n === 1 ? "" : "s"} chosen. `;
    if (!n) return "";
    return n === right && n === way.length
      ? "✓ Right. "
      : `Your way: ${right} of ${n} kept${right < way.length ? `, and ${way.length - right} that you left out` : ""}. `;
  }

  function sentence(r) {
    const n = kept(r).length,
      all = r.drafted.length;
    const tokens = `${n + 1} token${n ? "s" : ""} from one pass over ${all + 1} rows`;
    if (!r.emitted) return `${n} of ${all} drafts kept, and the text ends there (${STOPS[r.stop] ?? r.stop}).`;
    if (!all) return "nothing was drafted: a plain step, one token from one pass.";
    const miss =
      r.emitted.kind === "corrected"
        ? "no draft that stood next was the target's, so it corrects"
        : "nothing was drafted behind them, so the target adds a bonus";
    return `${n} of ${all} drafts kept; ${miss}: ${tokens}.`;
  }

  function node(r, i, shown) {
    const d = r.drafted[i],
      set = marked();
    const word = shown ? d.status : null;
    const said = shown ? `, ${d.status}` : set.has(i) ? ", you expect it to be kept" : "";
    return h(
      "button",
      {
        class: `sdl-token${word ? ` sdl-${word}` : ""}${shown && state.chosen === i ? " sdl-chosen" : ""}`,
        style: word ? `--mark: ${mark(word).colour}` : null,
        "aria-pressed": String(shown ? state.chosen === i : set.has(i)),
        "aria-label": `draft ${i + 1}: ${named(d.text)}${said}`,
        "data-column": i,
        "data-happened": word,
        onclick: () => choose(i),
      },
      `${shown ? mark(word).symbol : set.has(i) ? "●" : "○"} `,
      token(d.text),
      shown && set.has(i) !== (word === "accepted")
        ? span("sdl-note", set.has(i) ? either(" you: kept", "") : set.size ? either(" you: not kept", "") : "")
        : null,
    );
  }

  /**
   * What stands behind a place: the target's word, which a round keeps until it is revealed, but for the
   * first; and each draft, with its own place behind it.
   */
  function behind(r, at, shown) {
    const word =
      shown || !state.round
        ? token(favourites(r, at)[0]?.text ?? "–")
        : h("span", { class: "sdl-shut", role: "img", "aria-label": "not shown yet" }, "?");
    const own = shown && r.emitted && place(r) === at;
    const says = span(
      "sdl-says",
      " → ",
      h("span", { class: at < 0 ? "" : "sdl-exact" }, data.greedy ? "target: " : "favourite: "),
      word,
    );
    const list = h(
      "ul",
      { class: "sdl-branches" },
      ...children(r, at).map((i) => h("li", {}, node(r, i, shown), ...behind(r, i, shown))),
    );
    if (own) {
      const { kind, text } = r.emitted;
      list.append(
        h(
          "li",
          { "data-happened": kind },
          h(
            "span",
            { class: `sdl-chip sdl-${kind}`, style: `--mark: ${mark(kind).colour}` },
            `${mark(kind).symbol} `,
            token(text),
          ),
          span("sdl-note sdl-exact", ` ${kind}`),
        ),
      );
    }
    // said twice, or of a place that is not in the text
    const silent = shown && at >= 0 && (own || r.drafted[at].status === "discarded");
    return [...(silent ? [] : [says]), ...(list.children.length ? [list] : [])];
  }

  /** The numbers behind one draft. */
  function detail(r) {
    const d = r.drafted[state.chosen];
    if (!d) return div("sdl-detail");
    const older = children(r, parent(r, state.chosen)).filter((i) => i < state.chosen);
    const left =
      older.length && d.status !== "discarded" ? "p, what the refused ones before it left" : "p, the target's";
    return draftDetail(
      state.chosen,
      d,
      data.greedy,
      left,
      "q, what it was drawn from",
      div("", chip(d.status), d.status === "discarded" ? " its place was not reached, or an older one was kept" : ""),
    );
  }

  function totals() {
    const seen = [...state.revealed].map((i) => rounds[i]);
    const tokens = seen.reduce((sum, r) => sum + kept(r).length + (r.emitted ? 1 : 0), 0);
    const rows = seen.reduce((sum, r) => sum + r.drafted.length + 1, 0);
    const set = [...state.revealed].filter((i) => (state.guesses[i] ?? []).length);
    const right = set.filter((i) => String(state.guesses[i]) === String(kept(rounds[i]))).length;
    const items = [
      ["rounds revealed", `${seen.length} of ${rounds.length}`],
      ["new tokens", tokens],
      ["rows computed", rows],
      ["tokens per pass", seen.length ? (tokens / seen.length).toFixed(2) : "–"],
      ["ways found", set.length ? `${right} of ${set.length}` : "–"],
    ];
    return counted(items.filter(([, value]) => value !== "–"));
  }

  function draw(focus) {
    const r = rounds[state.round],
      shown = state.revealed.has(state.round);
    const bar = div(
      "sdl-nav",
      ...roundButtons(state.round, rounds, { shown, revealNow: !shown && marked().size, go, reveal }),
      span("sdl-where", `round ${state.round + 1} of ${rounds.length}`),
    );
    body.replaceChildren(
      div("sdl-title", data.title),
      bar,
      textSoFar(rounds, state.round, state.revealed, mark),
      h(
        "p",
        { class: "sdl-verdict" },
        h(
          "b",
          {},
          shown
            ? yours()
            : marked().size
              ? yours()
              : state.round === 0
                ? "Follow the target down the tree: choose what is kept, then reveal."
                : "The target is hidden now. Which drafts will be kept? Choose them, then reveal.",
        ),
        shown ? sentence(r) : "",
      ),
      div("sdl-scroll", ...behind(r, -1, shown)),
      state.revealed.size ? totals() : "",
      div(
        "sdl-foot",
        shown ? fold(NUMBERS, { class: "sdl-numbers", kept: opened }, detail(r)) : null,
        legend(opened, data.marks, KEYS, Object.keys(TREE_MEANING), (word) => TREE_MEANING[word]),
      ),
    );
    if (focus) focusOn(body, focus);
  }

  ownKeys(
    root,
    arrows((by) => go(state.round + by, by > 0 ? ".sdl-next" : ".sdl-previous")),
  );
  draw();
}

const TREE_MEANING = {
  accepted: "kept: the way into the text",
  rejected: "offered and refused",
  discarded: "never offered",
  corrected: "the target's own token, where all that was offered was refused",
  bonus: "the target's own token, where nothing was drafted",
};

export default { render };
