"""What serving engines would report of the same rounds, under their own names, and the way back to E.

Formulas as in the engines' sources in November 2026 (vLLM 0.33.0, SGLang 0.5.23, llama.cpp b11434, TensorRT-LLM
1.4.0rc1).
"""

from collections.abc import Sequence

from specdec_lab.engine.trace import Trace


def as_reported(traces: Sequence[Trace], gamma: int) -> dict[str, float]:
    """{engine and its name for a number: the number}, from rounds with at most `gamma` drafts.

    SGLang counts all rounds, the others only those that had drafts.

    Raises:
        ValueError: without a round that has drafts.
    """
    every = [r for trace in traces for r in trace.rounds]
    rounds = [r for r in every if r.drafted]
    if not rounds:
        raise ValueError("there are no rounds with drafts")
    accepted = sum(r.accepted for r in rounds)
    length = 1 + accepted / len(rounds)
    of_proposed = accepted / sum(len(r.drafted) for r in rounds)
    of_allowed = accepted / (gamma * len(every))  # whether they were proposed or not
    survival = {f"place {i + 1}": sum(r.accepted > i for r in rounds) / len(rounds) for i in range(gamma)}
    return {
        "vLLM: Mean acceptance length": length,
        "SGLang: accept len": 1 + accepted / len(every),
        "llama.cpp: mean len": length,
        "TensorRT-LLM: acceptanceLength": length,
        "vLLM: Avg Draft acceptance rate": of_proposed,
        "llama.cpp: draft acceptance": of_proposed,
        "SGLang: accept rate": of_allowed,
        **{f"vLLM: Per-position acceptance rate, {place}": share for place, share in survival.items()},
        **{f"llama.cpp: acc per pos, {place}": share for place, share in survival.items()},
    }


def tokens_from_share(share: float, gamma: float) -> float:
    """E from accepted / proposed, where every round proposes `gamma` drafts (else: how many on average)."""
    return 1 + share * gamma
