"""Exercise 7: my_policy(texts, last) → γ of the next step, 0, 2 or 4; `last` is γ of the step before."""

import functools
import itertools
from contextlib import suppress

from specdec_grader.kit import Wrong, begun, nothing, part, shown, whole
from specdec_lab.course.given.arrivals import (
    CATCH_UP,
    COSTS,
    DAY,
    GAMMAS,
    MOST,
    NIGHT,
    NOON,
    STEP,
    served,
    times,
    with_fixed_gamma,
)  # fmt: skip
from specdec_lab.formats import drop_leading_zeros
from specdec_lab.measure.serving import Policy, ServingLog

POINTS = {NIGHT: 1, NOON: 1, DAY: 2}


def missed(logs: dict[str, ServingLog]) -> list[str]:
    """The times whose goal is not reached."""

    def within(when: str, gamma: int, room: float) -> bool:
        return all(a <= room * b for a, b in zip(times(logs[when]), times(with_fixed_gamma(gamma)[when])))

    mean, p95 = times(logs[DAY])
    means, p95s = zip(times(with_fixed_gamma(0)[DAY]), times(with_fixed_gamma(4)[DAY]))
    reached = {
        NIGHT: within(NIGHT, gamma=4, room=1.05),
        NOON: within(NOON, gamma=0, room=1.03),
        DAY: mean <= 0.95 * min(means) and p95 < min(p95s),
    }
    return [when for when in POINTS if not reached[when]]


def price(texts: int, gamma: int) -> str:
    return drop_leading_zeros(
        f"with {texts} texts and γ = {gamma} a step writes {STEP[gamma]:.1f} times as many tokens as one without drafts, "
        f"and takes {COSTS(texts, gamma) / COSTS(texts, 0):.1f} times as long"
    )


def ask(made: Policy, texts: int, last: int) -> int:
    value = made(texts, last)
    if nothing(value):
        raise Wrong(f"Your policy returns nothing for texts = {texts} and last = {last}: return 0 for no drafts.")
    gamma = whole(value, "What your policy returns")
    if gamma not in GAMMAS:
        known = f"What γ = {gamma} costs was not measured: use 0, 2 or 4."
        raise Wrong(f"Your policy returned {shown(value)} for texts = {texts}. {known}")
    return gamma


def asked_with_its_own(policy: Policy) -> dict[tuple[int, int], int]:
    """γ by (texts, last), for all texts, and for each `last` that can come: 0, and what the policy itself gives."""
    drafts: dict[tuple[int, int], int] = {}
    lasts = [0]
    for last in lasts:
        for texts in range(1, MOST + 1):
            drafts[texts, last] = policy(texts, last)
        lasts += sorted({g for (_, at), g in drafts.items() if at == last} - set(lasts))
    for texts, last in itertools.product(range(1, MOST + 1), GAMMAS):  # what never comes, it need not know
        if last not in lasts:
            with suppress(Exception):
                drafts[texts, last] = policy(texts, last)
    return drafts


@part("7.policy", points=sum(POINTS.values()), seconds=60)
def judge_policy(made: Policy) -> None:
    begun(made(1, 0))
    policy = functools.partial(ask, made)

    def drafts_alone() -> bool:  # a policy may want to see a few quiet steps first
        return any(policy(1, 0) for _ in range(100))

    starts = drafts_alone()
    drafts = asked_with_its_own(policy)
    full = [gamma for (texts, _), gamma in drafts.items() if texts == MOST]
    if not any(drafts.values()) and not starts:
        raise Wrong("Your policy never drafts, not even for a single text, where drafts are nearly free.")
    if not starts and any(full):
        raise Wrong("It is the other way round: draft while few texts are there, and not while the batch is full.")
    if not starts or not drafts_alone():
        said = "Once your policy has left drafts off, they never come back:"
        raise Wrong(f"{said} after a step with γ = 0 it returns 0 even for one text.")
    logs = served(policy)
    unreached = missed(logs)
    earned = 1 - sum(POINTS[when] for when in unreached) / sum(POINTS.values())
    if all(full):
        raise Wrong(f"Your policy drafts even when the batch is full: {price(MOST, full[-1])}.")
    if unreached:
        raise Wrong(f"{as_users_see(unreached[0], logs)} {advice(policy, unreached, logs, drafts)}", earned)


def as_users_see(when: str, logs: dict[str, ServingLog]) -> str:
    mean, p95 = times(logs[when])
    others = {"never": times(with_fixed_gamma(0)[when]), "always": times(with_fixed_gamma(4)[when])}
    compared = "; ".join(f"{name}: {mean:.1f} and {p95:.1f}" for name, (mean, p95) in others.items())
    return f"{when[0].upper()}{when[1:]}: {mean:.1f} ms a token, 95 % within {p95:.1f} ({compared})."


def advice(
    policy: Policy, unreached: list[str], logs: dict[str, ServingLog], drafts: dict[tuple[int, int], int]
) -> str:
    """What the first of the missed goals comes from."""
    if max(log.switches for log in logs.values()) > 100 or not missed(served(policy, catch_up=0.0)):
        return (
            f"Drafts went on and off {logs[unreached[0]].switches} times, and each time they come back the draft model must "
            f"catch up, {1e3 * CATCH_UP:.0f} ms for each text. Let them come back only when few texts are left."
        )
    limit, gamma = max(((n, g) for (n, last), g in drafts.items() if g and last), default=(0, 0))
    if limit and STEP[gamma] * COSTS(limit, 0) < COSTS(limit, gamma):
        return f"Your policy still drafts where it loses: {price(limit, gamma)}."
    if NIGHT in unreached:
        return "With one or two texts rows are nearly free: which γ writes most there?"
    return f"Your policy stops too early, or comes back too late: with {limit + 1} texts drafts may still pay."
