"""A word's link in a lesson leads to the word, at the first click, and starts no kernel."""

FIRST = "lessons/00_start_here.ipynb"  # which the lab's own address opens


def test_a_word_leads_into_the_glossary(page, jupyter):
    page.goto(jupyter.replace(FIRST, "lessons/02_draft_then_verify.ipynb") + "&reset")
    link = page.locator('.jp-Notebook a[href*="glossary.md"]', has_text="dial").first
    link.click()
    word = page.locator('.jp-MarkdownViewer h2[data-jupyter-id="dial"], .jp-MarkdownViewer h2#dial')
    word.wait_for()
    page.wait_for_function("h => h.getBoundingClientRect().top < 300", arg=word.element_handle())
    assert word.bounding_box()["y"] >= 0
    assert page.locator(".jp-MarkdownViewer").count() == 1
