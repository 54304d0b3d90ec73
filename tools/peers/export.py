"""The course's draft model as other programs can use it: a whole Llama of transformers, and a GGUF file.

`python tools/peers/export.py FOLDER` saves it as a plain Llama folder, for transformers and other engines.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec_lab import load
from specdec_lab.drafters import trained
from specdec_lab.errors import LabError
from specdec_lab.files import new_folder
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import read_prompts
from specdec_lab.models.fast import paired
from specdec_lab.models.reference import Loaded

LEFT_OUT_LOGIT = -30.0  # what tokens get that a cut head leaves out: far below those of the others
# How the parts of a layer are called by transformers, and in a GGUF file.
GGUF_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


@torch.no_grad()
def whole_llama(net: Any, target: Loaded, texts: Sequence[Sequence[int]]) -> LlamaForCausalLM:
    """The draft model as any other program can use it: a plain Llama with the target's whole vocabulary.

    Tokens outside the cut head need rows of the head, too, whose logits must be below the others. All of them get the
    same row: the one whose logit is nearest to LEFT_OUT_LOGIT over all positions of some texts (least squares).

    Args:
        net: a `drafters.model.DraftNet`.
        texts: token ids as the target's users and the target write them; random ones have other hidden rows.
    """
    config = type(target.config).from_dict(
        target.config.to_dict() | {"num_hidden_layers": len(net.llama.model.layers), "tie_word_embeddings": False}
    )
    whole = LlamaForCausalLM(config).to(target.device, target.dtype)
    whole.model.load_state_dict(net.llama.model.state_dict(), strict=False)
    whole.model.rotary_emb = net.llama.model.rotary_emb
    whole.model.embed_tokens.weight.copy_(net.llama.model.embed_tokens.weight)
    read = (torch.tensor([text], device=target.device)[:, : config.max_position_embeddings] for text in texts)
    rows = torch.cat([net.llama.model(ids).last_hidden_state[0] for ids in read])
    rows = rows.double().cpu()  # There least squares also takes rows that depend on each other.
    low = torch.linalg.lstsq(rows, torch.full((len(rows), 1), LEFT_OUT_LOGIT, dtype=rows.dtype)).solution[:, 0]
    whole.lm_head.weight.copy_(low.to(whole.lm_head.weight).expand_as(whole.lm_head.weight))
    whole.lm_head.weight[net.head.ids] = net.head.weight
    return whole.eval()


def write_draft(draft: PreTrainedModel, target: Path, path: Path) -> Path:
    """Write the draft model to `path` as a GGUF file, which llama.cpp drafts with.

    Its matrices are in 8 bits; all it says of itself is the target's, but the number of layers.

    Args:
        draft: a Llama of transformers.
        target: the target's GGUF file, whose tokenizer the draft has.
    """
    from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants

    reader, writer = GGUFReader(target), GGUFWriter(path, "llama")
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", "llama.block_count"):
            continue
        kind, inner = field.types[0], field.types[-1] if len(field.types) > 1 else None
        writer.add_key_value(key, field.contents(), kind, inner if kind == GGUFValueType.ARRAY else None)
    writer.add_block_count(draft.config.num_hidden_layers)

    def add(name: str, weight: Tensor) -> None:
        numbers = weight.detach().float().cpu().numpy()
        if weight.dim() == 1:
            writer.add_tensor(name, numbers)
        else:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(name, quants.quantize(numbers, kind), raw_dtype=kind)

    body, config = draft.model, draft.config
    add("token_embd.weight", body.embed_tokens.weight)
    add("output_norm.weight", body.norm.weight)
    add("output.weight", draft.lm_head.weight)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    for i, layer in enumerate(body.layers):
        for ours, theirs in GGUF_NAMES.items():
            weight = layer.get_submodule(ours).weight
            if n := heads.get(theirs):  # llama.cpp turns dimensions 2i and 2i + 1 together, not i and i + D/2
                weight, _ = paired((weight, None), n, 1.0)
            add(f"blk.{i}.{theirs}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def plain_draft(lab: Lab) -> PreTrainedModel:
    """The draft model as a whole model of `transformers`.

    Raises:
        LabError: when there is no draft model.
    """
    if lab.draft is not None:
        if lab.draft.ids is not None:
            raise LabError("The course's draft model stands alone only for its own target: name a draft by path.")
        return lab.draft.hf
    net = trained.load_net("model", lab.target, lab.weights)
    return whole_llama(net, lab.target.hf, [lab.encode(p.content, p.raw) for p in read_prompts()])


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where to save it: a new or an empty folder")
    parser.add_argument("--target", default="embedded", help="hub name or path")
    parser.add_argument("--weights", help="folder of trained drafters (default: those of the course)")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args(argv)
    try:
        folder = new_folder(args.folder)
        lab = load(args.target, device=args.device, weights=args.weights)
        plain_draft(lab).save_pretrained(folder)
        lab.tokenizer.save_pretrained(folder)
    except LabError as e:
        parser.exit(2, f"{e}\n")
    print(f"The draft model is in {args.folder}.")


if __name__ == "__main__":
    main()
