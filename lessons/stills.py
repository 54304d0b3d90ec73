"""What stays of a live widget in a stored lesson: the page draws it once, and its picture is kept without the controls."""

import importlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
from plain_text import html_to_text

from specdec_lab.show import kinds
from specdec_lab.show.live import STORED, Live

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
EMPTY = {"state": {}, "revealed": [], "guesses": {}, "news": "", "outgoing": [], "heard": []}  # nothing was entered yet
BROWSERS = "chromium", "chromium-browser", "google-chrome"
# A widget's script and its state → HTML. Tokens are buttons, and stay as words; all that only sets something goes.
DRAW = """async ({ script, state }) => {
    const { render } = new Function(script.replace("export default { render };", "return { render };"))();
    const model = { get: (name) => ({ ...state, still: true })[name], set() {}, save_changes() {}, on() {}, off() {} };
    const el = document.createElement("div");
    document.body.replaceChildren(el);
    const end = await render({ model, el });
    await new Promise(requestAnimationFrame);
    end?.();
    for (const button of el.querySelectorAll("button[data-column]")) {
        const word = document.createElement("span");
        for (const name of ["class", "style"]) if (button.hasAttribute(name)) word.setAttribute(name, button.getAttribute(name));
        word.classList.remove("sdl-chosen");
        word.append(...button.childNodes);
        button.replaceWith(word);
    }
    const controls = ".sdl-controls, .sdl-nav, .sdl-entry, .sdl-foot, .sdl-keys, .sdl-live, .sdl-rough, button, select, input, .sdl-said:empty, [hidden]";
    for (const control of el.querySelectorAll(controls)) control.remove();
    for (const one of el.querySelectorAll("*")) {
        for (const { name } of [...one.attributes]) if (/^(tabindex|data-|aria-pressed|aria-live)/.test(name)) one.removeAttribute(name);
    }
    const html = el.innerHTML;
    for (const hidden of el.querySelectorAll("[aria-hidden]")) hidden.remove();
    return { html, text: el.innerHTML };
}"""


@contextmanager
def browser() -> Iterator:
    """A page of a browser, to draw in."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SystemExit("No Chromium is installed, so the widgets cannot be drawn: apt install chromium")
    with sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield chromium.new_page(viewport={"width": 900, "height": 900})
        chromium.close()


def keep(notebook: nbformat.NotebookNode) -> None:
    """Put a picture, its text, and what the static site needs in place of every live widget.

    Those that were stored before are drawn anew, as the page draws them now.

    Args:
        notebook: executed just now, or stored.
    """
    states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})
    outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    for data in (data for data in outputs if VIEW in data):
        state = states[data[VIEW]["model_id"]]["state"]
        module, _, name = state.get("_anywidget_id", "").rpartition(".")
        if module.startswith("specdec_lab."):
            data.clear()
            data[STORED] = getattr(importlib.import_module(module), name).stored(state["data"])
    if live := [data for data in outputs if STORED in data]:
        with browser() as page:
            draw(live, page)


def draw(outputs: list[dict], page) -> None:
    """Add pictures and texts to these outputs, as the page of a browser draws them."""
    page.add_style_tag(content=Live._css)
    style = f"<style>{Live._css}</style>"  # once in a notebook
    for data in outputs:
        script = kinds()[data[STORED]["script"]]._esm
        drawn = page.evaluate(DRAW, {"script": script, "state": {**EMPTY, "data": data[STORED]["data"]}})
        data |= {"text/html": style + drawn["html"], "text/plain": html_to_text(drawn["text"])}
        style = ""
