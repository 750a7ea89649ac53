"""What every decoder has, under one set of names: the root, the blocks, their attention and their MLP."""

from interp_components.standard.attention import Attention
from interp_components.standard.base import Standard
from interp_components.standard.family import Family
from interp_components.standard.layer import Layer, ParallelLayer
from interp_components.standard.mlp import LooseMlp, Mlp
from interp_components.standard.moe import Moe
from interp_components.standard.post_norm import (
    PostNormAttention,
    PostNormMlp,
    PostOnlyAttention,
    PostOnlyLayer,
    PostOnlyMlp,
    SandwichLayer,
)
from interp_components.standard.reasons import implementation, interface_reason, needs_eager, needs_interface
from interp_components.standard.residual import ResidualEProperty
from interp_components.standard.root import Root
from interp_components.standard.scaled import ScaledEProperty
from interp_components.standard.tokens import TokenEProperty
from interp_components.standard.written_out import CachingAttention, WrittenOutAttention

__all__ = [
    "Attention",
    "CachingAttention",
    "Family",
    "Layer",
    "LooseMlp",
    "Mlp",
    "Moe",
    "ParallelLayer",
    "PostNormAttention",
    "PostNormMlp",
    "PostOnlyAttention",
    "PostOnlyLayer",
    "PostOnlyMlp",
    "ResidualEProperty",
    "Root",
    "SandwichLayer",
    "ScaledEProperty",
    "Standard",
    "TokenEProperty",
    "WrittenOutAttention",
    "implementation",
    "interface_reason",
    "needs_eager",
    "needs_interface",
]
