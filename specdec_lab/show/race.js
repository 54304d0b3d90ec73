// The race: plain and speculative decoding of one text on one time axis, at the speed that was recorded, or
// slower.

const PACES = { "as recorded": 1, "4× slower": 4, "10× slower": 10, "20× slower": 20 };
const NAMES = { plain: "Plain decoding", speculative: "With drafts" };
// seconds that a race may take at first: a short one would be over before anything is seen
const PATIENCE = 8;
const CALM = 500; // milliseconds between pictures for those who asked their system for less motion

const SIGNS = { accepted: "✓ ", corrected: "↻ ", bonus: "+ ", plain: "" };
/** The passes of both ways: {from, to} in seconds, the tokens that each wrote, and what each of them is. */
function passesOf({ plain, rounds, seconds }) {
  function timed(times, pairs) {
    let at = 0;
    return times.map((more, i) => ({
      from: at,
      to: (at += more),
      tokens: pairs[i].map(([text]) => text),
      looks: pairs[i].map(([, look]) => look),
    }));
  }
  const alone = plain.tokens.map((text) => [[text, "plain"]]);
  return { plain: timed(plain.seconds, alone), speculative: timed(seconds, rounds.map(written)) };
}

const EXACT = 1e-4; // seconds: a moment is kept, and put into links, with four digits

/** Passes that are done at a moment. */
const done = (passes, now) => passes.filter((pass) => pass.to <= now + EXACT);
const count = (passes) => passes.reduce((n, pass) => n + pass.tokens.length, 0);

