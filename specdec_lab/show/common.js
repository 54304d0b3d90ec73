// What the explorers share. It stands in front of their own scripts.

/** A DOM element: h("div", {class: "x", onclick: f}, child, "text", …). */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** The elements that most of it is made of, with their class: div("x", child, "text", …). */
const [div, span, tr, td] = ["div", "span", "tr", "td"].map(
  (tag) =>
    (kind, ...children) =>
      h(tag, { class: kind || null }, ...children),
);

/** What opens at a press. kept: where it is noted, under its name, so that it stays open when it is drawn anew. */
function fold(name, { kept = {}, ...attributes }, ...inside) {
  const ontoggle = ({ target }) => (kept[name] = target.open);
  return h("details", { open: kept[name], ontoggle, ...attributes }, h("summary", {}, name), ...inside);
}

/**
 * Keys pressed inside a widget stay there, but for those with Ctrl, Alt or Cmd. act(event) → true where the
 * widget used one.
 * JupyterLab listens on the document, and its one-letter and arrow commands match every focused element that
 * is not typed into, sliders among them; an attribute data-lm-suppress-shortcuts higher up does not keep them
 * off.
 */
function ownKeys(root, act = () => false) {
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    if (act(event)) event.preventDefault();
  });
}

const SIGNS_OF = { "\n": "⏎", "\t": "⇥", "\r": "␍" };
const visible = (text) =>
  /^ +$/.test(text) ? "␣".repeat(text.length) : text.replace(/[\n\t\r]/g, (blank) => SIGNS_OF[blank]);
const END = /^( ?<\|(im_end|endoftext|eot_id|end_of_text)\|>|<\/s>)$/;
/** The card of a widget. kind: its class, if it has one of its own. */
const card = (name, kind, ...parts) =>
  h("div", { class: `sdl-explorer ${kind}`.trim(), role: "group", "aria-label": name }, ...parts);
/** What is said aloud, and not seen. */
const aloud = () => h("div", { class: "sdl-live", "aria-live": "polite" });

/** For ownKeys: ← and → step by −1 and 1, but in a menu, which has them itself. */
const arrows =
  (step) =>
  ({ key, target }) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!by || target.tagName === "SELECT") return false;
    step(by);
    return true;
  };

/** A piece of text to be drawn: the end of an answer is a chip. */
const drawnText = (text) =>
  !END.test(text)
    ? text
    : h("span", { class: "sdl-end", role: "img", title: named(text), "aria-label": named(text) }, "end");
/** A token to be heard. */
const named = (text) => (END.test(text) ? `end of the answer, ${text.trim()}` : visible(text));
/** A token, without the blank in front of it. */
const token = (text, kind = "") => h("code", { class: kind }, drawnText(visible(text).trimStart() || visible(text)));
/** What was last asked, and what came of it, without the marks of the chat template. */
const plainly = (text) =>
  text.replace(/^[\s\S]*<\|im_start\|>user\n/, "").replace(/<\|im_start\|>\w+\n?|<\|[^|>]*\|>/g, "");

/** The pieces that a round adds to the text: [text, whose it is]. */
const written = (r) => [
  ...r.drafted.filter((d) => d.status === "accepted").map((d) => [d.text, "accepted"]),
  ...(r.emitted ? [[r.emitted.text, r.emitted.kind]] : []),
];

/**
 * The text so far, and of this round what it wrote once it is revealed. Rounds before it are in the colours
 * of where their words came from, if all of them were revealed.
 */
function textSoFar(rounds, at, revealed, mark) {
  const from = rounds.slice(0, at).every((_, i) => revealed.has(i)) ? 0 : at;
  const piece = ([text, word]) =>
    h("span", { class: `sdl-from sdl-${word}`, style: `--mark: ${mark(word).colour}` }, drawnText(text));
  const box = h(
    "p",
    { class: "sdl-text", tabindex: 0, role: "group", "aria-label": "the text so far" },
    plainly(rounds[from].before),
    ...rounds
      .slice(from, at + revealed.has(at))
      .flatMap(written)
      .map(piece),
    span("sdl-cursor", "▏"),
  );
  queueMicrotask(() => {
    box.scrollTop = box.scrollHeight;
  });
  return box;
}

/**
 * A table whose rows and cells say what they are, since a browser forgets it where the table is laid out as a
 * grid.
 */
function tabular(table) {
  for (const row of table.rows) {
    row.setAttribute("role", "row");
    for (const cell of row.cells)
      cell.setAttribute("role", { col: "columnheader", row: "rowheader" }[cell.scope] ?? "cell");
  }
  return table;
}

/** What is written where there is room, and on a phone; the other one is not drawn. */
const either = (exact, rough) => span("", span("sdl-exact", exact), span("sdl-rough", rough));

const STOPS = {
  eos: "an end marker",
  limit: "the token limit",
  context: "the model can see no more",
  stop_string: "a stop string",
};
/** On a phone, where what a press did stands below the window. */
const bringIn = (node) => {
  if (matchMedia("(max-width: 600px)").matches)
    node?.scrollIntoView({
      block: "nearest",
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
    });
};
const number = (x) =>
  x == null ? "–" : x === 0 || x === 1 ? String(x) : x < 0.001 ? x.toExponential(1) : x.toFixed(3);
const percent = (x) => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;

