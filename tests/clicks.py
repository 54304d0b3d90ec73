"""What tests of widgets share."""

WIDGET = "application/vnd.jupyter.widget-view+json"


def press(button) -> None:
    """What a click does; `button.click()` would only log an exception."""
    (handler,) = button._click_handlers.callbacks
    handler(button)