function render({ model, el }) {
  const data = model.get("data"),
    lanes = passesOf(data);
  const every = Object.values(lanes).flat();
  const ends = [...new Set(every.map((pass) => pass.to))].sort((a, b) => a - b);
  const end = ends.at(-1),
    calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const kept = model.get("state"),
    usual = Object.keys(PACES).findLast((name) => end * PACES[name] <= PATIENCE) ?? "as recorded";
  const state = {
    now: model.get("still") ? end : kept.now >= 0 && kept.now <= end + EXACT ? Math.min(end, kept.now) : 0,
    pace: kept.pace in PACES ? kept.pace : usual,
    timer: null,
  };
  const keep = () => model.set("state", { now: Number(state.now.toFixed(4)), pace: state.pace });
  keep();

  const live = aloud();
  const clock = span("sdl-where"); // no <output>: it would be read aloud all the time
  const play = h("button", { class: "sdl-play sdl-main", onclick: () => (state.timer ? stop() : start()) });
  const most = Math.max(...every.map((pass) => pass.tokens.length));
  // %, so that a number has room in the lowest one
  const high = (pass) => 40 + (52 * (pass.tokens.length - 1)) / Math.max(1, most - 1);
  const part = (seconds) => `${(100 * seconds) / end}%`;
  const lane = (name) =>
    h(
      "div",
      { class: "sdl-lane", role: "img" },
      ...lanes[name].map((pass) =>
        h(
          "span",
          {
            class: "sdl-pass",
            style: `left: ${part(pass.from)}; width: ${part(pass.to - pass.from)}; height: ${high(pass)}%`,
          },
          String(pass.tokens.length),
        ),
      ),
      span("sdl-head"),
    );
  const tracks = { plain: lane("plain"), speculative: lane("speculative") };
  const textOf = (name) =>
    h(
      "p",
      { class: "sdl-text", "data-name": NAMES[name] },
      ...lanes[name].map((pass, i) =>
        h("span", { class: i % 2 ? "sdl-odd" : "", "data-pass": i }, ...pass.tokens.map(drawnText)),
      ),
    );
  const texts = { plain: textOf("plain"), speculative: textOf("speculative") };
  // a model drafted: who copies is sure of each draft
  const small = data.rounds.some((r) => r.drafted.some((d) => d.q_raw < 1)) ? 2 : 0;
  const large = (beside) => machine(data.layers ?? 32, "large model", beside);
  const drawings = { plain: large(0), speculative: large(small) };

  /** The pass that is going on at this moment: the layers are read once for all that it writes. */
  function drawPass(name) {
    const { from, to, tokens, looks } = lanes[name].find((pass) => pass.to > state.now + EXACT) ?? lanes[name].at(-1),
      over = state.now >= to - EXACT;
    const part = over ? 1 : (state.now - from) / (to - from),
      // parts of a pass as it is drawn: drafts, reading, what came of it
      drafts = small && name === "speculative" ? 0.2 : 0;
    const seen = state.now ? tokens : [""],
      asked = part < 0.8 || !state.now;
    drawings[name].draw(
      state.now && part >= drafts ? Math.min(1, (part - drafts) / (0.8 - drafts)) : null,
      seen.map((text, i) =>
        asked
          ? ["?", "is-asked"]
          : [
              `${SIGNS[looks[i]]}${END.test(text) ? "end" : visible(text).trimStart() || visible(text)}`,
              `is-${looks[i]}`,
            ],
      ),
      "",
      state.now > 0 && part < drafts,
    );
  }
  const counts = { plain: div("sdl-count"), speculative: div("sdl-count") };

  /** Where each way is at this moment, in words. */
  function words() {
    const [plain, speculative] = ["plain", "speculative"].map((name) => count(done(lanes[name], state.now)));
    return `After ${state.now.toFixed(2)} s: plain decoding ${plain} tokens, with drafts ${speculative}.`;
  }

  function draw() {
    // a page may have kept the results back
    if (state.now >= end - EXACT) el.dispatchEvent(new CustomEvent("raced", { bubbles: true }));
    clock.textContent = state.now < end - EXACT ? `${state.now.toFixed(2)} of ${end.toFixed(2)} s` : "";
    play.classList.toggle("sdl-main", !state.timer); // nobody has to stop it
    play.textContent = state.timer ? "❚❚ pause" : state.now >= end ? "▶ again" : "▶ play";
    won.hidden = state.now < end - EXACT;
    for (const name of ["plain", "speculative"]) {
      const passes = done(lanes[name], state.now),
        all = lanes[name];
      tracks[name]
        .querySelectorAll(".sdl-pass")
        .forEach((box, i) => box.classList.toggle("sdl-done", i < passes.length));
      tracks[name].querySelector(".sdl-head").style.left = `${(100 * state.now) / end}%`;
      tracks[name].setAttribute(
        "aria-label",
        `${NAMES[name]}: ${passes.length} of ${all.length} passes done, ${count(passes)} of ${count(all)} tokens`,
      );
      counts[name].replaceChildren(
        h("b", {}, NAMES[name]),
        `: ${count(passes)} token${count(passes) === 1 ? "" : "s"}, `,
        `${passes.length} ${passes.length === 1 ? "pass" : "passes"}`,
        passes.length === all.length ? `, ${all.at(-1).to.toFixed(2)} s` : "",
      );
      drawPass(name);
      // and pale
      for (const span of texts[name].children) span.ariaHidden = Number(span.dataset.pass) >= passes.length;
    }
  }

  function start() {
    if (state.now >= end) state.now = 0;
    if (root.getBoundingClientRect().bottom > innerHeight)
      // both lanes are to be seen
      root.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
    let since = performance.now();
    const tick = () => {
      if (!el.isConnected) return clearInterval(state.timer);
      const now = performance.now();
      state.now = Math.min(end, state.now + (now - since) / 1000 / PACES[state.pace]);
      since = now;
      if (state.now >= end) stop();
      else draw();
    };
    state.timer = setInterval(tick, calm ? CALM : 30);
    draw();
  }

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    moved();
  }

  /** By hand, or at the end of a run: said aloud, and kept. */
  function moved() {
    draw();
    live.textContent = words();
    keep();
    model.save_changes();
  }

  /** To the end of the next pass of either way, or of the one before. */
  function step(by) {
    const next = by > 0 ? ends.find((to) => to > state.now + EXACT) : ends.findLast((to) => to < state.now - EXACT);
    goTo(next ?? (by > 0 ? end : 0));
  }

  function goTo(moment) {
    state.now = moment;
    if (state.timer) stop();
    else moved();
  }

  const won = h("p", { class: "sdl-won" });
  const pace = menu("pace", Object.keys(PACES), state.pace, (name) => {
    state.pace = name;
    moved();
  });
  const [plain, speculative] = ["plain", "speculative"].map((name) => lanes[name].at(-1).to / count(lanes[name]));
  won.append(figure(plain / speculative), span("", " as fast per token, with drafts."));
  const root = card(
    "Race",
    `sdl-race${texts.plain.textContent === texts.speculative.textContent ? " sdl-same" : ""}`,
    div("sdl-title", data.title),
    div(
      "sdl-start",
      div(
        "sdl-nav",
        play,
        h("button", { "aria-label": "to the start", onclick: () => goTo(0) }, "↤"),
        h("button", { "aria-label": "a pass back", onclick: () => step(-1) }, "←"),
        h("button", { "aria-label": "a pass on", onclick: () => step(1) }, "→"),
        pace,
      ),
      div("sdl-result", clock, won),
    ),
    ...Object.keys(NAMES).map((name) => div("sdl-way", drawings[name].node, div("", counts[name], tracks[name]))),
    div("sdl-texts", texts.plain, texts.speculative),
    div(
      "sdl-foot",
      fold(
        "how to read it",
        {},
        div(
          "sdl-note",
          "A box is a pass of the target, with its drafting: the wider, the longer it took, and the higher, " +
            "the more tokens it wrote." +
            (data.greedy
              ? ""
              : " At this temperature the texts are two draws of one distribution, and need not be the same."),
        ),
        div("sdl-note", `Recorded with ${data.hardware}, without the prompt's own pass.`),
        div("sdl-keys", "Keys: Tab moves, Enter presses, ← and → go a pass back and on."),
      ),
    ),
    live,
  );
  ownKeys(root, arrows(step));
  el.append(root);
  draw();
  return () => clearInterval(state.timer);
}

export default { render };
