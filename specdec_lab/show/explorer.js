// The Round Explorer: mark a round, reveal it, step and play through all of them.
// Everything it shows comes from one synced value, `data`; it needs no kernel once drawn.

const MARK_CHOICES = ["accepted", "rejected", "discarded"];
const OWN_CHOICES = ["corrected", "bonus", "plain", "nothing"];
const LEGEND = ["accepted", "rejected", "corrected", "bonus", "discarded", "plain"];

function render({ model, el }) {
  const data = model.get("data");
  const rounds = data.rounds;
  const guesses = model.get("guesses");
  const { round, chosen, open } = placeIn(rounds, model.get("state"));
  const state = { round, chosen, revealed: new Set(model.get("revealed")), guesses: rounds.map((_, i) => ({ ...guesses[i] })), timer: null };
  if (open) state.revealed.add(round);
  model.set("state", placeOf(state));

  const root = h("div", { class: "sdl-explorer", role: "group", "aria-label": "Round Explorer" });
  const live = h("div", { class: "sdl-live", "aria-live": "polite" });
  const body = h("div");
  root.append(body, live);
  el.append(root);
  hideStored(data);

  const mark = (word) => data.marks[word];
  const chip = (word) =>
    h("span", { class: `sdl-chip sdl-${word}`, style: `--mark: ${mark(word).colour}` }, `${mark(word).symbol} ${word}`);

  /** What really happened, a word for each column: the drafts, then the target's own token. */
  const truth = (r) => [...r.drafted.map((d) => d.status), r.emitted ? r.emitted.kind : "nothing"];

  function reveal() {
    state.revealed.add(state.round);
    draw(state.timer ? null : ".sdl-next");
    const r = rounds[state.round];
    live.textContent = `Round ${state.round + 1}: ${verdictSentence(r)}${marksSentence()}`;
    keep();
  }

  /** What the learner did, to the kernel. */
  function keep() {
    model.set("state", placeOf(state));
    model.set("revealed", [...state.revealed].sort((a, b) => a - b));
    model.set("guesses", Object.fromEntries(state.guesses.map((columns, i) => [i, columns])));
    model.save_changes();
  }

  function go(to, focus) {
    const next = Math.max(0, Math.min(rounds.length - 1, to));
    if (next !== state.round) {
      state.round = next;
      state.chosen = 0;
    }
    live.textContent = `Round ${state.round + 1} of ${rounds.length}.`;
    draw(focus);
    keep();
  }

  function play() {
    if (state.timer) {
      stop();
    } else {
      state.timer = setInterval(() => {
        if (!el.isConnected) return clearInterval(state.timer);
        if (!state.revealed.has(state.round)) reveal();
        else if (state.round < rounds.length - 1) go(state.round + 1);
        else stop();
      }, 900);
    }
    draw(".sdl-play");
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    draw();
  }

  /** [right, given] over the marks that were set in these rounds before they were revealed. */
  function score(revealed) {
    let right = 0, given = 0;
    for (const i of revealed) {
      truth(rounds[i]).forEach((word, column) => {
        const guess = state.guesses[i][column];
        if (guess) { given += 1; right += guess === word; }
      });
    }
    return [right, given];
  }

  function marksSentence() {
    const [right, given] = score([state.round]);
    return given ? ` Your marks: ${right} of ${given} right.` : "";
  }

  function verdictSentence(r) {
    const n = r.drafted.length, miss = r.drafted.findIndex((d) => d.status === "rejected");
    const kept = r.drafted.filter((d) => d.status === "accepted").length;
    const drafts = n === 1 ? "the one draft" : `all ${n} drafts`;
    if (!r.emitted) {
      return `${kept} accepted, and the text ends there (${STOPS[r.stop] ?? r.stop}): ` +
        `${kept < n ? "what was drafted after it is discarded, and " : ""}the target's own token is not used.`;
    }
    if (n === 0) return "nothing was drafted: a plain step, one token from one pass.";
    if (miss < 0) return `${drafts} accepted, and the last row of the same pass gives a bonus token: ${n + 1} tokens.`;
    const late = r.drafted.slice(miss + 1).filter((d) => d.p_top.length && d.p_top[0].id === d.id).length;
    const sentence = `${kept} accepted; draft ${miss + 1} is the first miss, and the target's own token takes its place: ` +
      `${kept + 1} token${kept ? "s" : ""} from one pass.`;
    return late && data.greedy
      ? `${sentence} ${late === 1 ? "One draft" : `${late} drafts`} after the miss would have agreed, but followed a token that is not in the text.`
      : sentence;
  }

  function tokenButton(column, text, word, label) {
    return h(
      "button",
      {
        class: `sdl-token${word ? ` sdl-${word}` : ""}${state.chosen === column ? " sdl-chosen" : ""}`,
        style: word ? `--mark: ${mark(word).colour}` : null,
        "aria-pressed": String(state.chosen === column),
        "aria-label": label,
        "data-column": column,
        onclick: () => { state.chosen = column; keep(); draw(`.sdl-token[data-column="${column}"]`); },
      },
      h("code", {}, text),
    );
  }

  function ownButton(r, column) {
    const { text, kind } = r.emitted;
    return tokenButton(column, visible(text), kind, `the target's own token: ${visible(text)}, ${kind}`);
  }

  function markSelect(column, choices) {
    const guesses = state.guesses[state.round];
    const select = h(
      "select",
      {
        class: "sdl-mark",
        "data-column": column,
        "aria-label": column < rounds[state.round].drafted.length ? `your mark for draft ${column + 1}` : "your mark for the target's own token",
        onchange: () => { guesses[column] = select.value || undefined; keep(); },
      },
      h("option", { value: "" }, choices === OWN_CHOICES ? "? it adds" : "? mark"),
      // The word first: typing its first letter chooses it.
      ...choices.map((word) => h("option", { value: word }, word === "nothing" ? "nothing" : `${word} ${mark(word).symbol}`)),
    );
    select.value = guesses[column] ?? "";
    return select;
  }

  function strip(r, shown) {
    const n = r.drafted.length;
    const words = truth(r);
    const head = h("tr", {}, h("td"), ...r.drafted.map((_, i) => h("th", { scope: "col" }, `draft ${i + 1}`)), h("th", { scope: "col" }, n ? `after draft ${n}` : "next"));
    const drafts = h(
      "tr", {}, h("th", { scope: "row" }, "the draft says"),
      ...r.drafted.map((d, i) => h("td", {}, tokenButton(i, visible(d.text), shown ? d.status : null, `draft ${i + 1}: ${visible(d.text)}${shown ? `, ${d.status}` : ""}`))),
      h("td", {}, ""),
    );
    const favourites = [...r.drafted.map((d) => d.p_top[0]), r.after_top[0]];
    const target = h(
      "tr", {}, h("th", { scope: "row" }, data.greedy ? "the target says" : "the target's favourite"),
      ...favourites.map((top, i) =>
        h("td", {}, h("code", { class: i === n ? "sdl-after" : "" }, top ? visible(top.text) : "–"))),
    );
    const marks = h(
      "tr", {}, h("th", { scope: "row" }, shown ? "what happened" : "your mark"),
      ...words.map((word, i) => {
        if (!shown) return h("td", {}, markSelect(i, i < n ? MARK_CHOICES : OWN_CHOICES));
        const guess = state.guesses[state.round][i];
        const note = !guess ? null : guess === word ? h("div", { class: "sdl-note" }, "as you said")
          : h("div", { class: "sdl-note" }, `you: ${mark(guess)?.symbol ?? ""} ${guess}`);
        if (i === n && word !== "bonus" && word !== "plain") return h("td", {}, h("span", { class: "sdl-note" }, "not used"), note);
        return h("td", i < n ? { "data-happened": word } : {}, chip(word), note);
      }),
    );
    // A correction stands where the miss was; a bonus stands after the last draft.
    const place = r.emitted ? words.filter((word) => word === "accepted").length : -1;
    const own = shown
      ? h("tr", {}, h("th", { scope: "row" }, "into the text"),
          ...words.map((word, i) => i === place
            ? h("td", { "data-happened": r.emitted.kind }, ownButton(r, n), h("div", { class: "sdl-note" }, `${mark(r.emitted.kind).symbol} ${r.emitted.kind}`))
            : h("td", {}, i < n && word === "accepted" ? h("code", { class: "sdl-plain" }, visible(r.drafted[i].text)) : "")))
      : null;
    const table = h("table", { class: "sdl-strip", role: "table", style: `--columns: ${words.length + 1}` },
      h("tbody", { role: "rowgroup" }, head, drafts, target, marks, own));
    for (const row of table.rows) { // said again, since a browser forgets it where the table is laid out as a grid
      row.setAttribute("role", "row");
      for (const cell of row.cells) cell.setAttribute("role", { col: "columnheader", row: "rowheader" }[cell.scope] ?? "cell");
    }
    return h("div", { class: "sdl-scroll" }, table);
  }

  /** The numbers behind one token. */
  function detail(r, shown) {
    const n = r.drafted.length;
    if (state.chosen < n) {
      const d = r.drafted[state.chosen];
      const ratio = d.q > 0 ? Math.min(1, d.p / d.q) : 0;
      const facts = data.greedy
        ? [["the target gives it", percent(d.p_raw)], ["the draft gives it", percent(d.q_raw)]]
        : [["p, the target's", d.p], ["q, the draft's", d.q], ["min(1, p/q)", ratio], ["u drawn", d.u]];
      const decided = d.status === "discarded" ? "never compared, or cut off by a stop" : data.greedy
        ? (d.p === 1 ? "it is the target's own choice" : "the target chooses another token")
        : `u·q = ${number(d.u * d.q)} is ${d.u * d.q < d.p ? "less than" : "not less than"} p = ${number(d.p)}`;
      return h(
        "div", { class: "sdl-detail" },
        h("div", {}, h("b", {}, `draft ${state.chosen + 1}: `), h("code", {}, visible(d.text)),
          h("table", {}, h("tbody", {},
            ...facts.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, typeof value === "string" ? value : number(value)))))),
          shown ? h("div", {}, decided) : null),
        bars("target, top 5", d.p_top), bars("draft, top 5", d.q_top),
      );
    }
    return h("div", { class: "sdl-detail" },
      h("div", {}, h("b", {}, "the target's own token: "), shown && r.emitted ? h("code", {}, visible(r.emitted.text)) : "?"),
      shown && r.emitted ? bars("target, top 5", r.emitted.p_top) : null);
  }

  function totals() {
    const seen = [...state.revealed].map((i) => rounds[i]);
    const accepted = seen.flatMap((r) => r.drafted).filter((d) => d.status === "accepted").length;
    const tested = seen.flatMap((r) => r.drafted).filter((d) => d.status !== "discarded");
    const tokens = accepted + seen.filter((r) => r.emitted).length;
    const alpha = tested.length ? (tested.reduce((sum, d) => sum + d.overlap, 0) / tested.length).toFixed(2) : "–";
    const [right, given] = score(state.revealed);
    const items = [
      ["rounds revealed", `${seen.length} of ${rounds.length}`], ["target passes", seen.length], ["new tokens", tokens],
      ["tokens per pass", seen.length ? (tokens / seen.length).toFixed(2) : "–"], ["α so far", alpha],
      ["your marks", given ? `${right} right of ${given} set` : "none set"],
    ];
    return h("div", { class: "sdl-totals" },
      ...items.map(([name, value]) => h("div", {}, h("span", { class: "sdl-name" }, name), " ", h("b", {}, String(value)))));
  }

  /** Draw all of it again, with the focus on `focus`; without one the focus stays where it is, if it is in here. */
  function draw(focus) {
    if (!focus && body.contains(document.activeElement)) {
      const held = document.activeElement;
      focus = held.dataset.column ? `.${held.classList[0]}[data-column="${held.dataset.column}"]` : `.${held.classList[0]}`;
    }
    const r = rounds[state.round], shown = state.revealed.has(state.round);
    const first = state.round === 0, last = state.round === rounds.length - 1;
    const bar = h(
      "div", { class: "sdl-nav" },
      h("button", { class: "sdl-previous", disabled: first, onclick: () => go(state.round - 1, ".sdl-previous") }, "← previous"),
      h("button", { class: "sdl-reveal", disabled: shown, onclick: reveal }, "reveal"),
      h("button", { class: "sdl-next", disabled: last, onclick: () => go(state.round + 1, ".sdl-next") }, "next →"),
      h("button", { class: "sdl-play", "aria-pressed": String(!!state.timer), onclick: play }, state.timer ? "■ stop" : "▶ play"),
      h("span", { class: "sdl-where" }, `round ${state.round + 1} of ${rounds.length}`),
    );
    const text = h("p", { class: "sdl-text" }, r.before, h("span", { class: "sdl-cursor" }, "▏"));
    body.replaceChildren(
      h("div", { class: "sdl-title" }, data.title), bar, text, strip(r, shown),
      h("p", { class: "sdl-verdict" }, shown ? verdictSentence(r) + marksSentence() : `Mark each draft before you reveal the round.${data.words ? "" : " Press a token for its numbers."}`),
      ...(data.words ? [] : [detail(r, shown), totals()]),
      h("div", { class: "sdl-legend" }, ...LEGEND.map((word) => h("span", {}, chip(word), ` ${mark(word).meaning}`))),
      h("div", { class: "sdl-keys" }, "Keys: Tab moves, Enter presses, ← and → change the round."),
    );
    if (focus) {
      const wanted = body.querySelector(focus);
      (wanted && !wanted.disabled ? wanted : body.querySelector(".sdl-nav button:not([disabled])"))?.focus();
    }
  }

  ownKeys(root, ({ key, target }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step || target.tagName === "SELECT") return false;
    go(state.round + step, step > 0 ? ".sdl-next" : ".sdl-previous");
    return true;
  });
  draw();
  return () => clearInterval(state.timer);
}

export default { render };
