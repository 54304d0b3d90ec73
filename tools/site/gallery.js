// The gallery: choose a text and how it was drafted; its rounds in the Round Explorer, and the race against
// plain decoding.

const DRAFTERS = {
  lookup: "lookup",
  model: "a draft model",
  medusa: "Medusa",
  "early-exit": "early exit",
  eagle: "EAGLE",
  hybrid: "the hybrid",
};

async function render({ model, el }) {
  const { texts, arms, hardware, target, marks } = model.get("data");
  const names = {
    text: Object.keys(texts),
    drafter: Object.keys(DRAFTERS),
    gamma: ["1", "2", "4", "8"],
    temperature: ["0", "1"],
  };
  const start = { text: "summary", drafter: "hybrid", gamma: "4", temperature: "0" };
  const recorded = (state) => arms.includes(`${state.drafter}-${state.gamma}-${state.temperature}`);

  const asked = model.get("state");
  const chosen = Object.fromEntries(
    Object.keys(names).map((key) => [key, names[key].find((x) => x === String(asked[key])) ?? start[key]]),
  );
  const said = h("div", { class: "sdl-note", role: "status" }),
    prompt = h("p", {}),
    shown = div();
  const labels = { text: "text", drafter: "drafter", gamma: "γ, drafts a round", temperature: "temperature" };
  const menus = Object.fromEntries(
    Object.keys(names).map((key) => [key, menu(labels[key], names[key], chosen[key], (value) => choose(key, value))]),
  );
  const ended = [],
    keyOf = () =>
      Object.keys(names)
        .map((name) => chosen[name])
        .join("-");

  /** One choice changed. EAGLE has every γ and both temperatures; the others what was recorded. */
  function choose(key, value) {
    chosen[key] = value;
    settle(key === "drafter" ? "" : "Only EAGLE was recorded with this: the drafter changed.");
    model.set("state", { ...chosen });
    model.save_changes();
    show();
  }

  function settle(otherwise) {
    said.textContent = "";
    if (recorded(chosen)) return;
    if (otherwise) chosen.drafter = "eagle";
    else Object.assign(chosen, { gamma: "4", temperature: "0" });
    said.textContent = otherwise || "This drafter was recorded with γ = 4 at temperature 0.";
  }

  /** In the table of all races: which one is shown. */
  function noteChoice() {
    const now = Object.entries(chosen);
    for (const link of document.querySelectorAll(".matrix a")) {
      const state = new URLSearchParams(link.hash.split("?")[1]);
      link.ariaCurrent = now.every(([key, value]) => state.get(key) === value) ? "true" : null;
    }
    const here = document.querySelector(".matrix [aria-current]"),
      box = here?.closest(".matrix");
    // into view, on a phone
    if (here) box.scrollLeft += here.getBoundingClientRect().right - box.getBoundingClientRect().right + 48;
  }

  async function show() {
    const key = keyOf();
    for (const name of Object.keys(names)) menus[name].refresh(chosen[name]);
    noteChoice();
    prompt.replaceChildren(h("b", {}, "The prompt: "), texts[chosen.text]);
    let explorer, race;
    try {
      [explorer, race] = await Promise.all([
        specdecLab.widget("explorer"),
        specdecLab.widget("race"),
        specdecLab.include(`gallery/${key}.js`),
      ]);
    } catch (wrong) {
      said.textContent = wrong.message;
      return;
    }
    if (key !== keyOf()) return; // another choice was made meanwhile
    const trace = { ...specdecLab.traces[key], marks, hardware: `${target}, ${hardware}`, id: "gallery" };
    const title = `${DRAFTERS[chosen.drafter]}, γ = ${chosen.gamma}, temperature ${chosen.temperature}`;
    while (ended.length) ended.pop()();
    shown.replaceChildren();
    for (const [{ render }, words] of [
      [explorer, `${target}, drafts by ${title}`],
      [race, `The race: plain decoding, and ${title}`],
    ])
      ended.push(render({ model: partOf(model, key, { ...trace, title: words }), el: shown }));
    shown.append(div("sdl-note", `${trace.summary} A drafter may offer fewer than γ drafts, or none.`));
  }

  settle("Only EAGLE was recorded with this: the drafter changed.");
  model.set("state", { ...asked, ...chosen });
  el.append(card("Gallery", "sdl-gallery", div("sdl-nav", ...Object.values(menus)), said, prompt, shown));
  await show();
  return () => ended.forEach((end) => end());
}

export default { render };
