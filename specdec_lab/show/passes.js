// The Pass Explorer: what one pass over k tokens has to read and to compute, and which of the two takes
// longer.

const TURN = 1500; // ms that a pass over one token takes here

function render(context) {
  const { title, reading, computing, bytes, layers, most, start } = context.model.get("data");
  const drawing = machine(layers, `${layers} layers, ${bytes}`),
    calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const rows = { reading: h("i"), computing: h("i") },
    times = { reading: span(), computing: span() };
  const said = h("p", { class: "sdl-words" }),
    run = calm ? [] : [h("button", { class: "sdl-main", onclick: () => go() }, "▶ run a pass")];
  /** The scale ends on a round number behind the longer job, so that both can be compared. */
  const endOf = (seconds) =>
    [1e-4, 1e-3, 0.01, 0.1, 1, 10]
      .flatMap((power) => [1, 2, 5].map((digit) => digit * power))
      .find((s) => s >= seconds) ?? seconds;
  const ms = (seconds) => `${Number((1e3 * seconds).toPrecision(3))} ms`;
  const timesOf = (x) => `${x < 9.95 ? x.toFixed(2) : x.toFixed(0)} times`;
  const tokensOf = (n) => (n === 1 ? "1 token" : `${n} tokens`);
  let k = 1,
    begun = null;

  /** Both jobs begin together, and the pass ends with the longer one. */
  function show(now) {
    const both = { reading, computing: computing * k },
      end = Math.max(...Object.values(both)),
      full = endOf(end);
    drawing.draw(Math.min(1, now / end), Array(k).fill(["", ""]), tokensOf(k));
    for (const [job, seconds] of Object.entries(both)) {
      rows[job].style.width = `${(100 * Math.min(now, seconds)) / full}%`;
      rows[job].parentElement?.style.setProperty("--whole", `${(100 * seconds) / full}%`);
      times[job].textContent = ms(Math.min(now, seconds));
    }
  }

  function go() {
    const end = Math.max(reading, computing * k),
      first = Math.max(reading, computing);
    const mine = (begun = performance.now());
    const tick = () => {
      if (begun !== mine || !context.el.isConnected) return;
      const now = ((performance.now() - begun) / TURN) * first;
      show(Math.min(now, end));
      if (now < end) requestAnimationFrame(tick);
    };
    tick();
  }

  const controls = (state, changed) => ({
    k: slider("k, tokens in the pass", { value: state.k, low: 1, high: most, step: 1 }, String, changed("k")),
  });

  function draw(state) {
    k = state.k;
    begun = null;
    show(Infinity);
    const longer = Math.max(reading, computing * k),
      ratio = longer / Math.max(reading, computing);
    const idle = 1 - (computing * k) / reading;
    const which =
      Math.abs(idle) < 0.02
        ? "Both take equally long."
        : idle > 0
          ? `The arithmetic is idle for ${percent(idle)} of the pass.`
          : `Now the memory waits: the pass is ${timesOf((computing * k) / reading)} as long as the reading.`;
    const tokens = tokensOf(k);
    said.replaceChildren(
      h(
        "b",
        {},
        k === 1
          ? `1 token: ${ms(longer)} at best, ${(1 / longer).toFixed(0)} tokens a second. `
          : `${tokens}: at best ${timesOf(ratio)} as long as 1. `,
      ),
      which,
    );
    const scale = div("sdl-scale", span(), h("small", {}, span("", "0"), span("", ms(endOf(longer)))), span());
    const bar = (job) => div(`sdl-job sdl-${job}`, span("", job), div("", rows[job]), times[job]);
    return {
      nodes: [
        pair(
          [drawing.node],
          [
            said,
            bar("reading"),
            bar("computing"),
            scale,
            ...run,
            h(
              "p",
              { class: "sdl-note" },
              "Every pass reads all layers once, and each of them meets all tokens of the pass.",
            ),
          ],
        ),
      ],
      said: said.textContent,
    };
  }

  panel(context, title, start, controls, draw);
}

export default { render };