/** The most likely tokens of a distribution. */
function bars(title, tops) {
  return div(
    "sdl-top",
    h("b", {}, title),
    ...(tops.length ? tops : [{ text: "–", p: 0 }]).map((t) =>
      div(
        "sdl-bar",
        token(t.text),
        h("span", { class: "sdl-fill", style: `width: ${Math.round(90 * t.p)}px` }),
        percent(t.p),
      ),
    ),
  );
}

/**
 * Buttons to go through rounds, and to reveal one. revealNow: that is what to press next. go: it takes the round, and
 * what has the focus then.
 */
function roundButtons(at, rounds, { shown, revealNow, go, reveal }) {
  const last = at === rounds.length - 1;
  return [
    h(
      "button",
      {
        class: "sdl-previous",
        "aria-label": "previous",
        disabled: at === 0,
        onclick: () => go(at - 1, ".sdl-previous"),
      },
      "←",
    ),
    h("button", { class: `sdl-reveal${revealNow ? " sdl-main" : ""}`, disabled: shown, onclick: reveal }, "reveal"),
    h(
      "button",
      { class: `sdl-next${shown && !last ? " sdl-main" : ""}`, disabled: last, onclick: () => go(at + 1, ".sdl-next") },
      "next →",
    ),
  ];
}

/** min(1, p/q) of a draft. */
const ratioOf = ({ p, q }) => (q > 0 ? Math.min(1, p / q) : 0);
/** The numbers behind a draft, what p and q are there; more about it; and what both models had at its place. */
function draftDetail(place, draft, greedy, p, q, ...more) {
  const facts = greedy
    ? [
        ["the target gives it", percent(draft.p_raw)],
        ["the draft gives it", percent(draft.q_raw)],
      ]
    : [
        [p, number(draft.p)],
        [q, number(draft.q)],
        ["min(1, p/q)", number(ratioOf(draft))],
        ["u drawn", number(draft.u)],
      ];
  return div(
    "sdl-detail",
    div(
      "",
      h("b", {}, `draft ${place + 1}: `),
      token(draft.text),
      h(
        "table",
        {},
        h("tbody", {}, ...facts.map(([name, value]) => tr("", h("th", { scope: "row" }, name), td("", value)))),
      ),
      ...more,
    ),
    bars("target, top 5", draft.p_top),
    bars("draft, top 5", draft.q_top),
  );
}

/**
 * Where a reader of rounds was, from what was kept or came with a link: round and token count from 1; open:
 * the round is revealed.
 */
function placeIn(rounds, { round, token, open }) {
  const at = rounds[round - 1] ? round - 1 : 0;
  const chosen = token >= 1 && token <= rounds[at].drafted.length + 1 ? Math.floor(token) - 1 : 0;
  return { round: at, chosen, open: String(open) === "true" && at === round - 1 };
}

/** The same to be kept. */
const placeOf = ({ round, chosen, revealed }) => ({ round: round + 1, token: chosen + 1, open: revealed.has(round) });

/** What somebody who reads rounds has done, as it was kept. */
function readerOf(model) {
  const { rounds } = model.get("data"),
    { round, chosen, open } = placeIn(rounds, model.get("state")),
    revealed = [...model.get("revealed"), ...(open || model.get("still") ? [round] : [])];
  const state = { round, chosen, revealed: new Set(revealed), guesses: { ...model.get("guesses") } };
  model.set("state", placeOf(state));
  return state;
}

/** A mark with its word, as the data of a widget has it. */
const chipOf = ({ symbol, colour }, word) =>
  h("span", { class: `sdl-chip sdl-${word}`, style: `--mark: ${colour}` }, symbol, span("sdl-word-of", ` ${word}`));

/** Counts in one line, [name, value] each. */
const counted = (items, more = "") =>
  div(
    `sdl-totals${more}`,
    ...items.map(([name, value]) => span("", span("sdl-name", name), " ", h("b", {}, String(value)))),
  );

const NUMBERS = "numbers of this token";
/** What the marks mean, and which keys there are. */
const legend = (kept, marks, keys, words, meaning = (word) => marks[word].meaning) =>
  fold(
    "the marks",
    { class: "sdl-legend", kept },
    ...words.map((word) => span("", chipOf(marks[word], word), ` ${meaning(word)}`)),
    div("sdl-keys", keys),
  );

/** The focus, after all was drawn anew: on what was wanted, or on the first thing that can be pressed. */
function focusOn(body, wanted, preventScroll = false) {
  const node = body.querySelector(wanted);
  const other = ".sdl-nav button:not([disabled]), .sdl-token";
  (node && !node.disabled ? node : body.querySelector(other))?.focus({ preventScroll });
}

/** What the learner did with rounds, to the kernel. */
function keepPlace(model, state) {
  model.set("state", placeOf(state));
  model.set(
    "revealed",
    [...state.revealed].sort((a, b) => a - b),
  );
  model.set("guesses", { ...state.guesses });
  model.save_changes();
}

/**
 * What an explorer of one of several runs takes for its model: what was done with it is kept under its key,
 * and its place in the state of the whole.
 */
const partOf = (model, key, data) => ({
  get: (name) =>
    name === "data"
      ? data
      : name === "state" || name === "still"
        ? model.get(name)
        : (model.get("seen")?.[key]?.[name] ?? { revealed: [], guesses: {} }[name]),
  set: (name, value) => {
    if (name === "state") model.set("state", { ...model.get("state"), ...value });
    else model.set("seen", { ...model.get("seen"), [key]: { ...model.get("seen")?.[key], [name]: value } });
  },
  save_changes: () => model.save_changes(),
});
