// The self-check of a lesson: say it in your own words, choose, read the reason, and again.
// The right answers lie in the page's data. Nobody is graded here: who looks them up spoils only their own
// check.

const oneOf = (list) => list[Math.floor(Math.random() * list.length)];

function shuffled(list) {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]);
}

/** Plain text as nodes; what stands between backticks is code. */
const markedUp = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));

const same = (value, other, tolerance) =>
  Math.abs(value - other) <= tolerance * Math.max(Math.abs(other), Math.abs(value)) + 1e-9;

/** An item as it is asked now: its choices shuffled, or with other numbers than `before`. */
function pose(item, before) {
  const version = oneOf(
    item.versions.length > 1 ? item.versions.filter((v) => v.question !== before?.question) : item.versions,
  );
  return version.choices ? { ...version, choices: shuffled(version.choices) } : version;
}

/** What is right or wrong about an answer: the number of a choice, or the number that was entered. */
function judge(posed, chosen) {
  if (posed.choices) {
    const { right, reason, misconception } = posed.choices[chosen];
    return { right, reason, belief: misconception };
  }
  if (same(chosen, posed.answer, posed.tolerance)) return { right: true, reason: posed.how, belief: null };
  const mistake = posed.mistakes.find(({ result }) => same(chosen, result, posed.tolerance));
  return {
    right: false,
    reason: mistake ? `${mistake.said} ${posed.how}` : posed.how,
    belief: mistake?.belief ?? null,
  };
}

/** What is said about an answer, in lines. */
function feedback({ right, reason, belief }, confidence, beliefs) {
  return [
    `${right ? "✓ Right." : "✗ Not yet."} ${reason}`,
    belief ? `The belief behind this is common, and wrong: “${beliefs[belief]}”.` : "",
    confidence === "sure" && !right ? "You were sure. Such a belief is worth a second look at the lesson." : "",
    confidence === "guess" && right ? "You guessed. Could you now say the reason without reading it?" : "",
  ].filter(Boolean);
}

/** One item. answered: gets each attempt, in the form of the ledger. */
function itemView(item, name, { beliefs, confidence }, answered) {
  const numeric = !item.versions[0].choices;
  const question = h("p", {}),
    told = said(),
    place = div();
  const recall = field("recall", "in your own words first; nobody judges this", { tag: "textarea" });
  const ready = h("button", { type: "button", class: "sdl-main", onclick: unfold }, "show the choices");
  const button = h("button", { type: "button", class: "sdl-main", onclick: check });
  const answering = div(
    "",
    place,
    div("sdl-nav", button, h("button", { type: "button", onclick: ask }, "again")),
    told,
  );
  const box = h(
    "div",
    { class: "sdl-item", role: "group", "aria-label": name },
    question,
    ...(numeric ? [] : [recall.line, ready]),
    answering,
  );
  const view = { box, count: 0, restore };
  let posed = null,
    choices,
    number,
    sure,
    done;

  function unfold() {
    answering.hidden = false;
    ready.hidden = true;
    answering.querySelector("input").focus();
  }

  function checked(now) {
    done = now;
    button.textContent = done ? "checked" : "check";
    button.setAttribute("aria-disabled", String(done));
  }

  function ask() {
    draw(pose(item, posed));
  }

  function draw(version) {
    posed = version;
    checked(false);
    question.replaceChildren(h("b", {}, name), " ", ...markedUp(posed.question));
    number = numeric ? field("answer", "a number", { unit: posed.unit, kind: "sdl-number" }) : null;
    choices = numeric
      ? null
      : radios(
          "answer",
          posed.choices.map((choice) => markedUp(choice.text)),
        );
    sure = radios(
      "how sure?",
      confidence.map((word) => [word]),
    );
    sure.set.classList.add("sdl-inline");
    place.replaceChildren(numeric ? number.line : choices.set, sure.set);
    told.replaceChildren();
  }

  /** The answer as it stands, or sentences about what is missing, and where. */
  function chosen() {
    const { value, wrong } = numeric ? readNumber(number.input.value, posed.unit) : { value: choices.chosen() };
    const answer = wrong
      ? [[wrong, number.line]]
      : value < 0 && !numeric
        ? [["Choose one of the answers.", choices.set]]
        : [];
    const missing = [...answer, ...(sure.chosen() < 0 ? [["Say how sure you are, too.", sure.set]] : [])];
    return { value, missing };
  }

  function check() {
    if (done) return;
    const { value, missing } = chosen();
    for (const part of place.children)
      part.classList.toggle(
        "sdl-missing",
        missing.some(([, where]) => where === part),
      );
    if (missing.length) return told.replaceChildren(missing.map(([what]) => what).join(" "));
    const judged = judge(posed, value),
      confident = confidence[sure.chosen()];
    tell(judged, confident);
    bringIn(told);
    view.count += 1;
    answered({
      when: now(),
      question: posed.question,
      said: recall.input.value.trim(),
      chosen: numeric ? value : posed.choices[value].text,
      right: judged.right,
      confidence: confident,
      misconception: judged.belief,
    });
  }

  function tell(judged, confident) {
    const lines = feedback(judged, confident, beliefs);
    if (numeric || !judged.right) lines.push(`Press “again” for ${numeric ? "other numbers" : "another try"}.`);
    told.replaceChildren(...lines.map((line) => div("", ...markedUp(line))));
    choices?.mark(choices.chosen(), judged.right ? "right" : "wrong", judged.right ? "✓" : "✗");
    checked(true);
  }

  /** As the newest of these attempts left it. One that the course no longer asks so is asked anew. */
  function restore(attempts) {
    const last = attempts.at(-1),
      version = item.versions.find((v) => v.question === last?.question);
    const at = version?.choices?.findIndex((choice) => choice.text === last.chosen);
    view.count = attempts.length;
    recall.input.value = last?.said ?? "";
    answering.hidden = !numeric && !last;
    ready.hidden = !answering.hidden;
    if (!version || at < 0) return ask();
    draw(version);
    if (numeric) number.input.value = short(last.chosen);
    else choices.choose(at);
    sure.choose(confidence.indexOf(last.confidence));
    tell(judge(version, numeric ? last.chosen : at), last.confidence);
  }

  restore([]);
  return view;
}

