// What is filled in: numbers as people type them, a line of words, one of several choices. controls.js stands in front of it.

const now = () => new Date().toISOString().replace(/\.\d+Z$/, "+00:00");

/** The number that was typed, with a point or a comma before the decimals, its unit behind it or not: {value}, or {wrong: why}. */
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
function field(name, hint, { tag = "input", unit = "" } = {}) {
  const input = h(tag, { placeholder: hint, autocomplete: "off", ...(tag === "input" ? { type: "text" } : { rows: 2 }) });
  const line = h("label", { class: "sdl-field" }, h("span", {}, name), input, unit ? h("span", {}, unit) : null);
  return { line, input };
}

/** One of several; each is a list of texts and nodes. */
function radios(name, choices) {
  const group = `sdl-${Math.random().toString(36).slice(2)}`; // two views of a widget in one page are two groups
  const inputs = choices.map(() => h("input", { type: "radio", name: group }));
  const lines = choices.map((parts, i) => h("label", {}, inputs[i], h("span", {}, ...parts)));
  const set = h("fieldset", { class: "sdl-choices" }, h("legend", {}, name), ...lines);
  return { set, chosen: () => inputs.findIndex((input) => input.checked), choose: (i) => { inputs[i].checked = true; } };
}

/** A number, a reason and a button: kept once, and then fixed. keep: gets {value, reason, when}. */
function entry(name, unit, keep) {
  const number = field(name, "a number", { unit }), reason = field("because", "one line"), message = said();
  const typed = [number.input, reason.input];
  let entered = null;
  function press() {
    if (number.input.readOnly) return;
    const { value, wrong } = readNumber(number.input.value, unit);
    if (wrong || value < 0) {
      message.textContent = wrong ?? "This cannot be negative: write 0 or more.";
      return;
    }
    entered = value;
    keep({ value, reason: reason.input.value.trim(), when: now() });
  }
  // The button stays as it is when all is kept, so that the keyboard keeps its place.
  const box = h("div", { class: "sdl-entry" }, number.line, reason.line, h("button", { type: "button", onclick: press }, `keep ${name}`), message);
  /** kept: what the ledger holds, if anything. news: about the ledger. */
  function show(kept, news) {
    if (kept || number.input.readOnly) [number.input.value, reason.input.value] = kept ? [short(kept.value), kept.reason ?? ""] : ["", ""];
    for (const input of typed) input.readOnly = Boolean(kept);
    reason.input.placeholder = kept ? "" : "one line";
    if (!kept) entered = null;
    const other = entered !== null && kept.value !== entered;
    const outcome = entered === null ? "" : other ? "There was one already, entered elsewhere: it stays." : "Kept: it does not change any more.";
    message.textContent = [outcome, news].filter(Boolean).join(" ");
  }
  return { box, show };
}

/** Calls refresh now, and whenever the learner's entries or the news of the ledger change; returns what ends that. */
function follow(model, refresh) {
  for (const name of ["state", "news"]) model.on(`change:${name}`, refresh);
  refresh();
  return () => { for (const name of ["state", "news"]) model.off(`change:${name}`, refresh); };
}

/** Everything known about the one claim of a widget, and what changes a part of it. */
function claimOf(model) {
  const { question, unit, ledger } = model.get("data"), [id] = ledger.ids;
  const read = () => model.get("state")[id] ?? {};
  function change(part) {
    model.set("state", { ...model.get("state"), [id]: { question, unit, ...read(), ...part } });
    model.save_changes();
  }
  return { read, change };
}
