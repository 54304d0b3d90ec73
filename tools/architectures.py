"""Which families of models `transformers` knows run here, tried on tiny random ones: docs/architectures.md.

    python tools/architectures.py [FAMILY …]        try all, or these; writes the page when all were tried

A family runs if greedy text is the same in five ways: by transformers alone without a cache, plainly here, with lookup,
with a draft model of the same family, and with a tree of drafts whose first siblings are wrong; and if three texts in a
batch are what each is alone. All of it again where texts reach the end of a window, or of what the family calls its
longest text. A folder with one weight missing must be refused. In float32.
"""

import copy
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as FAMILIES
from transformers.utils import logging

from specdec_lab.clock import TimeUp, limited
from specdec_lab.drafters import Drafter, LookupDrafter, ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops, plain, speculative
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.formats import first_line
from specdec_lab.models.fast import FastModel
from specdec_lab.models.load import from_pretrained, wrapped
from specdec_lab.models.reference import LONGEST, WINDOW
from specdec_lab.models.tree import Tree

PAGE = Path(__file__).parents[1] / "docs" / "architectures.md"
SECONDS = 60  # for a family
LARGEST = 50_000_000  # parameters: else its configuration has sizes that are not made small here
SMALL = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "embed_dim": 32, "word_embed_proj_dim": 32, "intermediate_size": 64, "ffn_dim": 64,
    "n_inner": 64, "decoder_ffn_dim": 64, "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "decoder_layers": 2,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "decoder_attention_heads": 4, "num_heads": 4, "num_key_value_heads": 2,
    "head_dim": 8, "vocab_size": 128, "max_position_embeddings": 256, "n_positions": 256, "n_ctx": 256, "max_sequence_length": 256,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "moe_intermediate_size": 16, "num_experts": 4, "num_local_experts": 4,
    "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 1,
    "kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "rotary_dim": 8,
    "sliding_window": 64, "shared_expert_intermediate_size": 16, "vocab_size_per_layer_input": 128, "hidden_size_per_layer_input": 8,
}  # fmt: skip
WRONG = 6  # siblings of a right draft, before it
SHORT = 16  # tokens of a window, or of the longest text, that texts are to reach the end of
LONG, PROMPTS = 24, ([5, 9, 5, 9, 5], [7, 8, 9, 10], [3, 3, 4, 3, 3, 4, 3])


class Siblings(Drafter):
    """Drafts WRONG tokens and beside them the two right ones: so these stand in slots far behind their positions."""

    name = "siblings"

    def __init__(self, right: list[int]):
        self.right = right  # the whole text

    def drafting(self, text, gamma, sampler, uniforms):
        right = self.right[len(text) :][: min(max(gamma - WRONG, 0), 2)]
        if not right:
            return Proposal([])
        wrong = [(right[0] + i) % SMALL["vocab_size"] for i in range(1, WRONG + 1)]
        return Proposal([*wrong, *right], tree=Tree((*[-1] * WRONG, -1, WRONG)[: len(wrong + right)]))


