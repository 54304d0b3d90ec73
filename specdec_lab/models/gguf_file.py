"""The course's draft model as a GGUF file, so that llama.cpp can draft with it."""

from pathlib import Path

from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, quants
from torch import Tensor
from transformers import PreTrainedModel

from specdec_lab.models.fast import paired

PARTS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def write_draft(draft: PreTrainedModel, target: Path, path: Path) -> Path:
    """Write the draft model to `path`, its matrices in 8 bits; all it says of itself is the target's, but the layers.

    Args:
        draft: a Llama of transformers.
        target: the target's GGUF file, whose tokenizer the draft has.
    """
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
        for ours, theirs in PARTS.items():
            weight = layer.get_submodule(ours).weight
            if n := heads.get(theirs):  # llama.cpp turns dimensions 2i and 2i + 1 together, not i and i + D/2
                weight, _ = paired((weight, None), n, 1.0)
            add(f"blk.{i}.{theirs}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
