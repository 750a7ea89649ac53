"""The main door: `model = StandardizedTransformer("openai-community/gpt2")`."""

from interp_components.model.failures import GuessedFamilyWarning, GuessedTokensWarning, LoadError, UnsupportedFamily
from interp_components.model.inputs import InputError, TokenizerNeeded
from interp_components.model.keywords import UnknownKeyword
from interp_components.model.transformer import StandardizedTransformer

__all__ = [
    "GuessedFamilyWarning",
    "GuessedTokensWarning",
    "InputError",
    "LoadError",
    "StandardizedTransformer",
    "TokenizerNeeded",
    "UnknownKeyword",
    "UnsupportedFamily",
]
