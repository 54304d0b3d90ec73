"""Block verification: another exact rule, which looks at all drafts of a round (Sun et al. 2024, arXiv 2403.10444).

`verify` tests draft by draft, and at the first miss it discards all drafts after. Here each *beginning* of the drafts
(the first i of them) is judged as a whole, and the longest one that survives is kept: later drafts can make up for one
that the target wants less often than it is drafted. The output is the target's own as before (theorem 1 of the paper),
and on average never fewer drafts are kept (theorem 2); with one draft both rules are the same.
"""

from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.sampling import draw
from specdec_lab.engine.verify import Verdict, residual


def verify_block(
    p: Tensor, q: Tensor, drafts: Sequence[int], u_accept: Sequence[float], u_resample: Sequence[float]
) -> Verdict:
    """Check γ drafts against the target's γ + 1 rows, all together (algorithm 2 of the paper).

    w, the *wanted share* of the first i drafts, follows the ratios p/q along the draft, and never rises above 1:
    w(0) = 1, w(i) = min(1, w(i−1) · p(x)/q(x)). All γ drafts survive with chance w(γ). A shorter beginning survives
    with chance R / (R + 1 − w), where R = Σ max(0, w · p − q) at the place after it (equation 5); if it is the
    longest that does, the token after it comes from norm(max(0, w · p − q)) (equation 4).

    The arguments are those of `verify`, with one condition more: the random numbers must be new in every round. Here
    also drafts that are discarded have decided, so the numbers that they were drawn and tested with must not decide
    about those positions a second time. (`Uniforms` gives a position the same number in every round, which is right
    for `verify`. For this rule a request takes `Uniforms.fresh`: see `rules.BLOCK`.)
    """
    wanted, survivor = 1.0, (0, 1.0)  # the longest beginning that survives so far, and its w
    for i, x in enumerate(drafts):
        wanted = min(1.0, wanted * float(p[i, x]) / float(q[i, x]))
        if u_accept[i] < survives(wanted, p[i + 1], q[i + 1] if i + 1 < len(drafts) else None):
            survivor = (i + 1, wanted)
    kept, wanted = survivor
    if kept == len(drafts):
        return Verdict(kept, draw(p[kept], u_resample[kept]), "bonus" if kept else "plain")
    return Verdict(kept, draw(residual(wanted * p[kept], q[kept]), u_resample[kept]), "corrected")


def survives(wanted: float, p: Tensor, q: Tensor | None) -> float:
    """The chance that a beginning survives.

    Args:
        wanted: its wanted share w.
        p, q: the rows [V] at the place after it; q is None where nothing was drafted there.
    """
    if q is None:
        return wanted
    lacking = float((wanted * p - q).clamp(min=0).sum())
    missed = lacking + 1 - wanted
    # 0/0 where w = 1 and p = q: then the next beginning has w = 1 as well, and decides.
    return lacking / missed if missed > 0 else 1.0
