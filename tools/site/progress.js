// What a reader did on this site: kept in this browser, saved to a file and read from one.
// Guesses and answers have the form of the notebooks' ledger (specdec_lab/course/ledger.py), and so has the
// file.

(() => {
  const KEY = "specdec-lab ledger",
    SHOWN = "specdec-lab measured",
    empty = () => ({ schema: 1, claims: {}, quiz: {} });
  const memory = {}; // for as long as the page is open, where the browser keeps nothing

  function load(key) {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? memory[key] ?? null;
    } catch {
      return memory[key] ?? null;
    }
  }

  /** Whether the browser keeps it longer than this page. */
  function save(key, value) {
    memory[key] = value;
    try {
      localStorage.setItem(key, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  }

  const keeps = save("specdec-lab", 1);
  const news = keeps ? "" : "This browser keeps nothing for this page: save your progress to a file before you leave.";
  const models = []; // of the widgets of this page that show a piece of the ledger

  const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);
  const isLedger = (data) =>
    isObject(data) &&
    data.schema === 1 &&
    isObject(data.claims) &&
    isObject(data.quiz) &&
    Object.values(data.claims).every(
      (claim) =>
        isObject(claim) &&
        ["guess", "revision"].every((kind) => !(kind in claim) || Number.isFinite(claim[kind]?.value)),
    ) &&
    Object.values(data.quiz).every(
      (attempts) => Array.isArray(attempts) && attempts.every((a) => typeof a?.right === "boolean"),
    );

  function read() {
    const kept = load(KEY);
    return isLedger(kept) ? kept : empty();
  }

  const told = (entry) => JSON.stringify(Object.entries(entry).sort());

  /** What `mine` lacks of `theirs`, oldest first. */
  function joined(mine, theirs) {
    const known = new Set(mine.map(told));
    const when = (x) => Date.parse(x.when) || 0;
    return [...mine, ...theirs.filter((x) => !known.has(told(x)))].sort((a, b) => when(a) - when(b));
  }

  /**
   * Adds to `mine` what only `theirs` has; what is in both stays as it is. As `merge` in
   * specdec_lab/course/ledger.py.
   */
  function merge(mine, theirs) {
    for (const [id, claim] of Object.entries(theirs.claims)) {
      const measured = joined(mine.claims[id]?.measured ?? [], claim.measured ?? []);
      mine.claims[id] = { ...claim, ...mine.claims[id], ...(measured.length ? { measured } : {}) };
    }
    for (const [id, attempts] of Object.entries(theirs.quiz)) mine.quiz[id] = joined(mine.quiz[id] ?? [], attempts);
    if (theirs.parts) mine.parts = { ...theirs.parts, ...mine.parts };
    return mine;
  }

  /** Shows what is kept now, in all widgets of the page, and tells whoever listens. */
  function refresh() {
    for (const model of models) model.refresh();
    tell();
    document.dispatchEvent(new Event("ledger"));
  }

  function keep(ledger) {
    save(KEY, ledger);
    refresh();
  }

  /** What a widget takes for its model: the data of the page, and what is kept of the reader's. */
  function modelOf(data) {
    const listening = {};
    const own = { data, news, state: {}, outgoing: [], heard: [], revealed: [], guesses: {} };
    // another one when the lesson was executed anew: its rounds are others
    const key = `specdec-lab widget ${data.id}`;
    const piece = data.ledger;
    const fire = (name) => {
      for (const f of listening[name] ?? []) f();
    };
    const ofLedger = () => {
      const section = read()[piece.section];
      return Object.fromEntries(piece.ids.filter((id) => id in section).map((id) => [id, section[id]]));
    };
    if (piece) {
      own.state = ofLedger();
      // What a page says was measured is its own affair: the reader's ledger has what the reader measured.
      if (data.measured) save(SHOWN, { ...load(SHOWN), [piece.ids[0]]: data.measured.value });
      models.push({
        refresh: () => {
          own.state = ofLedger();
          fire("change:state");
        },
      });
    } else Object.assign(own, load(key), { data });
    return {
      get: (name) => own[name],
      set: (name, value) => {
        own[name] = value;
        fire(`change:${name}`);
      },
      save_changes() {
        if (piece) {
          const ledger = read();
          for (const { id, kind, value } of own.outgoing) {
            if (kind === "attempt") ledger.quiz[id] = joined(ledger.quiz[id] ?? [], [value]);
            else {
              const { question, unit } = data,
                claim = (ledger.claims[id] = { question, unit, ...ledger.claims[id] });
              if (kind === "assumed")
                claim.assumed = value; // it may be written anew
              else claim[kind] ??= { ...value, after_outcome: kind === "revision" || Boolean(claim.measured) };
            }
          }
          own.heard = own.outgoing.map(({ n }) => n);
          keep(ledger);
          fire("change:heard");
        } else {
          const { data, news, outgoing, heard, ...rest } = own;
          save(key, rest);
          tell(); // a round may have been played
        }
      },
      on: (name, f) => (listening[name] ??= []).push(f),
      off: (name, f) => (listening[name] = (listening[name] ?? []).filter((g) => g !== f)),
    };
  }

  /** An element: node("p", { className: "x", onclick: f }, child, "text", …). */
  const node = (tag, attributes = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  };

  const button = (words, onclick) => node("button", { type: "button", onclick }, words);

  /** The data of a widget's place. */
  const dataOf = (place) => JSON.parse(place.querySelector("script").textContent);

  /** The focus, for whoever goes on by keyboard; the page stays where it is. */
  function focusOn(place) {
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }

  // The control in the head of the page.

  const [next, counts, status] = ["p", "p", "p"].map((tag) => node(tag));
  status.setAttribute("role", "status");

  /**
   * How many rounds of this page were played: whose first miss was named, in an explorer or in the gallery's.
   */
  const playedIn = (link) =>
    (link.dataset.rounds?.split(" ") ?? [])
      .map((id) => load(`specdec-lab widget ${id}`))
      .flatMap((kept) => [kept, ...Object.values(kept?.seen ?? {})])
      .reduce((sum, kept) => sum + Object.keys(kept?.guesses ?? {}).length, 0);

  /** Links, those to one page once: the first page has two lists. */
  const once = (what) => [...new Map([...document.querySelectorAll(what)].map((link) => [link.href, link])).values()];

  /**
   * In the list of pages: ✓ where all that a page asks has been answered, how much of it where some has, or
   * that it is begun.
   */
  function tickOff({ claims, quiz }) {
    for (const link of document.querySelectorAll("[data-ids]")) {
      const ids = link.dataset.ids.split(" "),
        done = ids.filter((id) => claims[id]?.guess || quiz[id]?.length).length;
      const some = done && done < ids.length;
      link.title = some ? `${done} of ${ids.length} answered` : "";
      link.dataset.done = done === ids.length ? "✓" : done ? `${done}/${ids.length}` : playedIn(link) ? "begun" : "";
      link.dataset.part = done / ids.length;
    }
  }

  /** What was measured: by the reader last, or as a page that was visited has it. */
  const found = (id, measured) => measured?.at(-1)?.value ?? load(SHOWN)?.[id];

  /** What the reader guessed, where a notebook shows its ledger. */
  function ownTable({ claims, quiz }) {
    const cells = (tag, words) => words.map((word) => node(tag, {}, word));
    const rows = Object.entries(claims)
      .filter(([, { guess }]) => guess)
      .sort()
      .map(([id, { question, unit, guess, revision, assumed, measured }]) =>
        node(
          "tr",
          {},
          ...cells("td", [
            question ?? id,
            `${guess.value} ${unit ?? ""}`,
            revision ? `${revision.value} ${unit ?? ""}` : "",
            found(id, measured) === undefined
              ? "not yet"
              : `${Number(found(id, measured).toPrecision(3))} ${unit ?? ""}`,
            assumed ?? "",
          ]),
        ),
      );
    if (!rows.length) return [node("p", {}, "No guess yet. Those that you keep on these pages will stand here.")];
    const heads = ["question", "your guess", "second guess", "measured", "what I had assumed"];
    return [
      node("div", { className: "wide" }, node("table", {}, node("tr", {}, ...cells("th", heads)), ...rows)),
      node("p", {}, counts.textContent),
    ];
  }

  /**
   * In the control: lessons that were begun, and what to do next; and on the first page the way back to it.
   */
  function lessons() {
    const all = once("section:first-of-type [data-minutes]").filter(
        (link) => link.dataset.ids && !link.pathname.includes("/exercises/"),
      ),
      begun = once("[data-ids]").filter((link) => link.dataset.done);
    const go = document.querySelector(".go"),
      to = once("[data-minutes]").find((link) => link.dataset.done !== "✓");
    const goesOn = begun.includes(to),
      way = to && `${to.href.split("#")[0]}${goesOn ? "#go-on" : ""}`; // an unread page begins at its top
    if (go && begun.length && to) {
      Object.assign(go, { href: way, textContent: `${goesOn ? "Go on" : "Next"}: ${to.textContent}` });
      document.querySelector(".hero .small")?.remove(); // of the first round, and it is done
    }
    // of a page that stands beside the lessons
    const on = document.querySelector('.turns [rel="next"][href$="#lessons"], .turns [data-on]');
    if (on && to) {
      Object.assign(on, { href: way }).dataset.on = "";
      on.querySelector("b").textContent = `${to.textContent} →`;
      on.querySelector("span").textContent =
        goesOn && to.title ? `You have begun it: ${to.title}.` : `${to.dataset.minutes} minutes`;
    }
    const done = all.filter((link) => link.dataset.done === "✓").length;
    const summary = document.querySelector(".progress summary"),
      open = all.filter((link) => !["", "✓"].includes(link.dataset.done)).length;
    if (all.length) {
      const more = (words) => node("span", { className: "more" }, words),
        begun = `${open} begun`;
      summary.replaceChildren(
        ...(done || !open
          ? [`${done} of ${all.length}`, more(" lessons done"), more(open ? ` · ${begun}` : "")]
          : [begun, more(` of ${all.length} lessons`)]),
      );
      summary.style.setProperty(
        "--part",
        `${(100 * all.reduce((sum, link) => sum + Number(link.dataset.part), 0)) / all.length}%`,
      );
      summary.ariaLabel = `your progress: ${done} of ${all.length} lessons done, ${open} begun`;
    }
    next.replaceChildren(node("b", {}, `${done} of ${all.length} lessons done.`));
    if (to)
      next.append(
        node("br"),
        goesOn ? "Go on with " : "Next: ",
        node("a", { href: way }, to.textContent),
        ` (${to.dataset.minutes} minutes${to.title && `, ${to.title}`})`,
      );
  }

  function tell() {
    tickOff(read());
    lessons();
    const { claims, quiz } = read(),
      asked = Object.values(quiz).filter((attempts) => attempts.length);
    const guesses = Object.values(claims).filter((claim) => claim.guess).length;
    const right = asked.filter(([first]) => first.right).length;
    const nothing = !guesses && !asked.length,
      here = (what) => (keeps ? `${what} kept in this browser alone.` : news),
      rounds = once("[data-rounds]").reduce((sum, link) => sum + playedIn(link), 0);
    counts.textContent =
      (rounds ? `${rounds} round${rounds > 1 ? "s" : ""} played. ` : "") +
      (nothing
        ? `No guess and no answer in the lessons yet. ${here("What you guess and answer is")}`
        : `Guesses: ${guesses}. Quiz questions answered: ${asked.length}, right at the first attempt: ${right}. ` +
          here("They are"));
    for (const place of document.querySelectorAll(".own")) place.replaceChildren(...ownTable(read()));
  }

  /**
   * For an address that ends in #go-on: to the first guess or question of this page that was not answered.
   */
  function goOn() {
    if (location.hash !== "#go-on") return;
    const { claims, quiz } = read(),
      open = (id) => !claims[id]?.guess && !quiz[id]?.length;
    const idsOf = (place) => dataOf(place).ledger.ids;
    const place = [...document.querySelectorAll('.live:is([data-script="guess"], [data-script="quiz"])')].find((p) =>
      idsOf(p).some(open),
    );
    if (!place) return;
    const to = () => {
      const item = place.querySelectorAll(".sdl-item")[idsOf(place).findIndex(open)] ?? place;
      item.style.scrollMarginTop = "96px"; // below the head of the page
      focusOn(item);
      item.scrollIntoView();
    };
    // Again while widgets above it are drawn, until the reader does something.
    const grows = new ResizeObserver(to),
      end = () => grows.disconnect();
    grows.observe(document.querySelector("main"));
    for (const act of ["wheel", "pointerdown", "keydown", "touchstart"])
      addEventListener(act, end, { once: true, passive: true });
    setTimeout(end, 2000);
  }

  function toFile() {
    const text = JSON.stringify(read(), null, 1);
    const link = node("a", {
      href: URL.createObjectURL(new Blob([text], { type: "application/json" })),
      download: "specdec-lab-progress.json",
    });
    link.click();
    URL.revokeObjectURL(link.href);
    status.textContent = "Saved to specdec-lab-progress.json.";
  }

  async function fromFile(input) {
    const [file] = input.files;
    if (!file) return;
    let data = null;
    try {
      data = JSON.parse(await file.text());
    } catch {
      /* said below */
    }
    input.value = "";
    if (isLedger(data)) {
      keep(merge(read(), data));
      status.textContent = `Read ${file.name}. What was here already has stayed as it was.`;
    } else
      status.textContent =
        data?.schema > 1
          ? `${file.name} is from a newer version of the course than this site.`
          : `${file.name} is no progress file: choose one saved here, or by “specdec-lab progress --export”.`;
  }

  function forget() {
    if (!confirm("Forget all rounds, guesses and answers that are kept in this browser?")) return;
    for (const { dataset } of document.querySelectorAll("[data-rounds]"))
      for (const id of dataset.rounds.split(" ")) save(`specdec-lab widget ${id}`, null);
    keep(empty());
    status.textContent = "Forgotten.";
  }

  const file = node("input", { type: "file", accept: ".json,application/json", onchange: () => fromFile(file) });
  const more = node("details", {}, node("summary", {}, "save, or read a file")),
    note = node("p", { className: "note" });
  note.innerHTML =
    "To take it into your notebooks: <code>specdec-lab progress --import FILE</code>. " +
    "The other way: <code>--export FILE</code>.";
  const both = node("p", {}, button("save to a file", toFile), " ", button("forget all", forget));
  more.append(both, node("label", {}, "read a file ", file), status, note);
  document.getElementById("progress").append(next, counts, more);
  tell();
  goOn();
  addEventListener("hashchange", goOn);
  addEventListener("storage", ({ key }) => key === KEY && refresh()); // another page, open beside this one

  Object.assign(specdecLab, { load, save, read, modelOf, node, focusOn, button, dataOf });
})();
