"""Attention that a forward writes out by itself and hands to no attention interface.

Queries, keys, values, scores and patterns are operations of that forward, and each family names its own. Two values are
where they are in all of these forwards: the mask is an argument, and what the heads read enters the output projection
side by side.
"""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from interp_components.layouts import HeadOutputs, Keys, Mask, Queries, Values
from interp_components.properties import CopyEProperty, EProperty
from interp_components.standard.attention import Attention
from interp_components.standard.calls import argument
from interp_components.standard.reasons import needs_eager


class WrittenOutAttention(Attention):
    """Attention without the interface."""

    @CopyEProperty("inputs", select="attention_mask", unavailable=needs_eager)
    def attention_mask(self, value: Tensor) -> Mask:
        """What is added to the scores; very negative where a query may not look.

        A copy: the blocks of a model share one mask, and an edit is meant for this block.
        """
        return value

    @EProperty("o_proj.input")
    def attention_head_outputs(self, value: Tensor) -> HeadOutputs:
        """What each head read, ahead of the output projection."""
        return value.view(*value.shape[:-1], self.num_heads, self.head_dim)

    @attention_head_outputs.postprocess
    def _flattened(self, value: Tensor) -> Tensor:
        return value.flatten(-2)


class CachingAttention(WrittenOutAttention):
    """Attention whose forward takes keys and values out of the cache when there is one.

    Attributes:
        queries_operation, keys_operation, values_operation: the operations that bind them.
        cache_operation: the call that returns the pair of keys and values.
    """

    queries_operation: ClassVar[str]
    keys_operation: ClassVar[str]
    values_operation: ClassVar[str]
    cache_operation: ClassVar[str]

    def has_cache(self) -> bool:
        """Whether the present call is given a cache."""
        return argument(self, "cache") is not None

    def queries_key(self) -> str:
        """Where the queries are. Asks for the cache, since keys and values, which come next, could not ask any more."""
        self.has_cache()
        return f"source.{self.queries_operation}.output"

    def _taken(self, operation: str) -> str:
        return f"source.{self.cache_operation if self.has_cache() else operation}.output"

    @EProperty(queries_key)
    def attention_queries(self, value: Tensor) -> Queries:
        """Queries as the scores see them."""
        return value

    @EProperty(lambda self: self._taken(self.keys_operation), select=lambda self: 0 if self.has_cache() else None)
    def attention_keys(self, value: Tensor) -> Keys:
        """Keys as the scores see them, after the cache."""
        return value

    @EProperty(lambda self: self._taken(self.values_operation), select=lambda self: 1 if self.has_cache() else None)
    def attention_values(self, value: Tensor) -> Values:
        """Values that the pattern mixes, after the cache."""
        return value
