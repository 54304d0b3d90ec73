// The picture of the site: two lanes, in which each pass of a race is drawn. machine.js stands in front of it.
// opening.js runs recorded races in it, live/own.js a sentence of the reader's own.

/** What a lane shows of a round: [word, what became of it] for each token, what it wrote, and when it ended (to). */
function passOf({ drafted, emitted }, to) {
  const all = [
      ...drafted.map(({ text, status }) => [text, status]),
      ...(emitted ? [[emitted.text, emitted.kind]] : []),
    ],
    news = all.filter(([, look]) => !["rejected", "discarded"].includes(look)).map(([text]) => text);
  return {
    to,
    tokens: news.length,
    rows: all.map(([text, look]) => [text.trim(), look]),
    said: news.filter((text) => !text.startsWith("<|")).join(""), // no marks of the chat template
  };
}

/**
 * The race in a box. Its acts say what a press on the button does once it is over (again), what is told while it runs
 * (during) and at its end (tell).
 */
function raceIn(box) {
  if (box.race) return box.race;
  // seconds that it takes here, however long it took: until the drafts are done, and from there to the end
  const [DRAFTS, REST] = [5, 1.2];
  const SIGNS = { accepted: "✓", rejected: "✗", corrected: "↻", bonus: "+", discarded: "–", plain: "" };
  // parts of a pass as it is drawn: drafts come one by one, all weights are read, what came of it
  const [ASKED, READ] = [0.3, 0.8];
  const button = box.querySelector(".under button"),
    won = box.querySelector(".won");
  let since = null, // when it began; null where it does not run, Infinity where it waits for an answer
    acts = {};
  const lanes = [...box.querySelectorAll(".lane")].map((node) => {
    const [tokens, passes] = node.querySelectorAll("i");
    const lane = { node, tokens, passes, time: node.querySelector("b"), said: node.querySelector(".said"), pieces: [] };
    drawn(lane, Number(node.dataset.small));
    return lane;
  });

  /** A lane's drawing of a pass, with the layers of its drafter. */
  function drawn(lane, small) {
    lane.drawing?.node.remove();
    lane.drawing = machine(Number(box.dataset.layers), "large model", small);
    lane.node.prepend(lane.drawing.node);
  }

  /** A pass more of the lane i. */
  function add(i, { said, ...pass }) {
    const { pieces, said: text } = lanes[i],
      span = document.createElement("span");
    span.className = pieces.length % 2 ? "odd" : "";
    span.textContent = said;
    text.append(span);
    pieces.push({ span, from: pieces.at(-1)?.to ?? 0, ...pass });
  }

  /** No pass yet; how: in words, how the second lane drafts; small: layers of a drafter that is a model. */
  function empty(prompt, how, small) {
    since = null;
    for (const lane of lanes) {
      lane.pieces = [];
      lane.said.replaceChildren();
    }
    drawn(lanes[1], small);
    lanes[1].node.querySelector(".counter small").textContent = how;
    box.querySelector(".asked span").textContent = prompt;
    box.classList.remove("empty", "resting");
    button.textContent = "▶ again";
    draw();
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
    const begun = drafts ? ASKED : 0,
      read = part < begun ? null : (part - begun) / (READ - begun);
    drawing.draw(read, words, drafts ? "guesses" : "next word", drafts > 0 && part < begun);
  }

  function draw(now = Infinity) {
    for (const lane of lanes) {
      const { tokens, passes, time, pieces } = lane;
      const done = pieces.filter(({ to }) => to <= now + 1e-4);
      for (const { span, to } of pieces) span.classList.toggle("later", to > now + 1e-4);
      const written = done.reduce((sum, piece) => sum + piece.tokens, 0);
      tokens.textContent = written;
      tokens.nextSibling.data = written === 1 ? " token · " : " tokens · ";
      passes.textContent = done.length;
      passes.nextSibling.data = done.length === 1 ? " pass" : " passes";
      time.textContent = (1000 * Math.min(now, pieces.at(-1)?.to ?? 0)).toFixed(0);
      if (pieces.length) drawPass(lane, now);
    }
  }

  /** When each lane ends. */
  const ends = () => lanes.map(({ pieces }) => pieces.at(-1).to);

  function frame(at) {
    if (since === null || !box.isConnected) return;
    const [plain, first] = ends(),
      end = Math.max(plain, first),
      spent = Math.max(0, at - since) / 1000;
    // slow at first, while one finds out what happens
    const now =
      spent < DRAFTS
        ? first * (spent / DRAFTS) ** 1.3
        : Math.min(end, first + ((end - first) * (spent - DRAFTS)) / REST);
    draw(now);
    acts.during?.(now);
    if (now < end) requestAnimationFrame(frame);
    else stop();
  }

  /** In a low window: both lanes while they run, then what came of it, below the page's first line (60 px). */
  function bring(node, block) {
    const { top, bottom } = node.getBoundingClientRect();
    if (top < 60 || bottom > innerHeight) node.scrollIntoView({ block, behavior: "smooth" });
  }

  /** It stands at its beginning, and waits for a press. */
  function wait() {
    since = Infinity;
    button.textContent = "▶ just watch";
    box.classList.add("resting");
    draw(0); // at once, since the end that stood there would flash
  }

  function play() {
    since = performance.now();
    box.classList.remove("resting");
    button.textContent = "❚❚ stop";
    bring(lanes[1].node, "end");
    requestAnimationFrame(frame);
  }

  /** Where it waits, it waits no more. */
  const watch = () => since === Infinity && play();

  /** At its end. */
  function stop() {
    since = null;
    draw();
    acts.tell();
    bring(won, "center");
    button.textContent = "▶ again";
  }

  button.addEventListener("click", () => (since === null ? acts.again() : since === Infinity ? play() : stop()));
  const act = (others) => (acts = others);
  box.race = { lanes, won, button, add, empty, draw, ends, bring, wait, watch, play, act };
  return box.race;
}
