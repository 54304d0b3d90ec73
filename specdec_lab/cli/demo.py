"""Decode one prompt with and without speculation, and show every round."""

import argparse
from typing import TYPE_CHECKING, Any

from specdec_lab.choices import DRAFTERS
from specdec_lab.cli import decoding_arguments, lab_from, reply
from specdec_lab.errors import LabError
from specdec_lab.formats import escaped

if TYPE_CHECKING:
    from specdec_lab.engine.processors import Processor
    from specdec_lab.engine.trace import Trace
    from specdec_lab.lab import Lab

NEW_LINES = "\n\t"
PROMPT = (
    "Correct the spelling and repeat the text: The quick brown fox jumps over the lazi dog. "
    "The dog sleeps. The quick brown fox runs away."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompt", default=PROMPT, help="one user message")
    parser.add_argument("--drafter", help=f"one of {', '.join(DRAFTERS)} (default: model with --draft, else lookup)")
    parser.add_argument("--alpha", type=float, help="the acceptance rate that the drafter dial aims at (default: 0.75)")
    parser.add_argument("--gamma", type=int, default=4, help="most tokens drafted a round")
    decoding_arguments(parser)
    parser.add_argument("--top-k", type=int, help="keep the K most likely tokens")
    parser.add_argument("--top-p", type=float, help="keep the most likely tokens up to this probability")
    parser.add_argument("--min-p", type=float, help="keep tokens at least so many times as likely as the likeliest")
    parser.add_argument("--repetition-penalty", type=float, help="above 1, what stands in the text becomes less likely")
    parser.add_argument("--bias", action="append", default=[], metavar="WORD=NUMBER", help="added to a word's logit")
    parser.add_argument("--only", metavar="REGEX", help="write only tokens that match, such as [^eE]*")
    parser.add_argument("--argmax-drafts", action="store_true", help="draft favourites, whatever the temperature")
    parser.add_argument("--stop", action="append", default=[], help="a string that ends the text; may be repeated")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.engine.sampling import GREEDY
    from specdec_lab.show.terminal import to_json

    if args.alpha is not None and args.drafter != "dial":
        raise LabError("--alpha sets the drafter dial, and no other: add --drafter dial, or leave --alpha out.")
    lab = lab_from(args)
    name = args.drafter or ("model" if lab.draft else "lookup")
    drafter = lab.drafter(name, 0.75 if args.alpha is None else args.alpha)
    prompt = lab.encode(args.prompt)
    settings = {"temperature": args.temperature, "top_k": args.top_k, "top_p": args.top_p, "seed": args.seed}
    settings |= {"min_p": args.min_p, "processors": processors(args, lab)}
    settings |= {"max_new_tokens": args.max_new_tokens, "stop_strings": args.stop}
    how = {"gamma": args.gamma, "draft_sampler": GREEDY if args.argmax_drafts else None}
    trace = lab.speculative(prompt, drafter, **how, **settings)
    plain = trace if trace.interrupted else lab.plain(prompt, **settings)
    if plain.interrupted:
        raise KeyboardInterrupt
    trace.check()
    result = {
        "schema": 1, "device": str(lab.target.device), "hardware": lab.hardware, "target": lab.target.name,
        "drafter": drafter.name, "gamma": args.gamma, "temperature": args.temperature, "seed": args.seed,
        "prompt_tokens": len(prompt), "text": lab.text(trace.tokens), "plain_text": lab.text(plain.tokens),
        "identical": plain.tokens == trace.tokens if args.temperature == 0 else None,
        "stop": trace.stop, "target_passes": trace.target_passes, "new_tokens": len(trace.tokens),
        "tokens_per_pass": trace.tokens_per_pass, "alpha": trace.alpha, "alpha_by_position": trace.alpha_by_position,
        "rounds": to_json(trace, lab.text),
    }  # fmt: skip
    return reply(args, result, as_text(result, trace, drafter, lab))


def processors(args: argparse.Namespace, lab: "Lab") -> "list[Processor]":
    """What the options ask to do with the target's logits."""
    from specdec_lab.engine.processors import RepetitionPenalty

    asked: list[Processor] = [] if args.repetition_penalty is None else [RepetitionPenalty(args.repetition_penalty)]
    for option in args.bias:
        word, _, number = option.rpartition("=")
        try:
            asked.append(lab.bias(word, float(number)))
        except ValueError as e:
            raise LabError(f"--bias {option} is no word with an equals sign and a number, as in indeed=-5.") from e
    return asked if args.only is None else [*asked, lab.only(args.only)]


def as_text(result: dict, trace: "Trace", drafter: Any, lab: "Lab") -> str:
    from specdec_lab.show import terminal

    colour = terminal.use_colour()
    rounds = (terminal.round_line(r, lab.text, colour) for r in trace.rounds)
    lines = [
        f"{result['target']} on {result['hardware']}, drafter {drafter.name}, γ = {result['gamma']}\n",
        *(f"{i:4}  {line}" for i, line in enumerate(rounds, start=1)),
        f"\n      {terminal.legend(colour)}\n\n{escaped(result['text'], keep=NEW_LINES)}\n\n{terminal.summary(trace)}",
    ]
    if drafter.oracle:
        reach = ""
        if result["temperature"] > 0 and drafter.lowest is not None:  # greedily every rate can be had
            reach = f"; the lowest it could reach on this text is {drafter.lowest:.2f}"
        lines.append(
            f"The dial aimed at α = {drafter.alpha:.2f}{reach}. "
            f"It asked the target {drafter.oracle_passes} times: an instrument, not a speed-up."
        )
    verdicts = {
        None: "Sampled: the same distribution as plain decoding, not the same text.",
        True: "Identical to plain decoding, token for token.",
        False: "NOT identical to plain decoding: a near-tie that rounding decided, or a bug. `plain_text` in --json has both.",
    }
    return "\n".join([*lines, verdicts[result["identical"]]])
