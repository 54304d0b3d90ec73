// Makes the widgets of a page live. progress.js, before it, keeps what the reader did.

(() => {
  const up = document.body.dataset.up,
    { node, focusOn, button, dataOf } = specdecLab;

  /** Runs a script of this site, once. From the disk, a browser reads files in no other way. */
  const loading = {};
  function include(path) {
    loading[path] ||= new Promise((done, failed) => {
      const onerror = () => failed(new Error(`${path} could not be loaded: is the site's folder complete?`));
      document.head.append(node("script", { src: `${up}${path}`, onload: done, onerror }));
    });
    return loading[path];
  }

  /** The styles of widgets stand before those of the page, which change some. The first page comes without them. */
  function styled() {
    const path = `${up}widgets/shared.css`;
    if (document.querySelector(`link[href="${path}"]`)) return loading[path];
    const link = node("link", { rel: "stylesheet", href: path });
    loading[path] = new Promise((done) => (link.onload = link.onerror = done));
    document.querySelector("link[rel=stylesheet]").before(link);
    return loading[path];
  }

  /** A widget of this site, by name. */
  async function widget(name) {
    await styled();
    await include("widgets/shared.js");
    await include(`widgets/${name}.js`);
    return specdecLab[name];
  }
  Object.assign(specdecLab, { include, widget });

  const places = [...document.querySelectorAll(".live")];

  /** Make a widget live; again, when a link with another state was followed. */
  async function show(place) {
    const data = dataOf(place);
    const { render } = await widget(place.dataset.script);
    const model = specdecLab.modelOf(data);
    specdecLab.links.bring(place, model);
    place.ended?.();
    place.querySelector(":scope > .sdl-explorer")?.remove();
    place.ended = await render({ model, el: place });
    specdecLab.links.offer(place, model);
  }
  specdecLab.links.name(places);
  /** On the first page a field stands there before its script, which comes when somebody enters it. */
  function waits(place, stub) {
    const [typed, go] = stub.querySelectorAll("textarea, button");
    let coming = null;
    async function come() {
      await show(place);
      const field = place.querySelector(":scope > :not(.stub) textarea");
      if (!field) return stub.remove(); // this browser cannot run it
      field.value = typed.value;
      field.dispatchEvent(new Event("input"));
      if (document.activeElement === typed) field.focus();
      field.setSelectionRange(typed.selectionStart, typed.selectionEnd);
      stub.remove();
    }
    stub.addEventListener("focusin", () => (coming ||= come()));
    go.addEventListener("click", async () => {
      await (coming ||= come());
      place.querySelector(".sdl-main")?.click();
    });
  }
  for (const place of places) {
    const stub = place.querySelector(":scope > .stub");
    if (stub && !specdecLab.links.leadsTo(place)) waits(place, stub);
    else {
      stub?.remove();
      show(place);
    }
  }

  /**
   * Stored results would give a guess away, and so would the text behind its outcome. They wait until the
   * guess is kept, or until the reader would rather see them: results from the guess on, and all that follows
   * the outcome in its section.
   */
  const idOf = (place) => dataOf(place).ledger.ids[0];
  const blocks = [...document.querySelector("main").children];
  // Widgets to play with stay.
  const stays = (block) => block.matches("h2, footer, .tries") || block.querySelector(".live:not(.tells)");
  const held = []; // {ids, blocks, gate: what stands in front of them}
  for (const guess of document.querySelectorAll('.live[data-script="guess"]')) {
    const id = idOf(guess),
      from = blocks.indexOf(guess.closest(".result"));
    const to = blocks.findIndex(
      (b, i) => i > from && [...b.querySelectorAll('.live[data-script="outcome"]')].some((o) => idOf(o) === id),
    );
    const end = blocks.findIndex((b, i) => i > to && b.tagName === "H2");
    const between = blocks
      .slice(from + 1, end < 0 ? blocks.length : end)
      .filter(
        (b, i) =>
          !stays(b) &&
          !(b.matches(".fold") && stays(b.nextElementSibling)) &&
          (from + 1 + i >= to || b.matches(".result, .out, .fold")),
      );
    const same = held.find((one) => one.blocks[0] === between[0]);
    if (same) {
      same.ids.push(id);
      same.guesses.push(guess);
      same.blocks = [...new Set([...same.blocks, ...between])];
    } else if (between.length) held.push({ ids: [id], guesses: [guess], blocks: between, open: false });
  }
  /** A guess that the reader does not want to make: one line, which opens. */
  function skip(place) {
    if (specdecLab.read().claims[idOf(place)]?.guess) return;
    const folded = node("details", { className: "skipped" }, node("summary", {}, "Guess skipped. Guess after all?"));
    place.before(folded);
    folded.append(place);
  }
  /** Below a guess that is kept: the way to what came of it. */
  function footOf(guess, blocks) {
    const id = idOf(guess),
      outcome = [...document.querySelectorAll('.live[data-script="outcome"]')].find((o) => idOf(o) === id);
    const race = blocks.map((block) => block.querySelector('[data-script="race"]')).find(Boolean),
      to = race ?? outcome; // it is watched before it is told
    const go = button(`${race ? "Watch the race" : "What came of it"} ↓`, () => {
      const play = race?.querySelector(".sdl-play");
      if (play?.textContent.includes("play")) play.click(); // it scrolls there, too
      focusOn(to);
      to.scrollIntoView({
        block: race ? "start" : "center",
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
    });
    const foot = node("div", { className: "came" }, go);
    guess.closest(".result").after(foot);
    return foot;
  }
  const LOCK =
    '<svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor">' +
    '<path d="M5 7V4.5a3 3 0 0 1 6 0V7M3 7h10v7H3z" stroke-width="1.5"/></svg>';
  /** What waits there: the titles of tables, charts and races, which tell no result. */
  const titlesIn = (block) =>
    [...block.querySelectorAll(':scope > div > b:first-child, svg > title, .live[data-script="race"] > script')].map(
      (e) => (e.matches("script") ? JSON.parse(e.textContent).title : e.textContent),
    );
  for (const one of held) {
    const head = node("h3"),
      { size } = new Set(one.blocks.flatMap(titlesIn)),
      results = size ? `${size} result${size > 1 ? "s" : ""}, ` : "";
    head.innerHTML = `${LOCK} Locked until ${one.ids.length > 1 ? "both guesses are" : "your guess is"} kept`;
    const without = button("show the results without a guess", () => {
      one.open = true;
      const was = gate.getBoundingClientRect().top;
      for (const place of one.guesses) skip(place);
      release();
      focusOn(one.blocks[0]); // where the button was
      scrollBy(0, one.blocks[0].getBoundingClientRect().top - was); // a guess above it has folded
    });
    const gate = node(
      "div",
      { className: "gate", role: "group", ariaLabel: "Results that wait for a guess" },
      head,
      node("p", {}, `Behind it: ${results}your guess beside the measurement, and why.`),
      without,
    );
    one.blocks[0].before(gate);
    one.gate = gate;
    one.foot = footOf(one.guesses.at(-1), one.blocks); // all of them are kept then
  }
  /** What stands behind a race waits for its end, unless one would rather not see it. */
  for (const one of held) {
    one.race = one.blocks.find((block) => block.querySelector('[data-script="race"]'));
    if (!one.race) continue;
    const end = () => {
      one.raced = true;
      release();
    };
    const words = "What came of your guesses stands here after the race. ";
    one.wait = node("p", { className: "came" }, words, button("show it now", end));
    one.race.after(one.wait);
    one.race.addEventListener("raced", end, { once: true });
  }
  function release() {
    const { claims } = specdecLab.read();
    for (const one of held) {
      const open = one.open || one.ids.every((id) => claims[id]?.guess),
        late = one.race && !one.raced && !one.open;
      one.gate.hidden = open;
      if (one.race) one.wait.hidden = !open || !late;
      one.foot.hidden = !open || !claims[one.ids.at(-1)]?.guess;
      for (const [i, block] of one.blocks.entries()) block.hidden = !open || (late && i > one.blocks.indexOf(one.race));
    }
  }
  /** What the text asks for “before you look on” waits for a press. */
  for (const asks of document.querySelectorAll("main > p")) {
    if (!asks.textContent.includes("before you look")) continue;
    const answer = [];
    for (
      let next = asks.nextElementSibling;
      next?.matches(answer.length ? ".fold, .out, .result, p" : ".fold, .out, .result");
      next = next.nextElementSibling
    )
      if (!next.matches(".fold")) answer.push(next); // and what the text says of it
    if (!answer.length) continue;
    const look = button("look", () => {
      for (const block of answer) block.hidden = false;
      focusOn(answer[0]);
      look.remove();
    });
    look.className = "look";
    for (const block of answer) block.hidden = true;
    asks.after(look);
  }
  document.addEventListener("ledger", release);
  release();

  addEventListener("hashchange", () => places.filter(specdecLab.links.leadsTo).forEach(show));

  /**
   * A word of the glossary: its card, in place. With a mouse or by keyboard it comes by itself, and at a
   * press; it leads on to the glossary.
   */
  const card = node("div", { className: "word", hidden: true, role: "status" }),
    hovers = matchMedia("(hover: hover)").matches;
  document.querySelector("main").append(card);
  let wait = null;
  async function explain(link) {
    await include("glossary.js");
    const text = specdecLab.glossary[decodeURIComponent(link.hash.slice(1))];
    if (!text) return;
    const more = link.cloneNode();
    more.textContent = "the glossary →";
    card.innerHTML = text;
    card.append(more);
    card.hidden = false;
    const at = link.getBoundingClientRect(),
      box = card.parentElement.getBoundingClientRect();
    const above = at.bottom + card.offsetHeight > innerHeight && at.top > card.offsetHeight + 60;
    card.classList.toggle("above", above);
    card.style.top = `${above ? at.top - box.top - 4 : at.bottom - box.top + 4}px`;
    card.style.left = `${Math.max(0, Math.min(at.left - box.left, box.width - card.offsetWidth))}px`;
  }
  const hide = () => {
    clearTimeout(wait);
    wait = setTimeout(() => (card.hidden = true), 250);
  };
  for (const link of document.querySelectorAll('main a[href*="glossary.html#"]')) {
    const show = () => {
      clearTimeout(wait);
      wait = setTimeout(() => explain(link), 200);
    };
    if (hovers) Object.assign(link, { onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide });
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab, as asked
      event.preventDefault();
      explain(link);
    });
  }
  card.addEventListener("pointerenter", () => clearTimeout(wait));
  card.addEventListener("pointerleave", hide);
  addEventListener("keydown", ({ key }) => key === "Escape" && (card.hidden = true));
  addEventListener("click", ({ target }) => {
    if (!card.contains(target) && !target.closest('a[href*="glossary.html#"]')) card.hidden = true;
  });

  /** On a phone the contents are hidden; the button shows them from wherever one is, and leads back. */
  const menu = document.querySelector("nav"),
    opener = document.getElementById("menu"),
    theme = document.getElementById("theme");
  const phone = matchMedia("(max-width: 480px)").matches;
  if (phone) {
    // its head line has no room for them
    const tools = [document.querySelector(".find"), document.getElementById("code"), theme];
    theme.textContent = "◐ dark or light";
    menu.prepend(node("div", { className: "tools" }, ...tools));
  }
  /** Pages, sections and words of the glossary by name; Enter goes to the first one. */
  const searching = document.querySelector(".find"),
    find = document.getElementById("find"),
    found = document.getElementById("found");
  find.addEventListener("input", async () => {
    await include("find.js");
    const asked = find.value.trim(),
      hits = asked ? specdecLab.search(asked) : [];
    found.hidden = !asked;
    progress.open = false;
    if (menu.contains(searching)) {
      // on a phone it stands in there
      for (const part of menu.children) part.hidden = asked && !part.matches(".tools");
      menu.scrollTop = 0;
    }
    found.replaceChildren(
      ...hits.map(([name, inside, to, meant]) => {
        const says = meant.flatMap((word, i) => [i ? ", " : `${inside ? ": " : ""}says `, node("b", {}, word)]);
        return node("li", {}, node("a", { href: `${up}${to}` }, name, node("small", {}, inside, ...says)));
      }),
    );
    const all = node("a", { href: `${up}lessons/glossary.html` }, "The glossary lists all words →");
    if (!hits.length) found.append(node("li", {}, "Nothing found. ", all));
  });
  find.addEventListener("keydown", ({ key }) => key === "Enter" && found.querySelector("a")?.click());
  searching.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    find.value = "";
    find.dispatchEvent(new Event("input"));
    find.focus();
  });
  addEventListener("click", ({ target }) => {
    if (!searching.contains(target)) found.hidden = true;
  });
  const here = menu.querySelector("a[aria-current=page]");
  function showMenu(open) {
    menu.hidden = !open;
    if (here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2; // what stands high enough needs none
    menu.style.top = `${document.querySelector("header").offsetHeight}px`;
    opener.setAttribute("aria-expanded", String(open));
    opener.firstChild.data = open ? "✕" : "☰";
  }
  opener.addEventListener("click", () => {
    showMenu(menu.hidden);
    if (!menu.hidden) (here ?? menu.querySelector("a")).focus({ preventScroll: true });
  });
  menu.addEventListener("click", ({ target }) => {
    if (target.closest(".sections a") && opener.checkVisibility()) showMenu(false);
  });
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || menu.hidden || !menu.contains(document.activeElement) || !opener.checkVisibility()) return;
    opener.focus();
    opener.click();
  });
  const small = matchMedia("(max-width: 860px)");
  small.addEventListener("change", () => showMenu(!small.matches));
  showMenu(!small.matches);

  /** Where am I: the section that stands highest in the window. */
  const links = [...document.querySelectorAll("nav .sections a")];
  const heads = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  function follow() {
    const at = heads.findLastIndex((head) => head && head.getBoundingClientRect().top < innerHeight / 3);
    for (const [i, link] of links.entries()) link.ariaCurrent = i === at ? "true" : null;
  }
  addEventListener("scroll", follow, { passive: true });
  follow();

  /** All code of the page, or none of what is folded; it stays so on the next page. */
  const codes = [...document.querySelectorAll("details.fold")],
    code = document.getElementById("code");
  code.hidden = !codes.length;
  function unfold(all) {
    for (const fold of codes) fold.open = all;
    code.setAttribute("aria-pressed", String(all));
    code.textContent = all ? "hide code" : "show code";
  }
  code.addEventListener("click", () => {
    const all = code.getAttribute("aria-pressed") !== "true";
    specdecLab.save("specdec-lab code", all);
    unfold(all);
  });
  if (specdecLab.load("specdec-lab code")) unfold(true);

  /** The progress closes by Esc, and by a press elsewhere. */
  const progress = document.querySelector("details.progress");
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !progress.open) return;
    progress.open = false;
    progress.querySelector("summary").focus();
  });
  progress.addEventListener("toggle", () => progress.open && (found.hidden = true));
  addEventListener("click", ({ target }) => {
    if (!progress.contains(target)) progress.open = false;
  });

  const narrow = matchMedia("(max-width: 600px)").matches;

  /**
   * A line chart says its numbers where it is pointed at: those of the nearest point, and of the other curves
   * there.
   */
  function reading(box, { lines, x }) {
    const svg = box.querySelector("svg"),
      curves = [...svg.querySelectorAll("path[stroke-linejoin]")];
    const pairs = (curve) => curve.getAttribute("d").match(/[\d.]+ [\d.]+/g);
    const places = curves.map((curve) => pairs(curve).map((pair) => pair.split(" ").map(Number)));
    const marks = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "g"));
    const said = box.appendChild(node("div", { className: "reading", hidden: true }));
    const clear = () => {
      marks.replaceChildren();
      said.hidden = true;
    };
    const at = ({ clientX, clientY }) => {
      const { left, top, width } = svg.getBoundingClientRect(),
        scale = svg.viewBox.baseVal.width / width;
      const [across, down] = [(clientX - left) * scale, (clientY - top) * scale];
      // one points at a place more than at a height
      const far = ([a, b]) => (a - across) ** 2 + (b - down) ** 2 / 9;
      const [near] = places.flat().sort((a, b) => far(a) - far(b));
      const rows = lines
        .flatMap(({ name, points }, i) => {
          const j = places[i].findIndex(([a]) => Math.abs(a - near[0]) < 0.2);
          return j < 0 ? [] : [{ name, point: points[j], place: places[i][j], look: curves[i].cloneNode() }];
        })
        .sort((a, b) => b.point[1] - a.point[1]);
      const ring = ({ place: [a, b] }) =>
        `<circle cx="${a}" cy="${b}" r="6" fill="none" stroke="currentColor" stroke-width="2"/>`;
      const line = `M${near[0]} 48V${svg.viewBox.baseVal.height - 44}`;
      marks.innerHTML = `<path d="${line}" stroke="currentColor" opacity=".4"/>${rows.map(ring).join("")}`;
      said.replaceChildren(
        node("b", {}, `${x}: ${Number(rows[0].point[0].toPrecision(4))}`),
        ...rows.map(({ name, point: [, y], look }) => {
          const row = node("span");
          look.setAttribute("d", "M0 5H24");
          row.innerHTML = `<svg width="24" height="10" aria-hidden="true">${look.outerHTML}</svg>`;
          row.append(node("i", {}, String(Number(y.toPrecision(3)))));
          row.append(name);
          return row;
        }),
      );
      said.hidden = false;
      const start = left - box.getBoundingClientRect().left,
        middle = near[0] / scale;
      if (narrow)
        // over the key, not over the curves
        said.style.top = `${svg.getBoundingClientRect().bottom - box.getBoundingClientRect().top}px`;
      else {
        const beside = middle < width / 2 ? middle + 14 : Math.max(0, middle - 14 - said.offsetWidth);
        said.style.left = `${start + beside}px`;
      }
    };
    svg.addEventListener("pointermove", at);
    svg.addEventListener("pointerdown", at);
    svg.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && clear());
    addEventListener("pointerdown", ({ target }) => svg.contains(target) || clear());
  }

  /** Where the window is narrow a line chart is drawn anew, upright, so that its words can be read. */
  for (const data of document.querySelectorAll("script.upright")) {
    const box = data.parentElement,
      about = JSON.parse(data.textContent),
      { title, lines, x, y, doubling } = about;
    if (!narrow) reading(box, about);
    else
      include("widgets/shared.js").then(() => {
        box.replaceChildren(drawn(chart(title, lines, x, y, { doubling })));
        reading(box, about);
      });
  }

  /** A line that the reader would write: buttons for those that were tried, each with its recorded results. */
  for (const box of document.querySelectorAll(".tries")) {
    const panels = [...box.children],
      buttons = panels.map(({ dataset }, i) => button(node("code", {}, dataset.line), () => press(i)));
    function press(at) {
      for (const [i, panel] of panels.entries()) {
        panel.hidden = i !== at;
        buttons[i].setAttribute("aria-pressed", String(i === at));
      }
    }
    box.prepend(node("div", { className: "lines", role: "group", ariaLabel: "Your line" }, "Your line: ", ...buttons));
    press(0);
  }

  /** Answers in one's own words, which nobody judges. */
  for (const field of document.querySelectorAll("textarea.words")) {
    field.value = specdecLab.load("specdec-lab words")?.[field.name] ?? "";
    field.addEventListener("input", () =>
      specdecLab.save("specdec-lab words", { ...specdecLab.load("specdec-lab words"), [field.name]: field.value }),
    );
  }

  /** On a phone the rows of a table that is too wide stand below each other; a cell names its column. */
  function stack(table) {
    if (!table) return false;
    const box = table.parentElement;
    if (box.matches(".stacked")) return false;
    box.classList.add("tight");
    const names = Math.max(...[...table.querySelectorAll("[scope=row]")].map((name) => name.offsetHeight));
    if (box.scrollWidth <= box.clientWidth && names < 70) return true; // a long name gets a line of its own
    const [heads, ...rows] = table.rows;
    for (const { cells } of rows) {
      for (const [i, cell] of [...cells].entries()) if (i) cell.dataset.head = heads.cells[i]?.textContent ?? "";
      const words = [...cells].map(({ firstChild }) => firstChild).filter((first) => first?.data);
      // an interval stays in one line
      for (const text of words) text.data = text.data.replaceAll("–", "\u2060–\u2060");
    }
    box.classList.replace("tight", "stacked");
    return true;
  }

  /** What is too wide for its place scrolls sideways: by keyboard, too. */
  const edge = (box) => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  const scrolls = new ResizeObserver((changes) => {
    for (const { target: box } of changes) {
      const wide = box.scrollWidth > box.clientWidth;
      edge(box);
      box.onscroll = () => edge(box);
      if (wide && narrow && stack(box.querySelector(":scope > table"))) continue;
      if (wide) Object.assign(box, { tabIndex: 0, role: "group", ariaLabel: "scrolls sideways" });
      else for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  });
  document.fonts.ready.then(() => {
    for (const box of document.querySelectorAll("main pre, main div, main blockquote")) {
      if (!box.closest(".live") && getComputedStyle(box).overflowX === "auto") scrolls.observe(box);
    }
  });

  /** On a phone a long result begins folded: its first part, and a button for the rest. */
  const LONG = 1000; // CSS pixels
  document.fonts.ready.then(() => {
    if (!narrow) return;
    for (const result of document.querySelectorAll("main > .result:not(:has(.live))")) {
      const folds = new ResizeObserver(() => {
        if (result.offsetHeight < LONG) return;
        folds.disconnect();
        const open = () => {
          result.classList.remove("long");
          all.remove(); // the next Tab goes on from its place
        };
        const all = button("show the rest ↓", open);
        all.className = "rest";
        result.classList.add("long");
        result.after(all);
        result.addEventListener("focusin", open);
      });
      folds.observe(result);
    }
  });

  theme.addEventListener("click", () => {
    const { dataset } = document.documentElement,
      now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    dataset.theme = now === "dark" ? "light" : "dark";
    specdecLab.save("specdec-lab theme", dataset.theme);
  });
})();
