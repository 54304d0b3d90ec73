// Plays the race of the first page on the elements that stand there at its end, and draws each pass.
// machine.js stands in front of it.

(() => {
  const box = document.querySelector(".opening");
  // seconds that it takes here, however long it took: until the drafts are done, and from there to the end
  const [DRAFTS, REST] = [5, 1.2];
  const SIGNS = { accepted: "✓", rejected: "✗", corrected: "↻", bonus: "+", discarded: "–", plain: "" };
  // parts of a pass as it is drawn: drafts come one by one, all weights are read, what came of it
  const [ASKED, READ] = [0.3, 0.8];
  const lanes = [...box.querySelectorAll(".lane")].map((lane) => {
    const [tokens, passes] = lane.querySelectorAll("i"),
      drawing = machine(Number(lane.dataset.layers), "large model", Number(lane.dataset.small));
    let from = 0;
    const pieces = [...lane.querySelectorAll(".said span")].map((span) => {
      const piece = {
        span,
        from,
        to: Number(span.dataset.to),
        tokens: Number(span.dataset.tokens),
        rows: JSON.parse(span.dataset.rows),
      };
      from = piece.to;
      return piece;
    });
    lane.prepend(drawing.node);
    return { lane, time: lane.querySelector("b"), tokens, passes, pieces, drawing };
  });
  const end = Math.max(...lanes.map(({ pieces }) => pieces.at(-1).to));
  const button = box.querySelector(".under button"),
    won = box.querySelector(".won"),
    result = won.innerHTML;
  const GUESSES = [1.5, 2, 3, 4]; // times as fast
  let since = null,
    said = null;

  /** The question, until it is answered: the result waits for it. */
  function ask() {
    const choices = GUESSES.map((x) => `<button type="button" aria-pressed="false">${x}×</button>`).join(" ");
    won.innerHTML = `<span><i>How many times as fast with drafts?</i> ${choices}</span>`;
    const buttons = [...won.querySelectorAll("button")];
    said = null;
    buttons.forEach((one, i) =>
      one.addEventListener("click", () => {
        said = GUESSES[i];
        begin();
        for (const other of buttons) other.ariaPressed = String(other === one);
        won.querySelector("i").textContent = `You said ${said}×. Now watch:`;
      }),
    );
  }

  /** The result, and whether the guess was the nearest one. */
  function tell() {
    const [plain, drafts] = lanes.map(({ pieces }) => pieces.at(-1).to),
      off = (x) => Math.abs(x - plain / drafts);
    const here = won.contains(document.activeElement);
    won.innerHTML = result;
    if (here) won.querySelector("a").focus({ preventScroll: true }); // the button that was pressed is gone
    const usual = Number(won.querySelector("[data-usual]").dataset.usual),
      common = GUESSES.every((x) => Math.abs(said - usual) <= Math.abs(x - usual));
    if (!said) return;
    const right = GUESSES.every((x) => off(said) <= off(x));
    if (common && !right) won.querySelector("[data-usual]").append(`, and your ${said}× is near that`);
    else
      won
        .querySelector(".usual")
        .prepend(
          right ? `You said ${said}× ✓. ` : `You said ${said}×: too ${said < plain / drafts ? "low" : "high"}. `,
        );
  }

  /** One pass: its drafts, the layers that are read for all of them at once, and what becomes of each. */
  function drawPass({ drawing, pieces }, now) {
    const { from, to, rows } = pieces.find(({ to }) => to > now + 1e-4) ?? pieces.at(-1);
    const part = Math.min(1, (now - from) / (to - from)),
      drafts = rows.length - 1;
    const words = rows.map(([word, look], i) => {
      if (part >= READ) return [`${SIGNS[look]} ${word.startsWith("<|") ? "end" : word}`, `is-${look}`];
      if (i === drafts) return ["?", "is-asked"]; // the target's own
      return part < (ASKED * (i + 1)) / (drafts + 1) ? ["", "is-coming"] : [word, "is-asked"];
    });
    const begun = drafts ? ASKED : 0;
    drawing.draw(
      part < begun ? null : (part - begun) / (READ - begun),
      words,
      drafts ? "guesses" : "next word",
      drafts > 0 && part < begun,
    );
  }

  function draw(now) {
    for (const lane of lanes) {
      const { tokens, passes, time, pieces } = lane;
      const done = pieces.filter(({ to }) => to <= now + 1e-4);
      for (const { span, to } of pieces) span.classList.toggle("later", to > now + 1e-4);
      const written = done.reduce((sum, piece) => sum + piece.tokens, 0);
      tokens.textContent = written;
      tokens.nextSibling.data = written === 1 ? " token · " : " tokens · ";
      passes.textContent = done.length;
      passes.nextSibling.data = done.length === 1 ? " pass" : " passes";
      time.textContent = (1000 * Math.min(now, pieces.at(-1).to)).toFixed(0);
      drawPass(lane, now);
    }
    const [plain, drafts] = lanes;
    if (said && now > 0 && drafts.pieces.at(-1).to <= now)
      won.querySelector("i").textContent =
        `Drafts: done. Plain decoding: token ${plain.tokens.textContent} of ${plain.pieces.length}.`;
  }

  function frame(at) {
    if (since === null) return;
    const first = lanes[1].pieces.at(-1).to,
      spent = Math.max(0, at - since) / 1000;
    // slow at first, while one finds out what happens
    const now =
      spent < DRAFTS
        ? first * (spent / DRAFTS) ** 1.3
        : Math.min(end, first + ((end - first) * (spent - DRAFTS)) / REST);
    draw(now);
    if (now < end) requestAnimationFrame(frame);
    else stop();
  }

  /** In a low window: both lanes while they run, then what came of it, below the page's first line (60 px). */
  function bring(node, block) {
    const { top, bottom } = node.getBoundingClientRect();
    if (top < 60 || bottom > innerHeight) node.scrollIntoView({ block, behavior: "smooth" });
  }

  /** It waits for a press. */
  function start() {
    since = Infinity;
    button.textContent = "▶ just watch";
    ask();
    box.classList.add("resting");
    draw(0); // at once, since the end that stood there would flash
  }

  function begin() {
    if (since !== Infinity) return;
    since = performance.now();
    box.classList.remove("resting");
    button.textContent = "❚❚ stop";
    bring(lanes[1].lane, "end");
    requestAnimationFrame(frame);
  }

  function stop() {
    since = null;
    draw(end);
    tell();
    bring(won, "center");
    button.textContent = "▶ again";
  }

  button.addEventListener("click", () => (since === null ? start() : since === Infinity ? begin() : stop()));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) start();
  else draw(end);
})();
