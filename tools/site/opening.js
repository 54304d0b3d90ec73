// Recorded races in the box of the first page: the one that stands there at its end, and others of the gallery.
// machine.js and lanes.js stand in front of it.

(() => {
  const box = document.querySelector(".opening"),
    race = raceIn(box),
    { lanes, won, button } = race,
    result = won.innerHTML;
  const GUESSES = [1.5, 2, 3, 4]; // times as fast
  let said = null,
    easy = true; // the text that was chosen for this page
  lanes.forEach(({ said: text }, i) => {
    const stored = [...text.children];
    text.replaceChildren();
    for (const { dataset, textContent } of stored) race.add(i, { ...JSON.parse(dataset.pass), said: textContent });
  });

  /** The question, until it is answered: the result waits for it. */
  function ask() {
    const choices = GUESSES.map((x) => `<button type="button" aria-pressed="false">${x}×</button>`).join(" ");
    won.innerHTML = `<span><i>How many times as fast with drafts?</i> ${choices}</span>`;
    const buttons = [...won.querySelectorAll("button")];
    said = null;
    buttons.forEach((one, i) =>
      one.addEventListener("click", () => {
        if (!box.matches(".resting")) return;
        said = GUESSES[i];
        race.play();
        for (const other of buttons) other.ariaPressed = String(other === one);
        won.querySelector("i").textContent = `You said ${said}×. Now watch:`;
      }),
    );
    race.wait();
  }

  /** The result, and whether the guess was the nearest one. */
  function tell() {
    const [plain, drafts] = race.ends(),
      off = (x) => Math.abs(x - plain / drafts);
    const here = won.contains(document.activeElement);
    won.innerHTML = result;
    if (here) won.querySelector("a").focus({ preventScroll: true }); // the button that was pressed is gone
    won.querySelector("b").textContent = `${(plain / drafts).toFixed(1)}×`;
    won.querySelector("strong").textContent = `as fast on this ${easy ? "easy " : ""}text:`;
    won.querySelectorAll(".n").forEach((count, i) => {
      count.textContent = lanes[1 - i].pieces.length;
    });
    const usual = Number(won.querySelector("[data-usual]").dataset.usual),
      common = GUESSES.every((x) => Math.abs(said - usual) <= Math.abs(x - usual));
    if (!said) return;
    const right = GUESSES.every((x) => off(said) <= off(x));
    if (common && !right) won.querySelector("[data-usual]").append(`, and your ${said}× is near that`);
    else
      won
        .querySelector(".usual")
        .prepend(
          right ? `You said ${said}× ✓. ` : `You said ${said}×: too ${said < plain / drafts ? "low" : "high"}. `,
        );
  }

  function during(now) {
    const [plain, drafts] = lanes;
    if (said && now > 0 && drafts.pieces.at(-1).to <= now)
      won.querySelector("i").textContent =
        `Drafts: done. Plain decoding: token ${plain.tokens.textContent} of ${plain.pieces.length}.`;
  }

  const acts = { again: ask, tell, during };
  race.act(acts);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) ask();
  else race.draw();

  /** Another text of the gallery, where no sentence can be typed. */
  box.querySelector(".choose select").addEventListener("change", async ({ target }) => {
    const [text, name] = [target.selectedOptions[0].textContent, `${target.value}-hybrid-4-0`];
    await specdecLab.include(`gallery/${name}.js`);
    const { rounds, seconds, plain } = specdecLab.traces[name];
    easy = false;
    race.act(acts);
    race.empty(text, "several checked per pass", 2);
    const both = [[plain.tokens.map((text) => ({ drafted: [], emitted: { text, kind: "plain" } })), plain.seconds]];
    for (const [i, [all, times]] of [...both, [rounds, seconds]].entries()) {
      let at = 0;
      all.forEach((round, n) => race.add(i, passOf(round, (at += times[n]))));
    }
    ask();
    race.bring(won, "center");
  });
})();
