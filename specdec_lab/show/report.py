"""The report on a learner's traffic as Markdown."""

from specdec_lab.measure.prompts import DEPLOY, DONT
from specdec_lab.show.table import Html, Markdown, markdown_table, one_line

HEADS = ("arm", "γ", "kind", "prompts", "tokens a pass", "α", "times plain", "interval", "repetition")
PACES = {
    "first": "to the first token",
    "mean": "a token, mean",
    "p50": "half within",
    "p95": "95 % within",
    "answer": "a whole answer",
}
FIRST_TOKEN = (
    "Here the first token comes with the first round. Servers take it out of the reading, before any draft: compare their "
    "time to the first token with that of plain."
)
CACHED = (
    "A server may keep what it has read, and so answer the same prompts sooner the second time. Restart it between two "
    "runs that you compare, or compare the times by token."
)


class Report(Markdown):
    """A report in a notebook, of what `specdec-lab traffic --json` prints."""

    def __init__(self, result: dict):
        super().__init__(report(result))


class Letter(Html):
    """What one would write to a colleague on the ground of a report; folded, since a learner writes first.

    Args:
        result: as `compare_drafters` returns it.
        prompts: what the prompts are called, such as "editing".
    """

    def __init__(self, result: dict, prompts: str):
        shown, said = "An example, from this report", Markdown(one_line(" ".join(letter(result, prompts))))
        super().__init__(f"<details><summary>{shown}</summary>{said.html}</details>", f"{shown}\n{said}")


def letter(result: dict, prompts: str) -> list[str]:
    """What was measured, what is done, what the report leaves out, and what would change one's mind."""
    name, verdict = result["estimate"]["drafter"], result["verdict"]
    if verdict == DEPLOY:
        limit = result["policy"]["off_above_texts_at_once"]
        some = f"{limit} text{'s' * (limit > 1)}"
        done = f"I switch {name} on for {prompts}, with the γ of the list, up to {some} at once."
        doubt = "If the low end is below 1.1 with two hundred prompts of our log, it is not worth its trouble."
    elif verdict == DONT:
        done = f"I leave drafts off for {prompts}."
        doubt = "I will measure again when the draft or the machine is another one."
    else:
        done = f"Nothing is decided yet, and drafts stay off for {prompts}."
        doubt = "I will switch them on if the low end is above 1.1 with two hundred prompts of our log."
    left_out = "The prompts were decoded one by one, on one machine, and the reading of them is not in these numbers."
    return [f"Our prompts for {prompts}: {result['reason']}", done, left_out, doubt]


def report(result: dict) -> str:
    """The verdict first, then what it rests on."""
    parts = from_endpoint(result) if "endpoint" in result else from_measurement(result)
    if result["problems"]:
        parts += ["## Left out", "\n".join(f"- {one_line(problem)}" for problem in result["problems"])]
    return "\n\n".join(filter(None, parts))


def from_measurement(result: dict) -> list[str]:
    meta, waits = result["meta"], result["latency"]
    plain, best = (x["answer"] for x in waits.values())
    often = "once" if meta["repeats"] == 1 else f"{meta['repeats']} times"
    kinds = {r["kind"] for r in result["rows"]}
    rows = [r for r in result["rows"] if r["kind"] == "overall" or len(kinds) > 2]  # of one kind, both are the same
    alphas = {r["arm"]: r["alpha_by_position"] for r in rows if r["kind"] == "overall" and r["alpha_by_position"]}
    places = range(1, 1 + max(map(len, alphas.values()), default=0))
    by_place = [(i, *(f"{a[i - 1]:.2f}" if i <= len(a) else "–" for a in alphas.values())) for i in places]
    return [
        f"## {result['verdict'].upper()}",
        one_line(result["reason"]),
        policy_sentence(result["policy"]),
        setting(result["policy"]),
        f"The target is {one_line(meta['target'])} on {one_line(meta['hardware'])}, temperature {meta['temperature']:g}, "
        f"{meta['prompts']} prompts, each decoded {often} by every arm, by turns, "
        f"at most {meta['max_new_tokens']} tokens an answer. "
        "“Times plain” is of writing alone, without reading the prompt.",
        "## What a user waits for, in milliseconds",
        markdown_table(
            ("arm", *PACES.values()), [(name, *(f"{x[key]:.1f}" for key in PACES)) for name, x in waits.items()]
        ),
        f"A whole answer, its prompt read as well, came {plain / best:.2f} times as fast. {FIRST_TOKEN}",
        "## By drafter and kind",
        markdown_table(HEADS, list(map(row, rows))),
        "## Of the tested drafts, the share that was accepted" if by_place else "",
        markdown_table(("place in the round", *alphas), by_place) if by_place else "",
    ]


def row(r: dict) -> tuple[object, ...]:
    """One arm on one kind of prompt, under HEADS."""
    alpha = "–" if r["alpha"] is None else f"{r['alpha']:.2f}"
    interval = "{:.2f} to {:.2f}".format(*r["ratio_interval"]) if r["ratio_interval"] else "–"
    measured = (f"{r['tokens_per_pass']:.2f}", alpha, f"{r['ratio_to_plain']:.2f}", interval, f"{r['repetition']:.0%}")
    return (r["arm"], r["gamma"] or "–", r["kind"], r["prompts"], *measured)


def policy_sentence(policy: dict) -> str:
    """The policy as a sentence."""
    if not policy["drafter"]:
        return "Policy: decode plainly."
    kinds = f", except for {', '.join(map(one_line, policy['off_for_kinds']))}" if policy["off_for_kinds"] else ""
    limit, largest = policy["off_above_texts_at_once"], policy["largest_batch_measured"]
    load = f"off when more than {limit} texts are decoded at once"
    if limit >= largest:
        load = f"some γ paid up to the largest batch that was measured, {largest} texts"
    return f"Policy: draft with {policy['drafter']}{kinds}, with the γ of the list below; {load}."


def setting(policy: dict) -> str:
    """The schedule to be copied, indented as code."""
    if not policy["drafter"]:
        return ""
    said = "The best γ by the texts at once in this engine, in the form that vLLM takes, [from, to, γ]:"
    return f'{said}\n\n    "num_speculative_tokens_per_batch_size": {policy["schedule"]}'


def from_endpoint(result: dict) -> list[str]:
    pace, found = result["ms_per_token"], result["speculation"]
    then = f"then {pace['mean']:.1f} ms a token (95 % within {pace['p95']:.1f})" if pace else ""
    first = result["ms_to_first_token"]
    waits = ", ".join(x for x in (f"{first:.0f} ms to the first token" if first is not None else "", then) if x)
    way = "one after the other" if result["at_once"] == 1 else f"{result['at_once']} at once"
    parts = [
        f"The model is {one_line(result['model'])} at {one_line(result['endpoint'])}: {result['answers']} prompts, {way}.",
        f"{f'{waits}; ' if waits else ''}{result['tokens_per_second']:.0f} tokens a second in all.",
    ]
    if found:
        rates = zip(found["survival_by_position"], found["alpha_by_position"])
        places = [(i, f"{survival:.2f}", f"{alpha:.2f}") for i, (survival, alpha) in enumerate(rates, 1)]
        heads = ("place", "survival (as the server counts)", "α by position (survival / the one before)")
        each = f"{found['drafts_per_round']:.2f} drafts and {found['tokens_per_pass']:.2f} tokens each"
        parts += [f"{found['rounds']} rounds with drafts: {each}.", markdown_table(heads, places)]
    return [*parts, CACHED]
