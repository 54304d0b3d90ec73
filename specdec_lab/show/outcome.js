// What came of a guess: it stands beside theory and measurement, then a line on what had been assumed, and a
// second guess.

/** How far off a guess was, in words; all numbers are from 0 up. As `compare` in guess.py. */
function compare(name, guess, { value, interval }) {
  const [low, high] = interval ?? [value, value],
    inside = low <= guess && guess <= high;
  if (inside || Math.abs(guess - value) <= 0.05 * value) {
    const where = low < high && inside ? "in the interval" : "within 5 %";
    return `Your ${name} was right: it lies ${where} of the measurement.`;
  }
  const direction = guess > value ? "high" : "low";
  if (Math.min(guess, value) === 0) return `Your ${name} was too ${direction} by ${short(Math.abs(guess - value))}.`;
  const ratio = Number(Math.max(guess / value, value / guess).toPrecision(2));
  return `Your ${name} was ${short(ratio)} times too ${direction}.`;
}

function errorOf(claim, measured) {
  if (!claim.guess) return ` ${measured.name}`;
  const late = claim.guess.after_outcome ? " It was made when the measurement was known." : "";
  const second = claim.revision ? ` ${compare("second guess", claim.revision.value, measured)}` : "";
  return compare("guess", claim.guess.value, measured) + late + second;
}

/**
 * All numbers on one line from 0: the guess, what theory says, what was measured with its interval, and how
 * far the guess is from it. Below it the same in words.
 */
function numberLine(points) {
  const there = points.filter(({ value }) => value != null);
  const most = 1.02 * Math.max(...there.flatMap(({ value, interval }) => [value, ...(interval ?? [])])) || 1,
    step = 10 ** Math.floor(Math.log10(most)) / 2;
  const largest = step * Math.ceil(most / step); // a round number: it stands at the end
  const at = (x) => `${((100 * x) / largest).toFixed(1)}%`;
  const shown = ({ value, interval }) =>
    short(value) + (interval ? ` (between ${short(interval[0])} and ${short(interval[1])})` : "");
  const spans = there
    .filter(({ interval }) => interval)
    .map(({ interval: [low, high] }) =>
      h("span", { class: "sdl-spread", style: `left:${at(low)};width:${at(high - low)}` }),
    );
  const [guess, measured] = ["◆", "●"].map((sign) => there.find((point) => point.sign === sign)?.value);
  const gap = guess > 0 && measured > 0 ? Math.max(guess / measured, measured / guess) : 1;
  const apart =
    gap > 1.1
      ? [
          h(
            "span",
            {
              class: "sdl-apart",
              style: `left:${at(Math.min(guess, measured))};width:${at(Math.abs(guess - measured))}`,
            },
            span("", `${short(Number(gap.toPrecision(2)))}×`),
          ),
        ]
      : [];
  return [
    guess === undefined
      ? null
      : h(
          "div",
          { class: "sdl-line", "aria-hidden": "true" },
          span("sdl-zero", "0"),
          span("sdl-most", short(largest)),
          ...spans,
          ...apart,
          ...there.map(({ sign, value }) =>
            h("span", { class: "sdl-point", "data-sign": sign, style: `left:${at(value)}` }, sign),
          ),
        ),
    div(
      "sdl-key",
      ...there.flatMap((point) => [
        span("", h("span", { "data-sign": point.sign }, point.sign), `${point.name} `, h("b", {}, shown(point))),
        " ",
      ]),
    ),
  ].filter(Boolean);
}

function render(context) {
  const { model } = context,
    { question, unit, theory, measured } = model.get("data");
  const claim = claimOf(model, ["revision", "assumed"], () => refresh()),
    picture = div(),
    error = said(),
    message = said(),
    large = h("b", { class: "sdl-big" }, short(measured.value));
  const assumed = field("what I had assumed", "one line"),
    second = entry("second guess", unit, (revision) => claim.change("revision", revision), { look: "" });
  function assume() {
    const line = assumed.input.value.trim();
    if (!line) message.textContent = "Write one line first.";
    else claim.change("assumed", line);
  }
  const keep = h("button", { type: "button", onclick: assume }, "keep this line");
  const line = div("sdl-entry", assumed.line, keep),
    more = fold("what had you assumed, and what would you say now?", {}, line, message, second.box);
  frame(
    context,
    "What came of the guess",
    div("sdl-title", unit ? `${question} (${unit})` : question),
    div("sdl-words sdl-with-big", large, error),
    picture,
    more,
  );

  let noted = "";
  function refresh() {
    const found = claim.read();
    const points = [
      { sign: "◆", name: "your guess", value: found.guess?.value },
      ...(theory == null ? [] : [{ sign: "○", name: "theory", value: theory }]),
      { sign: "●", ...measured },
      ...(found.revision ? [{ sign: "◇", name: "your second guess", value: found.revision.value }] : []),
    ];
    const alone = !found.guess && theory == null && !measured.interval; // then the large number says it
    picture.replaceChildren(...(alone ? [] : numberLine(points)));
    large.ariaHidden = alone ? null : "true"; // the line below says it, too
    error.textContent = errorOf(found, measured);
    const right = found.guess && compare("guess", found.guess.value, measured).includes("was right");
    line.hidden = right && !found.assumed;
    second.box.hidden = right && !found.revision; // who was right is asked no more
    more.hidden = !found.guess || (line.hidden && second.box.hidden);
    // Only what is new in the ledger: a line that is being typed stays.
    if ((found.assumed ?? "") !== noted) assumed.input.value = noted = found.assumed ?? "";
    second.show(found.revision, "", claim.said("revision"), claim.newest("revision"));
    message.textContent = claim.said("assumed") || model.get("news") || (noted ? "Kept." : "");
    more.open ||= Boolean(message.textContent || found.revision); // what is said there is not to be missed
  }
  return follow(model, refresh, claim.end);
}

export default { render };
