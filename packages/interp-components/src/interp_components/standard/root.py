"""The whole model, from `model.logits`, `model.num_heads` and `model.project_on_vocab(hidden)`.

`Root` is what a loaded transformer is a subclass of. It says what is at the two ends of every decoder, how large the
model is, and what people do with all its blocks at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from interp_components.display import SupportTable
from interp_components.layouts import Logits, NextTokenProbs, Residual, Tokens
from interp_components.properties import DerivedEProperty, EProperty
from interp_components.standard import support, vocabulary
from interp_components.standard.base import Standard
from interp_components.standard.family import Family
from interp_components.standard.layer import Layer
from interp_components.standard.sizes import Size

if TYPE_CHECKING:
    from interp_components.standard.parts import Layers, TensorEnvoy

Index = int | slice | Sequence[int] | None


def _next_token_probs(model: Root) -> NextTokenProbs:
    return torch.softmax(model.logits[:, -1], dim=-1)


def _input_size(model: Root) -> torch.Size:
    return torch.Size(model.input_ids.shape)


def _no_norm(model: Root) -> str | None:
    if getattr(model, "norm", None) is not None:
        return None
    return "this model has no norm behind its blocks; read the last block's layer_output"


class Root(Standard):
    """The root of a decoder: `embed_tokens`, `layers`, `norm`, `lm_head` and what goes in and comes out.

    Attributes:
        family: The description of the architecture, which may define sizes and the projection on the vocabulary.
        tokenizer: What turns token ids into text.
    """

    embed_tokens: TensorEnvoy
    layers: Layers
    norm: TensorEnvoy
    lm_head: TensorEnvoy
    family: Family | None = None
    tokenizer: Any = None  # Any: transformers' tokenizers share no typed base class

    @EProperty("inputs", select="input_ids")
    def input_ids(self, value: Tensor) -> Tokens:
        """Token ids that the model is given."""
        return value

    @EProperty("inputs", select="attention_mask")
    def attention_mask(self, value: Tensor) -> Tokens:
        """1 for each token and 0 for padding, as the model is given it."""
        return value

    input_size = DerivedEProperty(_input_size, description="Batch and sequence length", instead="input_ids")

    @EProperty("embed_tokens.output")
    def token_embeddings(self, value: Tensor) -> Residual:
        """What the embedding makes of the tokens."""
        return value

    @EProperty("norm.output", unavailable=_no_norm)
    def final_norm_output(self, value: Tensor) -> Residual:
        """The residual stream after the last norm, as the output head sees it."""
        return value

    @EProperty("output", select="logits")
    def logits(self, value: Tensor) -> Logits:
        """Scores of the next token, after whatever the family does to them last."""
        return value

    next_token_probs = DerivedEProperty(
        _next_token_probs, description="Probabilities of the token after the last one", instead="logits"
    )

    @Size
    def num_layers(self) -> int:
        """Number of blocks."""
        return len(self.layers)

    @Size
    def hidden_size(self) -> int:
        """Width of the residual stream."""
        return int(self.text_config.hidden_size)

    @Size
    def vocab_size(self) -> int:
        """Number of tokens that the model scores."""
        return int(self.text_config.vocab_size)

    @Size
    def num_heads(self) -> int:
        """Number of query heads of a block."""
        return int(self.text_config.num_attention_heads)

    @Size
    def num_kv_heads(self) -> int:
        """Number of heads of keys and values of a block."""
        return int(getattr(self.text_config, "num_key_value_heads", None) or self.num_heads)

    @Size
    def head_dim(self) -> int:
        """Width of a head's value."""
        return int(getattr(self.text_config, "head_dim", None) or self.hidden_size // self.num_heads)

    @Size
    def qk_head_dim(self) -> int:
        """Width of a head's query and key."""
        return int(self.head_dim)

    @Size
    def intermediate_size(self) -> int:
        """Number of neurons of a block's MLP."""
        return int(self.text_config.intermediate_size)

    @property
    def text_config(self) -> Any:
        """The config of the language model, also where it is one part of a larger one."""
        return self.config.get_text_config()

    def skip_layer(self, layer: int, skip_with: Tensor | None = None) -> None:
        """Leave one block out: it returns what it is given, or `skip_with`."""
        self.skip_layers(layer, layer, skip_with)

    def skip_layers(self, start: int, end: int, skip_with: Tensor | None = None) -> None:
        """Leave the blocks `start` to `end` out, both included; negative numbers count from the last block.

        The blocks return what the first of them is given, or `skip_with`.
        """
        first, last = (layer + self.num_layers if layer < 0 else layer for layer in (start, end))
        if not 0 <= first <= last < self.num_layers:
            raise ValueError(f"skip_layers({start}, {end}) names no range of blocks; the model has {self.num_layers}")
        hidden = self._block(first).layer_input if skip_with is None else skip_with
        for layer in range(first, last + 1):
            self._block(layer).skip_with(hidden)

    def steer(
        self,
        layers: int | Iterable[int],
        vector: Tensor,
        factor: float = 1.0,
        token_positions: Index = None,
        batch_index: Index = None,
    ) -> None:
        """Add `factor * vector` to the output of blocks, in place, in the order in which the blocks run.

        Args:
            layers: One block or several; negative numbers count from the last block.
            vector: [hidden], or what broadcasts to [batch, seq, hidden] of the chosen rows and positions.
            factor: How much of it.
            token_positions: Positions to steer; all of them when None.
            batch_index: Rows to steer; all of them when None.

        Raises:
            ValueError: The model has no such block.
        """
        count = self.num_layers
        asked = [layers] if isinstance(layers, int) else list(layers)
        outside = [layer for layer in asked if not -count <= layer < count]
        if outside:
            raise ValueError(f"steer({layers!r}, ...) names no block by {outside}; the model has {count}")
        for layer in sorted({layer % count for layer in asked}):
            hidden = self._block(layer).layer_output
            rows = _chosen(hidden.shape[0], batch_index)[:, None]
            positions = _chosen(hidden.shape[1], token_positions)[None, :]
            hidden[rows, positions] += factor * vector.to(hidden)

    def project_on_vocab(self, hidden: Tensor) -> Tensor:
        """Return the logits of a residual stream, [..., vocab]: at the last block's output, those of the model."""
        project = getattr(self.family, "project_on_vocab", None)
        logits: Tensor = self.lm_head(self.norm(hidden)) if project is None else project(self, hidden)
        return logits

    def get_topk_closest_tokens(self, hidden: Tensor, k: int = 5) -> list[dict[str, float]]:
        """Return the `k` likeliest tokens of each row of a residual stream with their probabilities."""
        probs = self.project_on_vocab(hidden).softmax(dim=-1)
        return [self.probs_to_dict(row, k) for row in probs.reshape(-1, probs.shape[-1])]

    def probs_to_dict(self, probs: Tensor, k: int = 5) -> dict[str, float]:
        """Return the `k` likeliest tokens of one distribution, likeliest first."""
        return vocabulary.topk_by_text(self.tokenizer, probs, k)

    def support(self, layer: int | None = None) -> SupportTable:
        """Return what is there and why the rest is not.

        Of one block when `layer` is given, else of the root and of all blocks: then a reason is a dict from block to
        reason, since blocks of one model can differ.
        """
        if layer is not None:
            return SupportTable(support.of_block(self._block(layer)))
        return SupportTable({**super().support(), **support.of_blocks(list(self.layers))})

    def _block(self, layer: int) -> Layer:
        return self.layers[layer]


def _chosen(count: int, index: Index) -> Tensor:
    """Return the chosen numbers below `count` as a tensor of rank 1."""
    return torch.arange(count)[slice(None) if index is None else index].reshape(-1)
