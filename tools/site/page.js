// Makes the widgets of a page live, and keeps what the reader did in this browser.

(() => {
  const up = document.body.dataset.up;
  const kept = (key, value) => {
    try {
      if (value === undefined) return JSON.parse(localStorage.getItem(key));
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      return null; // a browser that keeps nothing
    }
    return value;
  };

  /** What a widget takes for its model: the data of the page, and what was kept of the reader's. */
  function modelOf(data, key) {
    const own = { state: {}, revealed: [], guesses: {}, ...kept(key) };
    return {
      get: (name) => (name === "data" ? data : own[name]),
      set: (name, value) => { own[name] = value; },
      save_changes: () => kept(key, own),
      on: () => {}, off: () => {},
    };
  }

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

  const places = [...document.querySelectorAll(".live")];
  places.forEach(async (place, number) => {
    const data = JSON.parse(place.querySelector("script").textContent);
    const widget = await load(place.dataset.script);
    const page = location.pathname.split("/").slice(-2).join("/");
    widget.render({ model: modelOf(data, `specdec-lab ${page} ${number}`), el: place });
  });

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

  document.getElementById("theme").addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = kept("specdec-lab theme", dark ? "light" : "dark");
  });
})();
