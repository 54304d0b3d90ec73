// A sentence of the reader's own: the real target, fetched by a press, writes it plainly and with drafts,
// here in the page.

const DRAFTERS = { eagle: "EAGLE", model: "a draft model", lookup: "lookup" };
const TEMPERATURES = { 0: "0, the likeliest token", 1: "1, drawn" };
const TITLE = "Type your own: a real model writes in this page";
const TOKENS = 48;
const ASKED = [
  "Write a short poem about the sea and a small boat.",
  "Correct the mistakes: He go to school every days with him friend.",
  "What is gravity?",
];
/** The middle one of some numbers. */
const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : NaN;
};

/** Why this browser cannot run it, in a sentence; "" where it may. */
function hindrance() {
  if (location.protocol === "file:")
    return "This needs the site on a server: opened from a folder, a browser starts no worker. The recorded rounds play here as well.";
  if (typeof WebAssembly !== "object" || typeof Worker !== "function")
    return "This browser runs no WebAssembly in a worker. The recorded rounds play here as well.";
  if (matchMedia("(pointer: coarse)").matches || navigator.deviceMemory < 4)
    return "This takes 1.6 GB of memory: please open this page on a computer. The recorded rounds play here as well.";
  return "";
}

let worker = null,
  loaded = null; // one for all places of a page
