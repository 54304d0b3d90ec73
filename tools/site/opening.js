// Plays the race of the first page on the elements that stand there at its end.

(() => {
  const box = document.querySelector(".opening");
  const SECONDS = 9; // that it takes here, however long it took
  const lanes = [...box.querySelectorAll(".lane")].map((lane) => {
    const [passes, time] = lane.querySelectorAll("i");
    const pieces = [...lane.querySelectorAll(".said span")].map((span) => ({ span, to: Number(span.dataset.to), tokens: Number(span.dataset.tokens) }));
    return { tokens: lane.querySelector("b"), passes, time, pieces };
  });
  const end = Math.max(...lanes.map(({ pieces }) => pieces.at(-1).to));
  const button = box.querySelector("button"), won = box.querySelector(".won"), result = won.innerHTML;
  let since = null;

  function draw(now) {
    for (const { tokens, passes, time, pieces } of lanes) {
      const done = pieces.filter(({ to }) => to <= now + 1e-4);
      for (const { span, to } of pieces) span.classList.toggle("later", to > now + 1e-4);
      tokens.textContent = done.reduce((sum, piece) => sum + piece.tokens, 0);
      passes.textContent = done.length;
      time.textContent = (1000 * Math.min(now, pieces.at(-1).to)).toFixed(0);
    }
    if (now >= end) won.innerHTML = result;
    else won.textContent = `So far ${lanes.map(({ tokens }) => tokens.textContent).join(" tokens, plainly ")}.`;
  }

  function frame(at) {
    if (since === null) return;
    const now = Math.min(end, ((at - since) / 1000 / SECONDS) * end);
    draw(now);
    if (now < end) requestAnimationFrame(frame);
    else stop();
  }

  function start() {
    since = performance.now();
    button.textContent = "❚❚ stop";
    draw(0); // at once: the end that stood there would flash
    requestAnimationFrame(frame);
  }

  function stop() {
    since = null;
    draw(end);
    button.textContent = "▶ again";
  }

  button.addEventListener("click", () => (since === null ? start() : stop()));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) start();
})();