def tiny(family: str, seed: int, short: str = "") -> PreTrainedModel:
    """A small random model of the family, with SHORT as its "window" or its "longest" text where one is asked for.

    Raises whatever its makers' code does.
    """
    config = AutoConfig.for_model(family)
    inner = config.get_text_config()
    for name, value in SMALL.items():
        with suppress(AttributeError):  # some are computed from others
            old = getattr(inner, name, None)
            if (isinstance(old, int) and not isinstance(old, bool)) or (name == "head_dim" and hasattr(inner, name)):
                setattr(inner, name, value)
    names = [name for name in vars(inner) if (WINDOW.fullmatch(name) if short == "window" else name in LONGEST)]
    sizes = [name for name in names if type(getattr(inner, name)) is int]
    if short and not sizes:
        raise LookupError(f"{family} has no {short}")
    for name in sizes if short else ():
        setattr(inner, name, SHORT)
    if hasattr(inner, "kv_lora_rank"):  # latent attention has no groups
        inner.num_key_value_heads = inner.num_attention_heads
    if getattr(inner, "layer_types", None):
        inner.layer_types = inner.layer_types[: inner.num_hidden_layers]
    if getattr(inner, "attention_layers", None):
        inner.attention_layers = inner.attention_layers[: inner.num_hidden_layers]
        inner.attention_types = [[inner.attention_layers, 1]]
    if getattr(inner, "sliding_window", None) is None and hasattr(inner, "use_sliding_window"):
        inner.use_sliding_window = False
    torch.manual_seed(seed)
    with torch.device("meta"):
        size = sum(p.numel() for p in AutoModelForCausalLM.from_config(config).parameters())
    if size > LARGEST:
        raise ValueError(f"{size / 1e6:.0f} million parameters: the sizes of this family have other names")
    try:
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    except ValueError:
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    for p in model.parameters():  # far enough apart that no two tokens are nearly tied
        if p.dim() > 1:
            p.data.normal_(0, 0.35)
    return model.float().eval()


@torch.inference_mode()
def uncached(hf: PreTrainedModel, prompt: list[int], most: int) -> list[int]:
    text = list(prompt)
    for _ in range(most):
        text.append(int(hf(torch.tensor([text]), use_cache=False).logits[0, -1].argmax()))
    return text[len(prompt) :]


def runs(family: str) -> tuple[str, str]:
    """(how it runs, or "refused", or "differs", or "not tried"; why, or what else is to be said)."""
    try:
        hf, other = tiny(family, 1), tiny(family, 2)
    except (Exception, TimeUp) as e:
        return "not tried", f"{type(e).__name__}: {first_line(e)}"
    how, why = written_in_all_ways(hf, other, family)
    if why or how == "refused":
        return how, why
    for short in "window", "longest":
        try:
            pair = tiny(family, 1, short), tiny(family, 2, short)
        except (Exception, TimeUp):  # it has no such size, or its makers' code does not take it
            continue
        again = written_in_all_ways(*pair, family, SHORT if short == "longest" else 1000)
        if again != (how, why):
            return "differs", f"{again[1]} ({short}: {SHORT} tokens)"
    try:
        return ("differs", missed) if (missed := misses_a_weight(hf)) else (how, why)
    except Exception:  # its makers' code does not save, or find again, a part of a model, or one so small
        return f"{how}, no folder tried", why


