// Makes the widgets of a page live. progress.js, before it, keeps what the reader did.

(() => {
  const up = document.body.dataset.up;
  const loading = {};
  function load(name) {
    loading[name] ||= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${up}widgets/${name}.js`;
      script.onload = () => done(specdecLab[name]);
      script.onerror = failed;
      document.head.append(script);
    });
    return loading[name];
  }

  for (const place of document.querySelectorAll(".live")) {
    const data = JSON.parse(place.querySelector("script").textContent);
    load(place.dataset.script).then((widget) => widget.render({ model: specdecLab.modelOf(data), el: place }));
  }

  if (matchMedia("(max-width: 860px)").matches) {
    for (const list of document.querySelectorAll("nav details")) list.open = false;
  }

  /** What is too wide for its place scrolls sideways: by keyboard, too. */
  const scrolls = new ResizeObserver((changes) => {
    for (const { target: box } of changes) {
      const wide = box.scrollWidth > box.clientWidth;
      for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", "scrolls sideways"]]) {
        if (wide) box.setAttribute(name, value);
        else box.removeAttribute(name);
      }
    }
  });
  for (const box of document.querySelectorAll("main pre, main div")) {
    if (!box.closest(".live") && getComputedStyle(box).overflowX === "auto") scrolls.observe(box);
  }

  const theme = specdecLab.load("specdec-lab theme");
  if (theme) document.documentElement.dataset.theme = theme;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    specdecLab.save("specdec-lab theme", dark ? "light" : "dark");
  });
})();
