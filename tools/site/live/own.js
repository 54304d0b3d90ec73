// A sentence of the reader's own: the real target, fetched by a press, writes it plainly and with drafts,
// here in the page.

const DRAFTERS = { eagle: "EAGLE", model: "a draft model", lookup: "lookup" };
const TEMPERATURES = { 0: "0, the likeliest token", 1: "1, drawn" };
const TOKENS = 48;
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
/** The worker with the model in it; said({progress, …}) while it comes. */
function loadModel(said) {
  loaded ||= new Promise((done, failed) => {
    giveUp = () => failed(new Error(STOPPED));
    worker = new Worker(new URL(`${document.body.dataset.up}live/worker.js`, location.href), { type: "module" });
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
  wrong === STOPPED
    ? STOPPED
    : /memory|allocat|bad_alloc|RangeError|Aborted/i.test(wrong)
      ? "There was not enough memory for the model (1.6 GB): close other tabs and try again."
      : /fetch|not there|network/i.test(wrong)
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
  const { marks, megabytes, id, hardware, large, title: name, prompts } = model.get("data"),
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
      maxlength: 600,
      "aria-label": "your sentence",
      oninput: () => {
        chosen.prompt = field.value;
        keep();
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
  const said = h(
    "div",
    { class: "sdl-note", role: "status" },
    [
      `The first press fetches the model, ${megabytes} MB, from this site.`,
      "Your browser keeps it; at work it takes 1.6 GB of memory.",
      `It writes ${TOKENS} tokens at most. Nothing that you type leaves this page.`,
    ].join(" "),
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
    verdict = h("p", { class: "sdl-verdict", role: "status" }),
    shown = div();
  const ended = [];

  function lane(name, title) {
    const text = h("p", { class: "sdl-text", tabindex: 0, role: "group", "aria-label": title }),
      counts = div("sdl-count");
    lanes[name] = { text, counts, tokens: 0, rounds: [], seconds: [], ids: [] };
    return div("", h("b", {}, title), counts, text);
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
            h("span", { class: `sdl-from sdl-${word}`, style: `--mark: ${marks[word].colour}` }, drawnText(text)),
          );
        const time = of.seconds.reduce((sum, s) => sum + s.draft + s.verify + s.loop, 0);
        of.time = time;
        of.counts.textContent = [
          `${of.ids.length} tokens · ${of.rounds.length} passes · ${time.toFixed(1)} s`,
          `${(of.ids.length / time).toFixed(1)} tokens a second`,
        ].join(" · ");
      };
      const { prompt, temperature } = chosen;
      worker.postMessage({ write: { prompt, name, gamma, tokens: TOKENS, temperature: Number(temperature) } });
    });
  }

  /** The numbers of both ways, in sentences: what came of it first. */
  function conclusion(drew) {
    const { plain, drafts } = lanes,
      same = plain.ids.findIndex((token, i) => token !== drafts.ids[i]);
    const of = (lane, ...parts) =>
      lane.seconds.reduce((sum, s) => sum + parts.reduce((some, part) => some + s[part], 0), 0);
    const step = plain.time / plain.ids.length,
      rounds = drafts.rounds.length,
      E = drafts.ids.length / rounds,
      v = of(drafts, "verify", "loop") / rounds / step,
      d = of(drafts, "draft") / rounds / step,
      S = E / (v + d);
    const text = drew
      ? "Both texts are drawn, so they differ; each follows the target's chances."
      : same < 0 && plain.ids.length === drafts.ids.length
        ? `The same ${plain.ids.length} tokens, both ways.`
        : `The texts are the same for ${same < 0 ? Math.min(plain.ids.length, drafts.ids.length) : same} tokens.`;
    const end =
      Math.abs(S - 1) < 0.05
        ? "Neither a gain nor a loss that this clock can show."
        : S > 1
          ? `${S.toFixed(2)} times as fast.`
          : `A loss: ${S.toFixed(2)} times as fast.`;
    return [
      h("b", {}, end),
      [
        ` ${text} A round took ${(v + d).toFixed(2)} times as long as a plain step here:`,
        `${v.toFixed(2)} for checking up to ${Number(chosen.gamma) + 1} tokens at once, ${d.toFixed(2)} for drafting.`,
        `So it pays if it writes more than ${(v + d).toFixed(2)} tokens; yours wrote ${E.toFixed(2)}.`,
        `This page computes on one thread. ${large}`,
      ].join(" "),
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
      await decode("plain", 0);
      if (!halted) await decode(chosen.drafter, Number(chosen.gamma));
      if (halted) verdict.textContent = STOPPED;
      else verdict.replaceChildren(...conclusion(drew));
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
      said.textContent = meaning(wrong.message);
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
    out,
    verdict,
    shown,
  );
  ownKeys(root);
  el.append(root);
  return () => ended.forEach((end) => end());
}

export default { render };
