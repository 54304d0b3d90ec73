"""The Acceptance Sandbox: three tokens, p and q to be changed by hand, and the rule, or a wrong one, at work.

And `Rules`: every rule of `theory.RULES` as a small picture of the sandbox, which of them write p and which do not.
"""

from specdec_lab.errors import LabError, typed
from specdec_lab.show.live import Live
from specdec_lab.theory import RULES, Row


class Sandbox(Live):
    """p and q of three tokens by slider, a rule by menu, and what comes out. Any weights are made to add up to 1."""

    scripts = ("common.js", "controls.js", "theory.js", "sandbox.js")

    @typed
    def __init__(self, rule: str = ""):
        """rule: with which it begins, as its name in `theory.RULES` begins; else with the exact one.

        Raises:
            LabError: where no rule's name begins so.
        """
        begins = next((name for name in RULES if name.startswith(rule)), None)
        if begins is None:
            raise LabError(f"No rule is called “{rule} …”. There are: {'; '.join(RULES)}.")
        super().__init__({"rule": begins})


@typed
class Rules(Live):
    """What comes out of each rule, for p and q over the three tokens of the sandbox."""

    scripts = Sandbox.scripts

    def __init__(self, p: Row, q: Row):
        super().__init__({"rules": {"p": list(p), "q": list(q)}})
