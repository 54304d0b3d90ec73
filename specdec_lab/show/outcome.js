// What came of a guess: it stands beside theory and measurement, then a line on what had been assumed, and a second guess.

/** How far off a guess was, in words; all numbers are from 0 up. As `compare` in guess.py. */
function compare(name, guess, { value, interval }) {
  const [low, high] = interval ?? [value, value], inside = low <= guess && guess <= high;
  if (inside || Math.abs(guess - value) <= 0.05 * value) {
    return `Your ${name} was right: it lies ${low < high && inside ? "in the interval" : "within 5 %"} of the measurement.`;
  }
  const direction = guess > value ? "high" : "low";
  if (Math.min(guess, value) === 0) return `Your ${name} was too ${direction} by ${short(Math.abs(guess - value))}.`;
  const ratio = Number(Math.max(guess / value, value / guess).toPrecision(2));
  return `Your ${name} was ${short(ratio)} times too ${direction}.`;
}

function errorOf(claim, measured) {
  if (!claim.guess) return "There was no guess to compare with.";
  const late = claim.guess.after_outcome ? " It was made when the measurement was known." : "";
  const second = claim.revision ? ` ${compare("second guess", claim.revision.value, measured)}` : "";
  return compare("guess", claim.guess.value, measured) + late + second;
}

/** Bars that are also a table of numbers, over the end of each its interval. */
function barTable(rows) {
  const largest = Math.max(...rows.flatMap(({ value, interval }) => [value ?? 0, ...(interval ?? [])])) || 1;
  const part = (x) => `${((100 * x) / largest).toFixed(1)}%`;
  return h("table", { class: "sdl-bars" }, ...rows.map(({ name, value, interval }) => {
    const [low, high] = interval ?? [];
    const spread = interval ? h("div", { class: "sdl-spread", style: `left:${part(low)};width:${part(high - low)}` }) : null;
    const shown = value == null ? "no guess" : short(value) + (interval ? ` (between ${short(low)} and ${short(high)})` : "");
    return h("tr", {}, h("th", { scope: "row" }, name),
      h("td", {}, h("div", { class: "sdl-track" }, h("div", { class: "sdl-length", style: `width:${part(value ?? 0)}` }), spread)),
      h("td", {}, shown));
  }));
}

function render(context) {
  const { model } = context, { question, unit, theory, measured } = model.get("data");
  const claim = claimOf(model, () => refresh()), picture = h("div"), error = said(), message = said();
  const assumed = field("what I had assumed", "one line");
  const second = entry("second guess", unit, (revision) => claim.change({ revision: { ...revision, after_outcome: true } }));
  function assume() {
    const line = assumed.input.value.trim();
    if (!line) message.textContent = "Write one line first.";
    else claim.change({ assumed: line });
  }
  const keep = h("button", { type: "button", onclick: assume }, "keep this line");
  const line = h("div", { class: "sdl-entry" }, assumed.line, keep);
  frame(context, "What came of the guess", h("div", { class: "sdl-title" }, unit ? `${question} (${unit})` : question), picture, error, line, message, second.box);

  let noted = "";
  function refresh() {
    const found = claim.read();
    const rows = [{ name: "your guess", value: found.guess?.value }, ...(theory == null ? [] : [{ name: "theory", value: theory }]), measured];
    picture.replaceChildren(barTable(found.revision ? [...rows, { name: "your second guess", value: found.revision.value }] : rows));
    error.textContent = errorOf(found, measured);
    line.hidden = second.box.hidden = !found.guess;
    // Only what is new in the ledger: a line that is being typed stays.
    if ((found.assumed ?? "") !== noted) assumed.input.value = noted = found.assumed ?? "";
    second.show(found.revision, "", claim.said("revision"));
    message.textContent = claim.said("assumed") || model.get("news") || (noted ? "Kept." : "");
  }
  return follow(model, refresh, claim.end);
}

export default { render };
