"""The model card of trained drafters: what they learned from, how far they got, and whether more would help.

python tools/model_card.py CHECKPOINTS WEIGHTS [BENCH.json …]
"""

import json
import sys
from pathlib import Path

from passages import SOURCES
from safetensors import safe_open

from specdec_lab.choices import TRAINED
from specdec_lab.drafters.trained import BLOCK
from specdec_lab.models.embedded import NAME, WHEEL
from specdec_lab.show.charts import Line, Plot

HEAD = """# Model card: the trained drafters

Drafters for {target}{origin}. They guess what this one model says next and are good for nothing else. Licence: {licence}, as the target's.

**What they learned from.** The target's own answers, greedy in half of the texts and at temperatures from 0.3 to 1 in the others, to requests as people write them (`tools/training_text/requests.py`): questions, sums in words, lists, letters, and passages to sum up, translate, correct, rewrite, extract from, and to answer questions about; code to explain and to change. The passages come from {sources}, and from the installed Python; nothing of them ships here. A fifth of all passages, subjects and sums was held out, and the figures below are on these. No prompt of the built-in suite is in it: a request that shares eight words in a row with one is never asked. The target computed in {precision} while it wrote; its hidden rows were computed again while drafters learned.

**How.** On the target's distribution over its {said:,} most frequent tokens (q is zero elsewhere, and verification stays exact): forward KL, and then total variation, which is 1 − α (a drafter that begins with stored weights with total variation alone); EAGLE also on its own guesses, all the way. Muon for the matrices and AdamW for the vectors. `tools/passages.py` fetches the passages, `tools/write_training_text.py` has the target write the text, and `tools/train_drafter.py` trains on it, and goes on from a checkpoint. Matrices are stored in 8 bits with a scale for each block of {block} weights."""


def card(checkpoints: Path, weights: Path, benches: list[Path]) -> None:
    """Write README.md and training.svg into `weights`."""
    lines, further, precisions, by = [], [], set(), {}
    table = [
        "| drafter | size | trained on | overlap Σ min(p, q) on held-out text, by drafting step | KL(p‖q), the loss | same favourite |",
        "|---|---|---|---|---|---|",
    ]
    for name in TRAINED:
        path = weights / f"{name}.safetensors"
        history = json.loads((checkpoints / f"{name}.json").read_text(encoding="utf-8"))
        with safe_open(path, "pt") as f:
            about, said = json.loads(f.metadata()["about"]), f.get_slice("ids").get_shape()[0]
        precisions |= set(about["text_precision"])
        by[name] = about.get("held_out_by", {})
        lines.append(Line(name, [(h["tokens"] / 1e6, h["steps"][0]["overlap"]) for h in history]))
        fit = [", ".join(f"{step[x]:.3f}" for step in about["held_out"]) for x in ("overlap", "kl", "agree")]
        size, tokens = f"{path.stat().st_size / 1e6:.1f} MB", f"{about['training_tokens'] / 1e6:.1f} M tokens"
        table.append("| " + " | ".join([name, size, tokens, *fit]) + " |")
        if history[-1]["tokens"] > about["training_tokens"]:
            shipped, last = (steps[0]["overlap"] for steps in (about["held_out"], history[-1]["steps"]))
            further.append(
                f"Training {name} further, to {history[-1]['tokens'] / 1e6:.1f} M tokens, changed the overlap of its first "
                f"drafting step from {shipped:.3f} to {last:.3f}; these weights are not shipped."
            )
    title, y_name = "Overlap with the target while training", "Σ min(p, q) on held-out text"
    picture = Plot(title, lines, "million training tokens", y_name).svg()
    (weights / "training.svg").write_text(picture, encoding="utf-8")
    origin = f", as dequantised from `{WHEEL}` (the course's target)" if about["target"] == NAME else ""
    head = HEAD.format(
        target=about["target"],
        origin=origin,
        licence=about["licence"],
        precision=", ".join(sorted(precisions)),
        said=said,
        sources=", ".join(f"{s.name} ({s.licence})" for s in SOURCES),
        block=BLOCK,
    )
    parts = [
        head,
        "\n".join(table),
        *further,
        *(told(by, part) for part in ("kind", "place", "temperature")),
        "![Acceptance against training tokens](training.svg)",
    ]
    parts += [measured(json.loads(b.read_text(encoding="utf-8"))) for b in benches]
    (weights / "README.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def told(by: dict[str, dict], part: str) -> str:
    """Overlap of the first drafting step by kind of request, by place in the text, or by temperature, as a table."""
    columns = sorted({c for of_drafter in by.values() for c in of_drafter.get(part, {})}, key=lambda c: (len(c), c))
    rows = []
    for name, of in by.items():
        cells = [f"{of[part][c][1]:.3f}" if c in of.get(part, {}) else "–" for c in columns]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([f"| overlap by {part} | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 1), *rows])


def measured(result: dict) -> str:
    """A benchmark's result as a table: tokens per pass by kind of prompt, and the speed-up overall."""
    meta, rows = result["meta"], result["rows"]
    kinds = list(dict.fromkeys(r["kind"] for r in rows))
    file = Path(meta["prompts"]).name
    prompts = "the built-in prompts" if meta["prompts"] == "builtin" else f"the prompts of `{file}`"
    timed = f"; times of the first {meta['timed']} of each kind" if meta.get("timed") else ""
    lines = [
        f"**On {prompts}**, temperature {meta['temperature']:g}, {meta['max_new_tokens']} tokens, "
        f"{rows[0]['prompts']} prompts; {meta['hardware']}, {meta['dtype']}{timed}. Tokens per target pass:",
        "",
        "| drafter | γ | " + " | ".join(kinds) + " | speed-up (95 %) | E / (d + v + o) |",
        "|" + "---|" * (len(kinds) + 4),
    ]
    for arm in dict.fromkeys(r["arm"] for r in rows if r["gamma"] is not None):  # our drafters, not the peers
        mine = {r["kind"]: r for r in rows if r["arm"] == arm}
        whole = mine["overall"]
        ends = whole["ratio_interval"]  # null for few prompts
        interval = f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else ""
        lines.append(
            f"| {arm} | {whole['gamma']} | "
            + " | ".join(f"{mine[k]['tokens_per_pass']:.2f}" for k in kinds)
            + f" | {whole['ratio_to_plain']:.2f}{interval} | {whole['ratio_from_parts']:.2f} |"
        )
    repeated = ", ".join(f"{r['kind']} {r['repetition']:.0%}" for r in rows[: len(kinds)])
    lines += [
        "",
        "The last column is bookkeeping: its parts come from the rounds that the clock timed, so it must nearly "
        "agree with the speed-up.",
    ]
    lines += ["", f"Repetition in the target's own answers (4-grams that stood there before): {repeated}."]
    return "\n".join(lines)


if __name__ == "__main__":
    card(Path(sys.argv[1]), Path(sys.argv[2]), [Path(p) for p in sys.argv[3:]])
