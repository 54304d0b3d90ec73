"""Showing rounds to people: one set of marks, in the terminal and in a widget."""


def kinds() -> dict[str, type]:
    """Every kind of live widget, by the name of its script."""
    from specdec_lab.show.asked import Guess, Outcome, Quiz
    from specdec_lab.show.explorer import RaceWidget, RoundExplorer, TreeExplorer
    from specdec_lab.show.loadlab import LoadLab
    from specdec_lab.show.widgets import PassExplorer, Sandbox, SpeedupExplorer

    every = RoundExplorer, TreeExplorer, RaceWidget, Guess, Outcome
    every += LoadLab, PassExplorer, Quiz, Sandbox, SpeedupExplorer
    return {kind.scripts[-1].removesuffix(".js"): kind for kind in every}
