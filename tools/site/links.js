// Links that hold a state: page.html#explorer-1?round=3&token=2 opens the page's first Round Explorer there.

specdecLab.links = (() => {
  const { node, focusOn } = specdecLab;

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
    const answers = model.get("data").ledger; // which are no link's affair
    if (leadsTo(place) && !answers) model.set("state", asked().state);
  }

  const linkTo = (place, model) => `#${place.id}?${new URLSearchParams(model.get("state"))}`;

  /**
   * Below a widget, once it is drawn: a button that copies the link to its state; and if the address led
   * here, go there.
   */
  function offer(place, model) {
    if (model.get("data").ledger) return;
    const said = node("span", { role: "status" }),
      title = "copy a link to this state";
    async function copy() {
      history.replaceState(null, "", linkTo(place, model));
      try {
        await navigator.clipboard.writeText(location.href);
        said.textContent = "Copied.";
        setTimeout(() => (said.textContent = ""), 2000);
      } catch {
        said.textContent = "It stands in the address bar: copy it from there.";
      }
    }
    const button = node("button", { type: "button", title, ariaLabel: title, onclick: copy }, "link");
    place.querySelector(":scope > .link")?.remove();
    place.append(node("div", { className: "link" }, button, said));
    if (!leadsTo(place)) return;
    focusOn(place);
    place.scrollIntoView();
  }

  return { name, leadsTo, bring, offer };
})();
