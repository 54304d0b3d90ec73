// A sentence of the reader's own: the real target, fetched by a press, writes it plainly and with drafts,
// here in the page.

const DRAFTERS = { eagle: "EAGLE", model: "a draft model", lookup: "lookup" };
const TEMPERATURES = { 0: "0, the likeliest token", 1: "1, drawn" };
const TOKENS = 48;
const MOST = 600; // characters of a prompt
const STOPPED = "Stopped.";
/** Why this browser cannot run it, in a sentence; "" where it may. */
function hindrance() {
  const why =
    location.protocol === "file:"
      ? "This needs the site on a server: opened from a folder, a browser starts no worker."
      : typeof WebAssembly !== "object" || typeof Worker !== "function"
        ? "This browser runs no WebAssembly in a worker."
        : matchMedia("(pointer: coarse)").matches || navigator.deviceMemory < 4
          ? "This takes 1.6 GB of memory: please open this page on a computer."
          : "";
  return why && `${why} The recorded rounds play here as well.`;
}

let worker = null,
  loaded = null, // one for all places of a page
  giveUp = null; // ends the loading

/** Whether the browser has kept all files of the model. */
async function here(files) {
  for (const name of (await self.caches?.keys().catch(() => [])) ?? [])
    if (name.startsWith("specdec-lab ")) return (await (await caches.open(name)).keys()).length >= files;
  return false;
}

/** The worker with the model in it; said({progress, …}) while it comes. */
function loadModel(said) {
  loaded ||= new Promise((done, failed) => {
    giveUp = () => failed(new Error(STOPPED));
    worker = new Worker(new URL(`${document.body.dataset.up}live/worker.js`, location.href), { type: "module" });
    worker.onerror = () => failed(new Error("The worker did not start: is the site's folder complete?"));
    worker.onmessage = ({ data }) => {
      if (data.progress !== undefined) said(data);
      if (data.ready) done(data.ready);
      if (data.failed) failed(new Error(data.told ? data.failed : meaning(data.failed)));
    };
    worker.postMessage({ load: true });
  });
  return loaded.catch((wrong) => {
    worker?.terminate();
    [worker, loaded] = [null, null];
    throw wrong;
  });
}

/** What a failure means for the reader. */
const meaning = (wrong) =>
  /memory|allocat|bad_alloc|RangeError|Aborted/i.test(wrong)
    ? "There was not enough memory for the model (1.6 GB): close other tabs and try again."
    : /fetch|network/i.test(wrong)
      ? "The model could not be fetched. Try again: what has come is kept."
      : `It stopped: ${wrong}`;

/** In place of the field: why it is not there, and what is. */
function instead(why, title) {
  const to = `${document.body.dataset.up}gallery.html`,
    rounds = location.pathname.endsWith(to) ? "" : h("a", { href: to }, "A gallery of real rounds");
  return h(
    "div",
    { class: "sdl-explorer sdl-own", role: "group", "aria-label": "Type your own" },
    div("sdl-title", title),
    h("p", { class: "sdl-note" }, why, " ", rounds),
  );
}