/** The worker with the model in it; said({progress, …}) while it comes. */
function loadModel(said) {
  loaded ||= new Promise((done, failed) => {
    worker = new Worker(new URL(`${document.body.dataset.up}live/worker.js`, location.href), {
      type: "module",
    });
    worker.onerror = () => failed(new Error("The worker did not start: is the site's folder complete?"));
    worker.onmessage = ({ data }) => {
      if (data.progress !== undefined) said(data);
      if (data.ready) done(data.ready);
      if (data.failed) failed(new Error(data.failed));
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
    : /fetch|not there|network/i.test(wrong)
      ? "The model could not be fetched. Try again: what has come is kept."
      : `It stopped: ${wrong}`;

/** In place of the field: why it is not there, and what is. */
function instead(why) {
  const rounds = h("a", { href: `${document.body.dataset.up}gallery.html` }, "A gallery of real rounds");
  return h(
    "div",
    { class: "sdl-explorer sdl-own", role: "group", "aria-label": "Type your own" },
    h("div", { class: "sdl-title" }, TITLE),
    h("p", { class: "sdl-note" }, why, " ", rounds, "."),
  );
}

async function render({ model, el }) {
  const why = hindrance();
  if (why) {
    el.append(instead(why));
    return () => {};
  }
  const { marks, megabytes, id, hardware, large } = model.get("data"),
    asked = model.get("state");
  const chosen = {
    prompt: asked.prompt || ASKED[0],
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
      maxlength: 600,
      "aria-label": "your sentence",
      oninput: () => {
        chosen.prompt = field.value;
        keep();
      },
    },
    chosen.prompt,
  );
  const ideas = h(
    "span",
    { class: "sdl-note" },
    "Or: ",
    ...ASKED.flatMap((text) => [
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
  const said = h(
    "div",
    { class: "sdl-note", role: "status" },
    `The first press fetches the model, ${megabytes} MB, from this site. Your browser keeps it. Nothing that you type leaves this page.`,
  );
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "the model" });
  const go = h("button", { class: "sdl-main", onclick: () => run() }, "▶ write it, plain and with drafts");
  const stop = h("button", { hidden: true, onclick: () => worker?.postMessage({ stop: true }) }, "■ stop");
  const lanes = {},
    out = h("div"),
    verdict = h("p", { class: "sdl-verdict", role: "status" }),
    shown = h("div");
  const ended = [];

  function lane(name, title) {
    const text = h("p", { class: "sdl-text", tabindex: 0, role: "group", "aria-label": title }),
      counts = h("div", { class: "sdl-count" });
    lanes[name] = { text, counts, tokens: 0, rounds: [], seconds: [], ids: [] };
    return h("div", {}, h("b", {}, title), counts, text);
  }

  /** Decode once; rounds are drawn as they come. */
  function decode(name, gamma) {
    const of = lanes[name === "plain" ? "plain" : "drafts"];
    return new Promise((done, failed) => {
      worker.onmessage = ({ data }) => {
        if (data.failed) failed(new Error(data.failed));
        if (data.done) done(data);
        if (!data.round) return;
        of.rounds.push(data.round);
        of.seconds.push(data.seconds);
        of.ids.push(...data.tokens);
        for (const [text, word] of written(data.round))
          of.text.append(
            h(
              "span",
              { class: `sdl-from sdl-${word}`, style: `--mark: ${marks[word].colour}` },
              drawnText(text),
            ),
          );
        const time = of.seconds.reduce((sum, s) => sum + s.draft + s.verify + s.loop, 0);
        of.time = time;
        of.counts.textContent = `${of.ids.length} tokens · ${of.rounds.length} passes · ${time.toFixed(1)} s · ${(of.ids.length / time).toFixed(1)} tokens a second`;
      };
      const { prompt, temperature } = chosen;
      worker.postMessage({
        write: { prompt, name, gamma, tokens: TOKENS, temperature: Number(temperature) },
      });
    });
  }

  /** The numbers of both ways, in sentences. */
  function conclusion(drew) {
    const { plain, drafts } = lanes,
      same = plain.ids.findIndex((token, i) => token !== drafts.ids[i]);
    const E = drafts.ids.length / drafts.rounds.length,
      step = median(plain.seconds.slice(1).map((s) => s.verify + s.loop));
    const full = drafts.seconds.filter((_, i) => drafts.rounds[i].drafted.length === Number(chosen.gamma));
    const text = drew
      ? "Both texts are drawn, so they differ; each follows the target's chances."
      : same < 0 && plain.ids.length === drafts.ids.length
        ? `The same ${plain.ids.length} tokens, both ways.`
        : `The texts are the same for ${same < 0 ? Math.min(plain.ids.length, drafts.ids.length) : same} tokens.`;
    if (!full.length)
      return `${text} The drafter offered no full round, so nothing can be said about its price.`;
    const v = median(full.map((s) => s.verify + s.loop)) / step,
      d = median(full.map((s) => s.draft)) / step,
      S = plain.time / plain.ids.length / (drafts.time / drafts.ids.length);
    const rows = Number(chosen.gamma) + 1,
      cost = v + d;
    const end =
      Math.abs(S - 1) < 0.05
        ? "neither a gain nor a loss that this clock can show"
        : S > 1
          ? `${S.toFixed(2)} times as fast`
          : `a loss: ${S.toFixed(2)} times as fast`;
    return `${text} A pass over ${rows} tokens took ${v.toFixed(2)} times as long as one over a single token here, and drafting ${d.toFixed(2)}. So a round pays if it writes more than ${cost.toFixed(2)} tokens. Yours wrote ${E.toFixed(2)}: ${end}. This page computes on one thread. ${large}`;
  }

  async function run() {
    if (!chosen.prompt.trim()) {
      said.textContent = "Write a few words for the model to go on from.";
      return;
    }
    go.disabled = true;
    while (ended.length) ended.pop()();
    [verdict, shown].forEach((node) => node.replaceChildren());
    try {
      if (!loaded) {
        bar.hidden = false;
        const seconds = await loadModel(({ progress, megabytes: come, making }) => {
          bar.value = progress;
          said.textContent = making
            ? `Making ${making} ready …`
            : `Its weights: ${come[0].toFixed(0)} of ${come[1].toFixed(0)} MB`;
        });
        said.textContent = `The model was ready after ${seconds.toFixed(1)} seconds.`;
        bar.hidden = true;
      } else await loaded;
      stop.hidden = false;
      out.replaceChildren(
        lane("plain", "Plain decoding"),
        lane("drafts", `With ${DRAFTERS[chosen.drafter]}, γ = ${chosen.gamma}`),
      );
      const drew = chosen.temperature !== "0";
      await decode("plain", 0);
      const last = await decode(chosen.drafter, Number(chosen.gamma));
      if (lanes.drafts.rounds.length && lanes.plain.rounds.length) {
        verdict.textContent = last.stopped ? "Stopped." : conclusion(drew);
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
      said.textContent = meaning(wrong.message);
      bar.hidden = true;
    }
    stop.hidden = true;
    go.disabled = false;
  }

  const root = h(
    "div",
    { class: "sdl-explorer sdl-own", role: "group", "aria-label": "Type your own" },
    h("div", { class: "sdl-title" }, TITLE),
    field,
    ideas,
    h("div", { class: "sdl-nav" }, ...menus, go, stop),
    said,
    bar,
    out,
    verdict,
    shown,
  );
  ownKeys(root);
  el.append(root);
  return () => ended.forEach((end) => end());
}

export default { render };
