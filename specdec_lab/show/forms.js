// What is filled in: numbers as people type them, a line of words, one of several choices. controls.js stands
// in front of it.

const now = () => new Date().toISOString().replace(/\.\d+Z$/, "+00:00");

/**
 * The number that was typed, with a point or a comma before the decimals, its unit behind it or not: {value},
 * or {wrong: why}.
 */
function readNumber(typed, unit = "") {
  let text = typed.trim();
  if (unit && text.endsWith(unit)) text = text.slice(0, -unit.length).trim();
  if (!text) return { wrong: "The number is still missing: write something like 1.8." };
  if (/^[+-]?[1-9]\d{0,2},\d{3}$/.test(text)) {
    return { wrong: `“${text}” has two readings: write ${text.replace(",", "")} or ${text.replace(",", ".")}.` };
  }
  const value = Number(text.replace(",", "."));
  if (!/^[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(value)) {
    return { wrong: `“${text}” is not a number: write something like 1.8.` };
  }
  return { value };
}

/** Three digits that count; whole numbers from 100 on in full. */
function short(value) {
  const size = Math.abs(value);
  if (size >= 100 && size < 1e15) return value.toFixed(0);
  const tiny = value !== 0 && Math.abs(Number(value.toPrecision(3))) < 1e-4;
  const [digits, power] = (tiny ? value.toExponential(2) : value.toPrecision(3)).split("e");
  const kept = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  return power ? `${kept}e${power[0]}${power.slice(1).padStart(2, "0")}` : kept;
}

/** A sentence for the learner, which a screen reader reads out when it appears. */
const said = () => h("div", { class: "sdl-said", role: "status" });

/** A field to type into, under its name. */
function field(name, hint, { tag = "input", unit = "", kind = "" } = {}) {
  const input = h(tag, {
    class: kind,
    placeholder: hint,
    autocomplete: "off",
    inputmode: kind === "sdl-number" ? "decimal" : null,
    ...(tag === "input" ? { type: "text" } : { rows: 2 }),
  });
  const line = h("label", { class: "sdl-field" }, span("", name), input, unit ? span("", unit) : null);
  return { line, input };
}

/** One of several; each is a list of texts and nodes. */
function radios(name, choices) {
  // two views of a widget in one page are two groups
  const group = `sdl-${Math.random().toString(36).slice(2)}`;
  const inputs = choices.map(() => h("input", { type: "radio", name: group }));
  const lines = choices.map((parts, i) => h("label", {}, inputs[i], span("", ...parts)));
  const set = h("fieldset", { class: "sdl-choices" }, h("legend", {}, name), ...lines);
  const mark = (i, word, sign) => {
    lines[i].classList.add(`sdl-${word}`);
    lines[i].append(h("b", {}, sign));
  };
  return {
    set,
    mark,
    chosen: () => inputs.findIndex((input) => input.checked),
    choose: (i) => {
      inputs[i].checked = true;
    },
  };
}

const PATIENCE = 3000; // ms that Python has to say that an entry is in the ledger
const NOTED = "Noted …",
  NOT_KEPT = "Not kept yet. Is a cell still running? If none is, run this cell again: what you entered is still here.";

/**
 * Entries that are in no ledger yet, {owner, id, kind, value}, by a number that begins with the time when
 * each was made. This browser remembers them, each for itself: they outlive a kernel that was restarted, a
 * reload, and a page that was closed, and two pages do not overwrite each other's. What it cannot keep, the
 * page keeps.
 */
const waiting = {
  prefix: "specdec-lab waiting ",
  here: (globalThis.specdecWaiting ??= {}),
  all() {
    const found = { ...this.here };
    try {
      for (const key of Object.keys(localStorage).filter((name) => name.startsWith(this.prefix)))
        found[key.slice(this.prefix.length)] = JSON.parse(localStorage.getItem(key));
    } catch {
      /* then only those of this page are known */
    }
    return Object.entries(found).sort(([n], [m]) => (n < m ? -1 : 1));
  },
  add(entry) {
    // a clock that was set back does not change the order
    const last = Math.max(0, ...this.all().map(([n]) => parseInt(n, 10)));
    const n = `${Math.max(Date.now(), last + 1)}-${Math.random().toString(36).slice(2)}`;
    // no halves of characters: Python cannot send them back
    const text = JSON.stringify(entry).replace(/\\ud[89a-f][0-9a-f]{2}/gi, "\\ufffd");
    try {
      localStorage.setItem(this.prefix + n, text);
    } catch {
      this.here[n] = JSON.parse(text);
    }
  },
  drop(numbers) {
    for (const n of numbers) {
      delete this.here[n];
      try {
        localStorage.removeItem(this.prefix + n);
      } catch {
        /* it was not there */
      }
    }
  },
};
const ageOf = (n) => Date.now() - parseInt(n, 10);

/** Which ledger a widget writes to: of which file, and on which server. */
function ownerOf(model) {
  const server = document.getElementById("jupyter-config-data")?.textContent ?? "{}";
  return `${model.get("owner") ?? ""} ${JSON.parse(server).baseUrl ?? ""}`;
}

/**
 * Sends what is entered to Python. Only Python's answer says that it is in the ledger: until then it waits,
 * and what a widget left waiting is sent again by the next one for the same thing. kinds: of entries that
 * this widget makes;
 * tell: called when there is something new to say.
 */
function outbox(model, kinds, tell) {
  const { ids } = model.get("data").ledger,
    owner = ownerOf(model);
  const timers = {}; // by kind
  const left = () =>
    waiting.all().filter(([, entry]) => entry.owner === owner && ids.includes(entry.id) && kinds.includes(entry.kind));
  function post() {
    // When, and how long ago: one of them is late where this machine's clock is ahead, the other where the
    // kernel is busy.
    const times = (n) => ({ when: new Date(parseInt(n, 10)).toISOString(), age: ageOf(n) });
    model.set(
      "outgoing",
      left().map(([n, { id, kind, value }]) => ({ n, id, kind, value, ...times(n) })),
    );
    model.save_changes();
    tell();
  }
  function send(id, kind, value) {
    waiting.add({ owner, id, kind, value });
    post();
  }
  function heard() {
    waiting.drop(model.get("heard"));
    tell();
  }
  model.on("change:heard", heard);
  waiting.drop(model.get("heard")); // while nobody listened
  const again = () => {
    if (left().length) post();
  };
  queueMicrotask(again); // when the widget is there
  // the first one may have come to the thread that runs cells, before there was another
  const second = setTimeout(again, 1500);
  model.on("change:written", again);
  /** What waits: the values of this kind, for this id. */
  const of = (id, kind) =>
    left()
      .filter(([, entry]) => entry.id === id && entry.kind === kind)
      .map(([, { value }]) => value);
  /**
   * What is to be said of the entries of a kind: while some wait, and where Python has them but cannot write
   * them.
   */
  function said(kind) {
    const ages = left()
        .filter(([, entry]) => entry.kind === kind)
        .map(([n]) => ageOf(n)),
      news = model.get("news");
    if (!ages.length) return model.get("written") === false ? news : "";
    clearTimeout(timers[kind]);
    const rest = PATIENCE - Math.max(...ages);
    // Far in the future: the clock was set back. A little: two entries were made in one millisecond.
    if (rest <= 0 || Math.min(...ages) < -PATIENCE) return [NOT_KEPT, news].filter(Boolean).join(" ");
    timers[kind] = setTimeout(tell, rest + 1);
    return NOTED;
  }
  function end() {
    [second, ...Object.values(timers)].forEach(clearTimeout);
    model.off("change:heard", heard);
    model.off("change:written", again);
  }
  return { send, of, said, end };
}

/**
 * A number, a reason and a button: kept once, and then fixed. keep: gets {value, reason, when}; most: no
 * answer is larger; look: of the button.
 */
function entry(name, unit, keep, { most = null, look = "sdl-main" } = {}) {
  const number = field(name, "a number", { unit, kind: "sdl-number" }),
    reason = field("because", "one line"),
    message = said();
  const typed = [number.input, reason.input];
  let entered = null; // the number that was entered here, or by a widget that nobody heard
  function press() {
    if (number.input.readOnly) return;
    const { value, wrong } = readNumber(number.input.value, unit);
    if (wrong || value < 0 || value > (most ?? Infinity)) {
      message.textContent =
        wrong ??
        (value < 0
          ? "This cannot be negative: write 0 or more."
          : `It cannot be more than ${most}${most === 1 ? " (75 % is 0.75)" : ""}: guess again.`);
      return;
    }
    entered = value;
    keep({ value, reason: reason.input.value.trim(), when: now() });
  }
  // The button stays when all is kept, so that the keyboard keeps its place.
  const button = h("button", { type: "button", class: look, onclick: press });
  for (const input of typed)
    input.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") press();
    });
  const ask = () => {
    reason.line.hidden = number.input.readOnly ? !reason.input.value : !typed.some((input) => input.value);
  }; // why: when there is a number
  number.input.addEventListener("input", ask);
  const box = div("sdl-entry", number.line, reason.line, button, message);
  /**
   * kept: what the ledger holds, if anything, or will hold. news: about the ledger. pending: what is said
   * until it does, of the entry `sent`.
   */
  function show(kept, news, pending, sent) {
    if (kept || number.input.readOnly)
      [number.input.value, reason.input.value] = kept ? [short(kept.value), kept.reason ?? ""] : ["", ""];
    for (const input of typed) input.readOnly = Boolean(kept);
    ask();
    if (sent) entered = sent.value;
    if (!kept) entered = null;
    const other = entered !== null && kept.value !== entered;
    const outcome = !kept
      ? ""
      : other
        ? "There was one already, entered elsewhere: it stays."
        : "Kept. It cannot be changed now.";
    button.textContent = kept ? (pending ? "…" : "✓ kept") : `keep ${name}`;
    button.setAttribute("aria-disabled", String(Boolean(kept)));
    message.textContent = pending || [outcome, news].filter(Boolean).join(" ");
  }
  return { box, show };
}

/**
 * Calls refresh now, and whenever the learner's entries, or the news of their ledger, change; returns what
 * ends that, and calls end.
 */
const FOLLOWED = ["written", "state", "news"];
function follow(model, refresh, end) {
  for (const name of FOLLOWED) model.on(`change:${name}`, refresh);
  refresh();
  return () => {
    for (const name of FOLLOWED) model.off(`change:${name}`, refresh);
    end();
  };
}

/**
 * Everything known about the one claim of a widget, what waits included, and what changes a part of it; the
 * others are those of `outbox`.
 */
function claimOf(model, kinds, tell) {
  const [id] = model.get("data").ledger.ids,
    box = outbox(model, kinds, tell);
  const newest = (kind) => box.of(id, kind).at(-1);
  function read() {
    const kept = model.get("state")[id] ?? {};
    const more = kinds.filter((kind) => newest(kind) !== undefined && (kind === "assumed" || !(kind in kept)));
    return { ...kept, ...Object.fromEntries(more.map((kind) => [kind, newest(kind)])) };
  }
  return { ...box, read, newest, change: (kind, value) => box.send(id, kind, value) };
}
