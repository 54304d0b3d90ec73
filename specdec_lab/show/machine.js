// The drawing that the course comes back to: a model is a stack of layers, a pass reads them one after the
// other, once, and each of them meets all tokens of the pass. It needs no other script, and of styles
// machine.css alone.

/**
 * small: layers of a drafter beside it, or 0 for its room alone. layers: of the model, of which no more are
 * drawn than can be told apart. name: what stands below them. draw(part, tokens, said): part of the pass, 1
 * at its end, or null before it; drafting: the drafter is at work; tokens: a [word, look] for each, its look
 * a class; where there are no words, dots are drawn, with what is said below them. What it shows must be said
 * elsewhere, too.
 */
function machine(layers, name = "", small = null) {
  const rows = Math.min(layers, 32),
    pitch = 108 / rows,
    y = (i) => (108 - (i + 0.5) * pitch).toFixed(1);
  const bars = (from, to) => Array.from({ length: to - from }, (_, i) => `M0 ${y(from + i)}H76`).join("");
  const node = document.createElement("div");
  node.className = "sdl-machine";
  node.ariaHidden = "true";
  const own = Array.from({ length: small ?? 0 }, (_, i) => `M-46 ${104 - 9 * i}H-12`).join(""),
    drafter = small ? `<g stroke-width="6"><path class="sdl-layer sdl-small" d="${own}"/></g>` : "",
    layer = (more, d = "") => `<path class="sdl-layer${more}" d="${d}"/>`,
    layersDrawn = layer("", bars(0, rows)) + layer(" sdl-read") + layer(" sdl-lit"),
    below = small === null ? "" : `<span>${small ? "small" : ""}</span>`;
  node.innerHTML =
    `<svg viewBox="${small === null ? "0 0 120" : "-46 0 166"} 108">${drafter}<path class="sdl-beam"/>` +
    `<g stroke-width="${(0.64 * pitch).toFixed(2)}">${layersDrawn}</g></svg>` +
    `<div class="sdl-meets"></div><small>${below}${name}</small><small></small>`;
  const [beam, , read, lit] = node.querySelectorAll("path:not(.sdl-small)"),
    said = node.lastElementChild,
    meets = node.querySelector("div");
  let before = null;

  function draw(part, tokens, below = "", drafting = false) {
    const going = part !== null && part < 1,
      at = Math.floor(Math.min(1, part ?? 0) * rows);
    beam.setAttribute("d", going ? `M78 ${y(at)}L120 4V104Z` : part ? "M78 1L118 8V100L78 107Z" : "");
    beam.classList.toggle("sdl-rest", !going);
    said.textContent = below;
    node.querySelector(".sdl-small")?.classList.toggle("sdl-lit", drafting);
    read.setAttribute("d", bars(0, at));
    lit.setAttribute("d", going ? bars(at, at + 1) : "");
    node.style.setProperty("--part", `${part === null ? 0 : going ? 100 * part : 100}%`);
    const wanted = JSON.stringify(tokens);
    if (wanted === before) return;
    before = wanted;
    const words = tokens.some(([word]) => word);
    meets.classList.toggle("sdl-dots", !words);
    meets.style.setProperty("--across", tokens.length <= 6 ? 1 : Math.ceil(Math.sqrt(tokens.length)));
    meets.replaceChildren(
      ...tokens.map(([word, look]) => {
        const one = document.createElement("span");
        one.className = look;
        one.textContent = word;
        return one;
      }),
    );
  }
  return { node, draw };
}
