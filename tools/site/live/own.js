// A sentence of the reader's own: the real target, fetched by a press, writes it plainly and with drafts,
// here in the page.

const DRAFTERS = { eagle: "EAGLE", model: "a draft model", lookup: "lookup" };
const CHOICES = {
  drafter: ["drafter", DRAFTERS],
  gamma: ["γ, drafts a round", { 2: "2", 1: "1", 3: "3", 4: "4", 6: "6", 8: "8" }],
  temperature: ["temperature", { 0: "0, the likeliest token", 1: "1, drawn" }],
};
const TOKENS = 48;
const MOST = 600; // characters of a prompt
const MAKING = ["its files", "the words", "the drafters", "the target"]; // once its bytes have come
const STOPPED = "Stopped.";
/** Why this browser cannot run it, in a sentence; "" where it may. */
function hindrance() {
  const why =
    location.protocol === "file:"
      ? "This needs the site on a server: opened from a folder, a browser starts no worker."
      : typeof WebAssembly !== "object" || typeof Worker !== "function"
        ? "This browser runs no WebAssembly in a worker."
        : !DataView.prototype.getFloat16
          ? "This browser is older than 2025: the model needs numbers of 16 bits, which it does not read."
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
function instead(why) {
  const to = `${document.body.dataset.up}gallery.html`;
  return h("p", { class: "sdl-explorer sdl-own sdl-note" }, why, " ", h("a", { href: to }, "A gallery of real rounds"));
}

async function render({ model, el }) {
  const { marks, megabytes, files, id, hardware, large, title: name, prompts } = model.get("data"),
    asked = model.get("state");
  const why = hindrance();
  if (why) {
    el.append(instead(why));
    return () => {};
  }
  const box = el.closest(".opening"),
    race = raceIn(box);
  const chosen = { prompt: asked.prompt || prompts[0], drafter: "eagle", gamma: "2", temperature: "0" };
  for (const [key, [, names]] of Object.entries(CHOICES))
    if (Object.hasOwn(names, asked[key])) chosen[key] = String(asked[key]);
  const keep = () => {
    model.set("state", { ...chosen });
    model.save_changes();
  };
  const field = h(
    "textarea",
    {
      rows: 1,
      maxlength: MOST,
      "aria-label": "your sentence",
      oninput: () => {
        chosen.prompt = field.value;
        keep();
      },
      onpaste: ({ clipboardData }) => {
        const pasted = clipboardData.getData("text").length;
        if (pasted > MOST)
          said.textContent = `At most ${MOST} characters go in here: of your ${pasted}, the first are kept.`;
      },
    },
    chosen.prompt,
  );
  const menus = [
    menu("another prompt", prompts, prompts[0], (text) => {
      field.value = chosen.prompt = text;
      keep();
    }),
    ...Object.entries(CHOICES).map(([key, [title, names]]) =>
      menu(title, Object.values(names), names[chosen[key]], (name) => {
        chosen[key] = Object.keys(names).find((one) => names[one] === name);
        keep();
      }),
    ),
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
  const bar = h("div", { class: "coming", role: "progressbar", hidden: true, "aria-label": "the model" }, h("i"));
  const go = h("button", { class: "sdl-main", onclick: () => run() }, "▶ write it");
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
  const shown = div();
  (box.closest(".hero") ?? box).after(shown);
  const ended = [];
  let ways; // what came, of plain decoding and with drafts

  /** Decode both ways by turns; rounds are drawn as they come. */
  function decode() {
    const { prompt, drafter, gamma, temperature } = chosen;
    ways = ["plain", "drafts"].map(() => ({ rounds: [], seconds: [], ids: [], turns: [], time: 0 }));
    race.empty(prompt, `${DRAFTERS[drafter]}, γ = ${gamma}`, { eagle: 1, model: 2, lookup: 0 }[drafter]);
    race.won.replaceChildren(h("span", {}, h("i", {}, "It writes your sentence, both ways by turns.")));
    box.querySelector(".under i").textContent = "A shade is one pass. Written in this browser just now.";
    race.button.disabled = true;
    race.bring(race.lanes[1].node, "end");
    return new Promise((done, failed) => {
      worker.onmessage = ({ data }) => {
        if (data.failed) failed(new Error(data.told ? data.failed : meaning(data.failed)));
        if (data.done) done();
        if (!data.round) return;
        const i = data.name === "plain" ? 0 : 1,
          of = ways[i],
          spent = Object.values(data.seconds).reduce((sum, part) => sum + part);
        of.rounds.push(data.round);
        of.seconds.push(data.seconds);
        of.ids.push(...data.tokens);
        of.turns[data.turn - 1] ??= { tokens: 0, time: 0 };
        of.turns[data.turn - 1].tokens += data.tokens.length;
        of.turns[data.turn - 1].time += spent;
        race.add(i, passOf(data.round, (of.time += spent)));
        race.draw();
      };
      const asked = { prompt, gamma: Number(gamma), tokens: TOKENS, temperature: Number(temperature) };
      worker.postMessage({ write: { ...asked, names: ["plain", drafter] } });
    });
  }

  /** By this computer's clock: the least and the most that any turn says, and whether they can be trusted. */
  function byTheClock([plain, drafts]) {
    const pace = ({ tokens, time }) => time / tokens,
      ratios = plain.turns.flatMap((turn, i) =>
        turn.tokens > 3 && drafts.turns[i] ? [pace(turn) / pace(drafts.turns[i])] : [],
      );
    if (!ratios.length) return "The text is too short for a clock.";
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)],
      mean = (of, ...parts) => of.seconds.reduce((sum, s) => sum + parts.reduce((all, part) => all + s[part], 0), 0);
    const busy =
      most > 1.5 * least ||
      mean(drafts, "verify", "loop") / drafts.rounds.length < mean(plain, "verify", "loop") / plain.rounds.length;
    const [low, high] = [least, most].map((x) => x.toFixed(1)),
      range = low === high ? `about ${low} times` : `between ${low} and ${high} times`;
    return busy
      ? `By the clock it was ${range} as fast, turn by turn: this computer is busy, so trust the passes, not the clock.`
      : `By the clock it was ${range} as fast${most < 1 ? ": a loss" : least > 1 ? "" : ": no gain that it can show"}.`;
  }

  /** What came of it: tokens a pass first, which are the same with every press. */
  function conclusion(drew) {
    const [plain, drafts] = ways,
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
        h("span", { class: "usual" }, byTheClock(ways)),
        h(
          "span",
          { class: "usual" },
          `On an ${large.card}, with ${large.billions} billion weights, a pass over ${k} tokens takes`,
          ` ${cost.toFixed(2)} times as long as one: the same rounds could be up to ${(E / cost).toFixed(1)} times`,
          " as fast there, less what drafting takes.",
        ),
      ),
    ];
  }

  async function run() {
    if (!chosen.prompt.trim()) {
      said.textContent = "Write a few words for the model to go on from.";
      return;
    }
    [ready, halted] = [false, false];
    stop.hidden = false;
    if (document.activeElement === go) stop.focus();
    go.disabled = true;
    let clock = 0;
    while (ended.length) ended.pop()();
    shown.replaceChildren();
    try {
      if (!loaded) {
        bar.hidden = false;
        race.watch(); // the recorded one, while the model comes
        const seconds = await loadModel(({ progress, megabytes: [come, all], making }) => {
          clearInterval(clock);
          const step = MAKING.indexOf(making) + 1, // how long one takes, nobody knows: the bar goes there slowly
            part = 0.7 * progress + (0.3 * step) / MAKING.length;
          bar.style = `--part: ${100 * part}%; --slowly: ${step ? 4 : 0.2}s`;
          bar.ariaValueNow = Math.round(100 * part);
          const begun = Date.now();
          const tick = () => {
            said.textContent = making
              ? `Making ${making} ready: ${((Date.now() - begun) / 1000).toFixed(0)} seconds …`
              : `Its weights: ${come.toFixed(0)} of ${all.toFixed(0)} MB`;
          };
          tick();
          if (making) clock = setInterval(tick, 1000);
        });
        said.textContent = `The model was ready after ${seconds.toFixed(1)} seconds.`;
        bar.hidden = true;
      } else await loaded;
      clearInterval(clock);
      ready = true;
      const drew = chosen.temperature !== "0";
      await decode();
      const tell = () =>
        race.won.replaceChildren(...(halted ? [h("span", {}, h("i", {}, STOPPED))] : conclusion(drew)));
      race.act({ again: race.play, tell });
      tell();
      if (!halted)
        said.textContent = `Written: ${ways[0].rounds.length} passes plainly, ${ways[1].rounds.length} with drafts.`;
      race.bring(race.won, "center");
      if (ways[1].rounds.length) {
        const explorer = await specdecLab.widget("explorer");
        const title = `Your sentence, round by round: ${DRAFTERS[chosen.drafter]}, γ = ${chosen.gamma}`,
          data = { title, greedy: !drew, rounds: ways[1].rounds, marks, id, hardware };
        model.set("seen", {}); // what was revealed of the sentence before
        keep();
        ended.push(explorer.render({ model: partOf(model, id, data), el: shown }));
      }
    } catch (wrong) {
      said.textContent = wrong.message;
      bar.hidden = true;
    }
    clearInterval(clock);
    go.disabled = race.button.disabled = false;
    if (document.activeElement === stop) go.focus({ preventScroll: true });
    stop.hidden = true;
  }

  const root = card(
    "Type your own",
    "sdl-own",
    div("sdl-title", name),
    div("sdl-typed", field, go, stop),
    said,
    bar,
    fold("other prompts, drafters, γ, temperature", {}, div("sdl-nav", ...menus)),
  );
  ownKeys(root);
  el.append(root);
  return () => {
    for (const end of ended) end();
    shown.remove();
  };
}

export default { render };