/** A question of a stored lesson, where nothing can be pressed: its answer is folded. */
function onPaper({ versions: [posed] }, name) {
  const list = (lines) => h("ul", {}, ...lines.map((line) => h("li", {}, ...markedUp(line))));
  const choices = posed.choices ? list(posed.choices.map(({ text }) => text)) : null;
  const answer = posed.choices
    ? list(posed.choices.map(({ right, text, reason }) => `${right ? "✓" : "✗"} ${text}. ${reason}`))
    : h("p", {}, `${[short(posed.answer), posed.unit].filter(Boolean).join(" ")}. `, ...markedUp(posed.how));
  return div(
    "sdl-item",
    h("p", {}, h("b", {}, name), " ", ...markedUp(posed.question)),
    choices,
    fold("Answer", {}, answer),
  );
}

function render(context) {
  const { model } = context,
    data = model.get("data"),
    n = data.items.length;
  const nameOf = (i) => `Question ${i + 1} of ${n}.`;
  if (model.get("still")) return frame(context, "Quiz", ...data.items.map((item, i) => onPaper(item, nameOf(i))));
  const title = div("sdl-title", `Quiz: ${n} question${n > 1 ? "s" : ""}`);
  const keys = div("sdl-keys", "By keyboard: Tab goes on, Space or the arrows choose, Enter presses a button.");
  const result = said(),
    news = said();
  const post = outbox(model, ["attempt"], () => refresh());
  /** All attempts at an item, those that wait included. */
  function attemptsAt({ id }) {
    const kept = model.get("state")[id] ?? [];
    return [
      ...kept,
      ...post
        .of(id, "attempt")
        .filter((one) => !kept.some((other) => other.when === one.when && other.chosen === one.chosen)),
    ];
  }
  const views = data.items.map((item, i) =>
    itemView(item, nameOf(i), data, (attempt) => {
      post.send(item.id, "attempt", attempt);
    }),
  );
  frame(context, "Quiz", title, ...views.map((view) => view.box), result, news, keys);

  function refresh() {
    const of = data.items.map(attemptsAt);
    const asked = of.filter((attempts) => attempts.length).length;
    views.forEach((view, i) => {
      if (of[i].length !== view.count) view.restore(of[i]);
      // one after the other
      view.box.hidden = !of[i].length && of.slice(0, i).some((before) => !before.length);
    });
    const good = of.filter((attempts) => attempts[0]?.right).length;
    result.replaceChildren(...(asked === n ? [h("b", {}, `${good} of ${n} right at the first attempt.`)] : []));
    news.textContent = post.said("attempt") || model.get("news");
  }
  return follow(model, refresh, post.end);
}

export default { render };