async function render({ model, el }) {
  const { marks, megabytes, files, id, hardware, large, title: name, prompts } = model.get("data"),
    asked = model.get("state");
  const why = hindrance();
  if (why) {
    el.append(instead(why, name));
    return () => {};
  }
  const chosen = {
    prompt: asked.prompt || prompts[0],
    drafter: asked.drafter in DRAFTERS ? asked.drafter : "eagle",
    gamma: ["1", "2", "3", "4", "6", "8"].includes(String(asked.gamma)) ? String(asked.gamma) : "2",
    temperature: asked.temperature in TEMPERATURES ? asked.temperature : "0",
  };
  const keep = () => {
    model.set("state", { ...chosen });
    model.save_changes();
  };
  const field = h(
    "textarea",
    {
      rows: 2,
      maxlength: MOST,
      "aria-label": "your sentence",
      oninput: () => {
        chosen.prompt = field.value;
        keep();
      },
      onpaste: ({ clipboardData }) => {
        const pasted = clipboardData.getData("text").length;
        if (pasted > MOST)
          said.textContent = `A prompt has at most ${MOST} characters here: of the ${pasted} that you pasted, the first are kept.`;
      },
    },
    chosen.prompt,
  );
  const ideas = span(
    "sdl-note",
    "Or: ",
    ...prompts.flatMap((text) => [
      " ",
      h(
        "button",
        {
          type: "button",
          class: "sdl-idea",
          onclick: () => {
            field.value = chosen.prompt = text;
            keep();
          },
        },
        text,
      ),
    ]),
  );
  const menus = [
    menu("drafter", Object.values(DRAFTERS), DRAFTERS[chosen.drafter], (name) => {
      chosen.drafter = Object.keys(DRAFTERS).find((key) => DRAFTERS[key] === name);
      keep();
    }),
    menu("temperature", Object.values(TEMPERATURES), TEMPERATURES[chosen.temperature], (name) => {
      chosen.temperature = Object.keys(TEMPERATURES).find((key) => TEMPERATURES[key] === name);
      keep();
    }),
    menu("γ, drafts a round", ["1", "2", "3", "4", "6", "8"], chosen.gamma, (value) => {
      chosen.gamma = value;
      keep();
    }),
  ];
  const fetching = (await here(files))
    ? "The model is here already: your browser has kept it."
    : `The first press fetches the model, ${megabytes} MB, from this site, and your browser keeps it.`;
  const said = h(
    "div",
    { class: "sdl-note", role: "status" },
    `${fetching} At work it takes 1.6 GB of memory, and writes ${TOKENS} tokens at most. `,
    "It is a small model that knows little. Nothing that you type leaves this page.",
  );
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "the model" });
  const go = h("button", { class: "sdl-main", onclick: () => run() }, "▶ write it, plain and with drafts");
  let ready = false,
    halted = false;
  const stop = h(
    "button",
    {
      hidden: true,
      onclick: () => {
        halted = true;
        ready ? worker?.postMessage({ stop: true }) : giveUp?.();
      },
    },
    "■ stop",
  );
  const lanes = {},
    out = div(),
    verdict = h("p", { class: "won", role: "status" }),
    shown = div();
  const ended = [];

  function lane(name, title) {
    const text = h("p", { class: "sdl-text", tabindex: 0, role: "group", "aria-label": title }),
      counts = div("sdl-count");
    lanes[name] = { text, counts, rounds: [], seconds: [], ids: [], turns: [] };
    return div("", h("b", {}, title), counts, text);
  }

  /** Decode both ways by turns; rounds are drawn as they come. */
  function decode() {
    const { prompt, drafter, gamma, temperature } = chosen;
    return new Promise((done, failed) => {
      worker.onmessage = ({ data }) => {
        if (data.failed) failed(new Error(data.told ? data.failed : meaning(data.failed)));
        if (data.done) done();
        if (!data.round) return;
        const of = lanes[data.name === "plain" ? "plain" : "drafts"],
          { draft, verify, loop } = data.seconds;
        of.rounds.push(data.round);
        of.seconds.push(data.seconds);
        of.ids.push(...data.tokens);
        of.turns[data.turn - 1] ??= { tokens: 0, time: 0 };
        of.turns[data.turn - 1].tokens += data.tokens.length;
        of.turns[data.turn - 1].time += draft + verify + loop;
        for (const [text, word] of written(data.round))
          of.text.append(
            h("span", { class: `sdl-from sdl-${word}`, style: `--mark: ${marks[word].colour}` }, drawnText(text)),
          );
        const time = of.turns.reduce((sum, turn) => sum + turn.time, 0);
        of.counts.textContent = `${of.ids.length} tokens · ${of.rounds.length} passes · ${time.toFixed(1)} s`;
      };
      const asked = { prompt, gamma: Number(gamma), tokens: TOKENS, temperature: Number(temperature) };
      worker.postMessage({ write: { ...asked, names: ["plain", drafter] } });
    });
  }

  /** By this computer's clock: the least and the most that any turn says, and whether they can be trusted. */
  function byTheClock({ plain, drafts }) {
    const pace = ({ tokens, time }) => time / tokens,
      ratios = plain.turns.flatMap((turn, i) =>
        turn.tokens > 3 && drafts.turns[i] ? [pace(turn) / pace(drafts.turns[i])] : [],
      );
    if (!ratios.length) return "The text is too short for a clock.";
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)],
      mean = (of, ...parts) => of.seconds.reduce((sum, s) => sum + parts.reduce((all, part) => all + s[part], 0), 0);
    const wide =
      mean(drafts, "verify", "loop") / drafts.rounds.length < mean(plain, "verify", "loop") / plain.rounds.length;
    const [low, high] = [least, most].map((x) => x.toFixed(1)),
      range = low === high ? `about ${low} times` : `between ${low} and ${high} times`;
    return wide || most > 1.5 * least
      ? `By the clock it was ${range} as fast, turn by turn: this computer is busy, so trust the passes, not the clock.`
      : least > 1
        ? `By the clock of this computer it was ${range} as fast.`
        : most < 1
          ? `By the clock of this computer it was a loss: ${range} as fast.`
          : `By the clock of this computer it was ${range} as fast: neither a gain nor a loss that it can show.`;
  }

  /** What came of it: tokens a pass first, which are the same with every press. */
  function conclusion(drew) {
    const { plain, drafts } = lanes,
      E = drafts.ids.length / drafts.rounds.length,
      apart = plain.ids.findIndex((token, i) => token !== drafts.ids[i]);
    const text = drew
      ? "Both texts are drawn, so they differ; each follows the target's chances."
      : apart < 0 && plain.ids.length === drafts.ids.length
        ? `The same ${plain.ids.length} tokens, both ways.`
        : `The texts are the same for ${apart < 0 ? Math.min(plain.ids.length, drafts.ids.length) : apart} tokens.`;
    const k = Number(chosen.gamma) + 1,
      cost = large.costs[Object.keys(large.costs).find((n) => n >= k)];
    return [
      h("b", {}, E.toFixed(2)),
      h(
        "span",
        {},
        h("strong", {}, "tokens from each pass of the large model:"),
        ` ${drafts.rounds.length} passes in place of ${plain.rounds.length}. ${text}`,
        h("span", { class: "usual" }, byTheClock(lanes)),
        h(
          "span",
          { class: "usual" },
          `On an ${large.card}, with ${large.billions} billion weights, a pass over ${k} tokens takes ${cost.toFixed(2)} times`,
          ` as long as one: the same rounds could be up to ${(E / cost).toFixed(1)} times as fast there, less what drafting takes.`,
        ),
      ),
    ];
  }

  async function run() {
    if (!chosen.prompt.trim()) {
      said.textContent = "Write a few words for the model to go on from.";
      return;
    }
    root.scrollIntoView({ block: "start", behavior: "smooth" });
    [ready, halted] = [false, false];
    stop.hidden = false;
    if (document.activeElement === go) stop.focus();
    go.disabled = true;
    let clock = 0;
    while (ended.length) ended.pop()();
    [verdict, shown].forEach((node) => node.replaceChildren());
    try {
      if (!loaded) {
        bar.hidden = false;
        const seconds = await loadModel(({ progress, megabytes: come, making }) => {
          clearInterval(clock);
          if (!making) {
            bar.value = progress;
            said.textContent = `Its weights: ${come[0].toFixed(0)} of ${come[1].toFixed(0)} MB`;
            return;
          }
          bar.removeAttribute("value"); // how long it takes, nobody knows
          const begun = Date.now();
          const tick = () => {
            said.textContent = `Making ${making} ready: ${((Date.now() - begun) / 1000).toFixed(0)} seconds …`;
          };
          tick();
          clock = setInterval(tick, 1000);
        });
        said.textContent = `The model was ready after ${seconds.toFixed(1)} seconds.`;
        bar.hidden = true;
      } else await loaded;
      clearInterval(clock);
      ready = true;
      out.replaceChildren(
        lane("plain", "Plain decoding"),
        lane("drafts", `With ${DRAFTERS[chosen.drafter]}, γ = ${chosen.gamma}`),
      );
      const drew = chosen.temperature !== "0";
      await decode();
      if (halted) verdict.textContent = STOPPED;
      else {
        verdict.replaceChildren(...conclusion(drew));
        const of = ([word, { symbol, colour }]) =>
          h("span", { class: "sdl-from", style: `--mark: ${colour}` }, `${symbol} ${word}`);
        const seen = new Set(lanes.drafts.rounds.flatMap(written).map(([, word]) => word));
        const legend = Object.entries(marks)
          .filter(([word]) => seen.has(word))
          .flatMap((mark) => [of(mark), " "]);
        out.lastChild.append(h("p", { class: "sdl-note" }, "Who wrote it: ", ...legend));
      }
      if (lanes.drafts.rounds.length) {
        const explorer = await specdecLab.widget("explorer");
        const title = `Your sentence, round by round: ${DRAFTERS[chosen.drafter]}, γ = ${chosen.gamma}`,
          own = {
            revealed: [],
            guesses: {},
            state: {},
            data: { title, greedy: !drew, rounds: lanes.drafts.rounds, marks, id, hardware },
          };
        ended.push(
          explorer.render({
            model: {
              get: (name) => own[name],
              set: (name, value) => {
                own[name] = value;
              },
              save_changes() {},
            },
            el: shown,
          }),
        );
      }
    } catch (wrong) {
      said.textContent = wrong.message;
      bar.hidden = true;
    }
    clearInterval(clock);
    go.disabled = false;
    if (document.activeElement === stop) go.focus();
    stop.hidden = true;
  }

  const root = h(
    "div",
    { class: "sdl-explorer sdl-own", role: "group", "aria-label": "Type your own" },
    div("sdl-title", name),
    field,
    ideas,
    div("sdl-nav", ...menus, go, stop),
    said,
    bar,
    verdict,
    out,
    shown,
  );
  ownKeys(root);
  el.append(root);
  return () => ended.forEach((end) => end());
}

export default { render };
