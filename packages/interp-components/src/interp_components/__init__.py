"""Read and edit what happens inside a transformers model, under one set of standard names.

    with model.trace("The Eiffel Tower is in"):
        hidden = model.layers[5].layer_output.save()

Everything public imports from here, when it is first asked for: importing the package alone imports neither torch nor
transformers, which together take seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from interp_components._version import __version__

if TYPE_CHECKING:
    from interp_components import analysis
    from interp_components.errors import (
        AliasError,
        BarrierError,
        BatchError,
        CacheError,
        InterpError,
        MovedOperationWarning,
        NestedRunError,
        NoEffectError,
        NoEffectWarning,
        OutOfOrderError,
        OutsideTraceError,
        RowsError,
        SourceNotAvailable,
        Unavailable,
    )
    from interp_components.keys import KeyPathError
    from interp_components.layouts import (
        ChannelGates,
        ExpertIndices,
        ExpertOutputs,
        ExpertWeights,
        Gates,
        HeadOutputs,
        ImageFeatures,
        ImageTokenMask,
        Keys,
        LinearQK,
        LinearV,
        Logits,
        Mask,
        Neurons,
        NextTokenProbs,
        Patches,
        Pattern,
        Queries,
        Residual,
        RouterLogits,
        ScanDecays,
        ScanQK,
        ScanState,
        ScanStates,
        ScanSteps,
        ScanValues,
        SSDHeadOutputs,
        SSDKeys,
        SSDQueries,
        SSDValues,
        State,
        States,
        StreamMixing,
        Streams,
        StreamWeights,
        Tokens,
        Values,
    )
    from interp_components.model import (
        GuessedFamilyWarning,
        GuessedTokensWarning,
        InputError,
        LoadError,
        StandardizedTransformer,
        TokenizerNeeded,
        UnknownKeyword,
        UnsupportedFamily,
    )
    from interp_components.properties import (
        FIRST,
        CopyEProperty,
        DerivedEProperty,
        EProperty,
        SelectionError,
        unavailable,
    )
    from interp_components.saving import save
    from interp_components.standard import (
        Attention,
        Layer,
        Mlp,
        Moe,
        ParallelLayer,
        PostNormAttention,
        PostNormMlp,
        ResidualEProperty,
        Root,
        ScaledEProperty,
        Standard,
        TokenEProperty,
        interface_reason,
        needs_eager,
        needs_interface,
    )
    from interp_components.tracing import Envoy

# Public names by the room that they live in.
_ROOMS = {
    "errors": (
        "AliasError BarrierError BatchError CacheError InterpError MovedOperationWarning NestedRunError NoEffectError NoEffectWarning "
        "OutOfOrderError OutsideTraceError RowsError SourceNotAvailable Unavailable"
    ),
    "keys": "KeyPathError",
    "layouts": (
        "ChannelGates ExpertIndices ExpertOutputs ExpertWeights Gates HeadOutputs ImageFeatures ImageTokenMask Keys "
        "LinearQK LinearV Logits Mask Neurons NextTokenProbs Patches Pattern Queries Residual RouterLogits SSDHeadOutputs "
        "SSDKeys SSDQueries SSDValues ScanDecays ScanQK ScanState ScanStates ScanSteps ScanValues State States "
        "StreamMixing StreamWeights Streams Tokens Values"
    ),
    "model": (
        "GuessedFamilyWarning GuessedTokensWarning InputError LoadError StandardizedTransformer TokenizerNeeded "
        "UnknownKeyword UnsupportedFamily"
    ),
    "properties": "FIRST CopyEProperty DerivedEProperty EProperty SelectionError unavailable",
    "saving": "save",
    "standard": (
        "Attention Layer Mlp Moe ParallelLayer PostNormAttention PostNormMlp ResidualEProperty Root ScaledEProperty "
        "Standard TokenEProperty interface_reason needs_eager needs_interface"
    ),
    "tracing": "Envoy",
}
# Rooms that are imported as a whole, `interp_components.analysis.patch`, when they are first asked for.
_WHOLE = ("analysis",)
_HOMES = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = [
    "FIRST",
    "AliasError",
    "Attention",
    "BarrierError",
    "BatchError",
    "CacheError",
    "ChannelGates",
    "CopyEProperty",
    "DerivedEProperty",
    "EProperty",
    "Envoy",
    "ExpertIndices",
    "ExpertOutputs",
    "ExpertWeights",
    "Gates",
    "GuessedFamilyWarning",
    "GuessedTokensWarning",
    "HeadOutputs",
    "ImageFeatures",
    "ImageTokenMask",
    "InputError",
    "InterpError",
    "KeyPathError",
    "Keys",
    "Layer",
    "LinearQK",
    "LinearV",
    "LoadError",
    "Logits",
    "Mask",
    "Mlp",
    "Moe",
    "MovedOperationWarning",
    "NestedRunError",
    "Neurons",
    "NextTokenProbs",
    "NoEffectError",
    "NoEffectWarning",
    "OutOfOrderError",
    "OutsideTraceError",
    "ParallelLayer",
    "Patches",
    "Pattern",
    "PostNormAttention",
    "PostNormMlp",
    "Queries",
    "Residual",
    "ResidualEProperty",
    "Root",
    "RouterLogits",
    "RowsError",
    "SSDHeadOutputs",
    "SSDKeys",
    "SSDQueries",
    "SSDValues",
    "ScaledEProperty",
    "ScanDecays",
    "ScanQK",
    "ScanState",
    "ScanStates",
    "ScanSteps",
    "ScanValues",
    "SelectionError",
    "SourceNotAvailable",
    "Standard",
    "StandardizedTransformer",
    "State",
    "States",
    "StreamMixing",
    "StreamWeights",
    "Streams",
    "TokenEProperty",
    "TokenizerNeeded",
    "Tokens",
    "Unavailable",
    "UnknownKeyword",
    "UnsupportedFamily",
    "Values",
    "__version__",
    "analysis",
    "interface_reason",
    "needs_eager",
    "needs_interface",
    "save",
    "unavailable",
]


def __getattr__(name: str) -> object:
    """Import a public name from its room when it is first asked for."""
    if name in _WHOLE:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