def misses_a_weight(hf: PreTrainedModel) -> str:
    """What is wrong with a folder of the model: "" if it loads whole, and is refused with one weight missing."""
    with tempfile.TemporaryDirectory() as folder:
        hf.save_pretrained(folder)
        try:
            from_pretrained(folder, torch.float32, "it")
        except LabError as e:
            return f"a folder that is whole is refused: {first_line(e)}"
        (file,) = Path(folder).glob("*.safetensors")
        weights = load_file(file)
        weights.pop(sorted(weights)[len(weights) // 2])
        save_file(weights, file, metadata={"format": "pt"})
        try:
            from_pretrained(folder, torch.float32, "it")
        except Exception:
            return ""
    return "a weight that is missing is drawn at random"


def written_in_all_ways(
    hf: PreTrainedModel, other: PreTrainedModel, family: str, longest: int = 1000
) -> tuple[str, str]:
    """As `runs`, of two models, whose texts have at most so many tokens."""
    try:  # copies, since wrapping changes how a model attends
        target, draft = wrapped(copy.deepcopy(hf), family), wrapped(copy.deepcopy(other), family)
    except LabError as e:
        return "refused", first_line(e)
    wanted = [uncached(hf, prompt, min(LONG, longest - len(prompt))) for prompt in PROMPTS]
    stops = Stops(LONG)
    # A text of n tokens ends at the context: what transformers writes behind it is nothing to compare with.
    wanted = [want[: max(1, target.context - len(prompt))] for prompt, want in zip(PROMPTS, wanted)]
    for prompt, want in zip(PROMPTS, wanted):
        ways = {
            "plain": plain(target, prompt, stops=stops),
            "lookup": speculative(target, LookupDrafter(), prompt, gamma=4, stops=stops),
            "a draft model": speculative(target, ModelDrafter(draft), prompt, gamma=3, stops=stops),
            "a tree": speculative(target, Siblings([*prompt, *want]), prompt, gamma=WRONG + 2, stops=stops),
        }
        for name, rounds in ways.items():
            if name == "a tree" and not target.takes_trees:
                continue
            if Trace(prompt).collect(rounds).tokens != want:
                return "differs", f"{name} writes another text than transformers without a cache"
    batch = Batch(target, len(PROMPTS))
    traces = [
        batch.submit(Request(target, list(p), LookupDrafter(), stops=stops, uniforms=Uniforms(0, i)))
        for i, p in enumerate(PROMPTS)
    ]
    while len(batch):
        batch.step(3)
    if [t.tokens for t in traces] != wanted:
        return "differs", "a text in a batch is another one than alone"
    more = "" if hf.config._attn_implementation == "sdpa" else ", attention written out"
    more += "" if target.takes_trees else ", no trees"
    return ("fast" if isinstance(target, FastModel) else "reference") + more, ""


def main(wanted: list[str]) -> None:
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    found = {}
    for family in wanted or sorted(FAMILIES):
        try:
            found[family] = limited(lambda family=family: runs(family), SECONDS)
        except TimeUp:
            found[family] = "not tried", f"took more than {SECONDS} s"
        except Exception as e:  # a family that is accepted, and then fails: to be mended
            found[family] = "fails", f"{type(e).__name__}: {first_line(e)}"
        print(f"{family:28}{found[family][0]:34}{found[family][1]}", flush=True)
    print(Counter(how for how, _ in found.values()))
    if not wanted:
        PAGE.write_text(page(found), encoding="utf-8")


def by_reason(found: dict[str, tuple[str, str]]) -> dict[str, list[str]]:
    """The families that do not run, by why: a sentence about all of them."""
    reasons: dict[str, list[str]] = {}
    for family, (how, why) in found.items():
        if how == "refused":
            if "computes something" in why:
                why = "they change their logits behind the head, or are no decoders alone"
            elif "cannot be rewound here" in why:
                kind = why.partition(" uses ")[2].partition(" layers")[0]
                why = f"they have layers whose state cannot be taken back: {kind}"
            else:
                why = "their own code does not take a cache in which each text has its own length"
        elif how not in ("differs", "fails"):
            continue
        reasons.setdefault(why, []).append(family)
    return dict(sorted(reasons.items()))


def page(found: dict[str, tuple[str, str]]) -> str:
    import transformers

    by = {how: [f for f, (h, _) in found.items() if h == how] for how in dict.fromkeys(h for h, _ in found.values())}
    works = [how for how in by if how.startswith(("fast", "reference"))]
    lines = [
        "# Which models run here",
        "",
        f"Made by `tools/architectures.py` with transformers {transformers.__version__}, on tiny random models in float32. A family "
        "is listed as one that runs if its greedy text was the same without a cache, plainly, with lookup, with a draft "
        "model, with a tree whose first drafts are wrong, and in a batch of three; again where the texts reach the end of each "
        f"window, and of the longest text ({SHORT} tokens); and if a folder with one weight missing is refused, where one could "
        "be made. What is refused "
        "is refused with a sentence when it is loaded; `no trees`: a tree is refused when it is drafted.",
        "",
        f"**{sum(len(by[how]) for how in works)} of {len(found)} families run.** `fast` and `reference` are the backends (`--backend`).",
        "",
        "| how | families |",
        "|---|---|",
        *(f"| {how} | {', '.join(by[how])} |" for how in works),
        "",
        "| refused, since | families |",
        "|---|---|",
        *(f"| {why} | {', '.join(those)} |" for why, those in by_reason(found).items()),
        "",
        f"Not tried, since no small model of the family could be made with the sizes that the script knows: {', '.join(by.get('not tried', [])) or 'none'}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
