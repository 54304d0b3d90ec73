// Links that hold a state: page.html#explorer-1?round=3&token=2 opens the page's first Round Explorer there.

specdecLab.links = (() => {
  /** What the address asks for: a widget by its name, and its state as words; nothing where it holds none. */
  function asked() {
    const [, id, words] = location.hash.match(/^#([\w-]+)\?(.*)$/) ?? [];
    return { id, state: Object.fromEntries(new URLSearchParams(words)) };
  }

  /** Widgets are named by their kind, and counted. */
  function name(places) {
    const counts = {};
    for (const place of places) {
      const kind = place.dataset.script;
      counts[kind] = (counts[kind] ?? 0) + 1;
      place.id = `${kind}-${counts[kind]}`;
    }
  }

  const leadsTo = (place) => asked().id === place.id;

  /** Into a widget's model, before it is drawn: the state that the address asks for. */
  function bring(place, model) {
    if (leadsTo(place) && !model.get("data").ledger) model.set("state", asked().state); // what was answered is no link's affair
  }

  const linkTo = (place, model) => `#${place.id}?${new URLSearchParams(model.get("state"))}`;

  /**
   * Below a widget, once it is drawn: a button that copies the link to its state; and if the address led
   * here, go there.
   */
  function offer(place, model) {
    if (model.get("data").ledger) return;
    const said = document.createElement("span"),
      button = document.createElement("button");
    said.setAttribute("role", "status");
    button.type = "button";
    button.textContent = "link";
    button.title = "copy a link to this state";
    button.setAttribute("aria-label", button.title);
    button.addEventListener("click", async () => {
      history.replaceState(null, "", linkTo(place, model));
      try {
        await navigator.clipboard.writeText(location.href);
        said.textContent = "Copied.";
        setTimeout(() => {
          said.textContent = "";
        }, 2000);
      } catch {
        said.textContent = "It stands in the address bar: copy it from there.";
      }
    });
    place.querySelector(":scope > .link")?.remove();
    const line = document.createElement("div");
    line.className = "link";
    line.append(button, said);
    place.append(line);
    if (!leadsTo(place)) return;
    const state = model.get("state");
    const lost = Object.entries(asked().state)
      .filter(([key, word]) => String(state[key]) !== word)
      .map((pair) => pair.join("="));
    if (lost.length)
      said.textContent = `This link asks for ${lost.join(", ")}, which is not here: you see the nearest.`;
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
    place.scrollIntoView();
  }

  return { name, leadsTo, bring, offer };
})();
