"""A Llama of any size with random weights: the text is noise, the timing is real."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.errors import LabError
from specdec_lab.models.load import wrapped
from specdec_lab.models.reference import ReferenceModel

SHAPES = {  # billions of weights → hidden size, layers, intermediate size, heads, KV heads
    8.0: (4096, 32, 14336, 32, 8),
    3.2: (3072, 28, 8192, 24, 8),
    1.2: (2048, 16, 8192, 32, 8),
    0.1: (768, 8, 3072, 12, 4),
}
VOCABULARY = 128_256


def noise_model(device: torch.device, dtype: torch.dtype, gigabytes: float) -> ReferenceModel:
    """A Llama with random weights, of the largest of SHAPES that fits into `gigabytes`.

    The fast backend keeps a second copy of the weights, so each counts twice.

    Raises:
        LabError: when not even the smallest fits.
    """
    billions = next((b for b in SHAPES if 2 * b * dtype.itemsize <= gigabytes), None)
    if billions is None:
        raise LabError(f"{gigabytes:.1f} GB are too few for a model of any size.")
    return noise_llama(*SHAPES[billions], vocabulary=VOCABULARY, device=device, dtype=dtype)


def noise_llama(
    hidden: int,
    layers: int,
    inner: int,
    heads: int,
    kv_heads: int,
    vocabulary: int,
    device: torch.device,
    dtype: torch.dtype,
) -> ReferenceModel:
    """A Llama of this shape with random weights; its head is its embedding table.

    Args:
        hidden: H, the width of its rows. inner: the width inside of each MLP.
    """
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "intermediate_size": inner, "vocab_size": vocabulary}
    attention = {"num_attention_heads": heads, "num_key_value_heads": kv_heads, "max_position_embeddings": 4096}
    config = LlamaConfig.from_dict({**sizes, **attention, "tie_word_embeddings": True})
    with torch.device(device):
        hf = LlamaForCausalLM._from_config(config, dtype=dtype)
    weights = sum(p.numel() for p in hf.parameters())
    return wrapped(hf.eval(), f"{layers} layers, {weights / 1e6:,.1f} million random weights")
