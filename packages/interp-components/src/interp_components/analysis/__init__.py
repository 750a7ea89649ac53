"""What people do every day with a model, on the standard names: `logit_lens(model, "The Eiffel Tower is in")`.

One module for each question; everything public imports from here.
"""

from interp_components.analysis.ablation import AblationError, ablate, ablated
from interp_components.analysis.inputs import AlignmentError
from interp_components.analysis.metrics import LogitDifference, logit_difference
from interp_components.analysis.patching import patch
from interp_components.analysis.sweeps import Sweep
from interp_components.analysis.tokens import TargetCollision, first_tokens

__all__ = [
    "AblationError",
    "AlignmentError",
    "LogitDifference",
    "Sweep",
    "TargetCollision",
    "ablate",
    "ablated",
    "first_tokens",
    "logit_difference",
    "patch",
]
