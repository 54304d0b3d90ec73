"""What a Lab shows: `lab.explore(trace)` and `lab.replay(race)` lead here."""

from specdec_lab.engine.trace import Trace
from specdec_lab.errors import typed
from specdec_lab.lab import Lab
from specdec_lab.measure.costs import Race
from specdec_lab.show.explorer import RaceWidget, RoundExplorer, TreeExplorer, explorer_data, race_data


@typed
def explore(lab: Lab, trace: Trace, title: str = "") -> RoundExplorer:
    """The Round Explorer on a trace that `speculative` made; the Tree Explorer where some drafts are trees."""
    kind = TreeExplorer if any(r.is_tree for r in trace.rounds) else RoundExplorer
    title = title or ("Tree Explorer" if kind is TreeExplorer else "Round by round")
    return kind(explorer_data(trace, lab.text, title))


@typed
def replay(lab: Lab, result: Race, title: str = "") -> RaceWidget:
    """The last texts of `sd.race`, written again side by side as fast as they were, or slower."""
    title = title or "The race: plain decoding, and with drafts"
    data = race_data(result.plain, result.speculative, lab.text, title, f"{lab.target.name}, {lab.hardware}")
    return RaceWidget(data | {"layers": lab.target.layers})
