"""Self-attention, from `model.layers[0].self_attn.attention_probabilities`.

Most attentions of transformers hand queries, keys and values to one call, the attention interface, after rotary
embedding, norms and the cache. This call is where the standard values are read: its arguments under every kernel, and
what happens inside under the eager one, which alone writes scores and patterns out.

    attn_output, attn_weights = attention_interface(self, query, key, value, attention_mask, ...)

Source: e.g. LlamaAttention.forward and eager_attention_forward, transformers 5.24. The assignment that binds
`attention_interface` is its operation 0, the call is operation 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from torch import Tensor

from interp_components.layouts import HeadOutputs, Keys, Mask, Pattern, Queries, Residual, Values
from interp_components.properties import FIRST, CopyEProperty, EProperty
from interp_components.standard import sizes
from interp_components.standard.base import Standard
from interp_components.standard.reasons import interface_reason, needs_interface

if TYPE_CHECKING:
    from interp_components.standard.parts import TensorEnvoy

INTERFACE: Final = "source.attention_interface_1"


class Attention(Standard):
    """The self-attention of a block.

    Attributes:
        SINK: Whether a row of the pattern also attends to something that is no position, so that it sums to less than 1.
    """

    o_proj: TensorEnvoy
    returns_tuple = True
    SINK: ClassVar[bool] = False

    def off_interface(self) -> str | None:
        """Return why this module does not call the attention interface, or None when it does."""
        return None

    @EProperty("input")
    def attention_input(self, value: Tensor) -> Residual:
        """What the module is given: the residual stream, after the norm in front."""
        return value

    @EProperty(f"{INTERFACE}.inputs", select=1, unavailable=needs_interface)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them, after norm and rotary."""
        return value

    @EProperty(f"{INTERFACE}.inputs", select=2, unavailable=needs_interface)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after norm, rotary and cache, one per key-value head."""
        return value

    @EProperty(f"{INTERFACE}.inputs", select=3, unavailable=needs_interface)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache, one per key-value head."""
        return value

    @CopyEProperty(f"{INTERFACE}.inputs", select=4, unavailable=interface_reason)
    def attention_mask(self, value: Tensor) -> Mask:
        """What is added to the scores; very negative where a query may not look.

        A copy: the blocks of a model share one mask, and an edit is meant for this block.
        """
        return value

    @EProperty(f"{INTERFACE}.source.nn_functional_softmax_0.input", unavailable=interface_reason)
    def attention_scores(self, value: Tensor) -> Pattern:
        """Scaled, capped and masked scores that enter the softmax."""
        return value

    @EProperty(f"{INTERFACE}.source.nn_functional_dropout_0.output", unavailable=interface_reason)
    def attention_probabilities(self, value: Tensor) -> Pattern:
        """The pattern that mixes the values; each row is over the keys."""
        return value

    @EProperty(f"{INTERFACE}.output", select=0, unavailable=needs_interface)
    def attention_head_outputs(self, value: Tensor) -> HeadOutputs:
        """What each head read, ahead of the output projection."""
        return value

    @EProperty("output", select=FIRST)
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream."""
        return value

    @property
    def num_heads(self) -> int:
        """Number of query heads."""
        return sizes.module_int(self._module, "num_heads", "num_attention_heads", "n_heads", "n_head") or (
            sizes.in_width(self, "num_heads", "o_proj", "out_proj", "dense", "c_proj", "wo") // self.head_dim
        )

    @property
    def num_kv_heads(self) -> int:
        """Number of heads of keys and values, fewer than `num_heads` under grouped attention."""
        heads = sizes.module_int(self._module, "num_key_value_heads", "num_kv_heads", "kv_heads", "n_kv_heads")
        if heads is not None:
            return heads
        groups = sizes.module_int(self._module, "num_key_value_groups")
        return self.num_heads // groups if groups else self.num_heads

    @property
    def head_dim(self) -> int:
        """Width of a head's value."""
        return sizes.require(self, "head_dim", sizes.module_int(self._module, "v_head_dim", "head_dim", "head_size"))

    @property
    def qk_head_dim(self) -> int:
        """Width of a head's query and key."""
        return sizes.module_int(self._module, "qk_head_dim") or self.head_dim
