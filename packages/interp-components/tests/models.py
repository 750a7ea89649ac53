"""Tiny random models in which no two axes have the same size, so that a wrong axis shows in a shape.

Their weights are large enough for scores, norms and gates to matter: at the usual scale every pattern is uniform, and a
missing norm or a wrong head order would pass unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel

from interp_components import families
from interp_components.interleaving import Batch, Rows, Run, Worker
from interp_components.standard import Root

BATCH: Final = 3
SEQ: Final = 7
LAYERS: Final = 2
HEADS: Final = 6
KV_HEADS: Final = 2  # below HEADS and no axis besides it, so a batch or layer count cannot be taken for it
HEAD_DIM: Final = 10
HIDDEN: Final = 24
HIDDEN_OF_HEADS: Final = 48
"""The width where a family computes `head_dim` as width per head, which then is 8."""
INTERMEDIATE: Final = 40
VOCAB: Final = 97

TOKENS: Final = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def llama_like(**changes: Any) -> dict[str, Any]:
    """Config arguments under the names that llama and its likes use; `name=...` (an Ellipsis) drops one."""
    arguments = {
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": INTERMEDIATE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "max_position_embeddings": 64,
        **TOKENS,
        **changes,
    }
    return {name: value for name, value in arguments.items() if value is not ...}


def hidden_of_heads(**changes: Any) -> dict[str, Any]:
    """As `llama_like`, for families whose heads share the width of the residual stream."""
    return llama_like(**{"hidden_size": HIDDEN_OF_HEADS, "head_dim": ..., **changes})


def build(
    config: PreTrainedConfig, attention: str = "eager", model_class: Any = AutoModelForCausalLM
) -> PreTrainedModel:
    """A model with the same random weights every time; float32, in evaluation mode."""
    torch.manual_seed(0)
    make = getattr(model_class, "from_config", None) or model_class._from_config
    model: PreTrainedModel = make(config, attn_implementation=attention)
    _randomize(model)
    return model.eval()


def _randomize(model: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.2 if parameter.ndim == 1 else 1.05 / parameter.shape[-1] ** 0.5
            parameter.add_(scale * torch.randn(parameter.shape, generator=generator))


def inputs(padded: bool = True) -> dict[str, Tensor]:
    """Token ids and their mask; the second row starts with two tokens of padding."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, VOCAB, (BATCH, SEQ), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        ids[1, :2] = 0
        mask[1, :2] = 0
    return {"input_ids": ids, "attention_mask": mask}


def wrap(model: PreTrainedModel) -> Root:
    """The model under its family's names, without tokenizer and loading."""
    family = families.lookup(model.config.get_text_config().model_type)
    assert family is not None
    root = Root(model, rename=family.RENAME, envoys=family.ENVOYS)
    root.family = family
    return root


def run(root: Root, *blocks: Callable[[], object], padded: bool = True) -> Tensor:
    """Run the model without gradients, with functions as its blocks, and return the logits."""
    call = inputs(padded)
    with torch.no_grad():
        output: Any = Run(root._input, [Worker(block) for block in blocks]).execute(lambda: root._module(**call))
    logits: Tensor = output.logits
    return logits


def run_rows(root: Root, rows: int, block: Callable[[], object]) -> Tensor:
    """Run a function as the block of the first rows of the batch, beside one that looks at the others."""
    batch, call = Batch(BATCH), inputs()
    workers = [Worker(block, Rows(0, rows, batch)), Worker(lambda: root.logits, Rows(rows, BATCH - rows, batch))]
    with torch.no_grad():
        output: Any = Run(root._input, workers, batch).execute(lambda: root._module(**call))
    logits: Tensor = output.logits
    return logits
