"""What people do every day with a model, on the standard names: `logit_lens(model, "The Eiffel Tower is in")`.

One module for each question; everything public imports from here.
"""

from interp_components.analysis.ablation import AblationError, ablate, ablated
from interp_components.analysis.attribution import Attribution, direct_logit_attribution
from interp_components.analysis.collection import Activations, Collected, CollectionError, collect
from interp_components.analysis.gradients import GradientlessMetric, attribution_patch
from interp_components.analysis.heads import HeadScores, induction_scores, previous_token_scores
from interp_components.analysis.inputs import AlignmentError
from interp_components.analysis.lens import Lens, TranslatorError, logit_lens
from interp_components.analysis.metrics import LogitDifference, logit_difference
from interp_components.analysis.patching import patch
from interp_components.analysis.patchscopes import Patchscope, patchscope
from interp_components.analysis.paths import path_patch
from interp_components.analysis.prompts import Prompt, TargetError, target_probabilities
from interp_components.analysis.steering import SteeringError, steer, steering_vector
from interp_components.analysis.sweeps import Sweep
from interp_components.analysis.tokens import TargetCollision, first_tokens

__all__ = [
    "AblationError",
    "Activations",
    "AlignmentError",
    "Attribution",
    "Collected",
    "CollectionError",
    "GradientlessMetric",
    "HeadScores",
    "Lens",
    "LogitDifference",
    "Patchscope",
    "Prompt",
    "SteeringError",
    "Sweep",
    "TargetCollision",
    "TargetError",
    "TranslatorError",
    "ablate",
    "ablated",
    "attribution_patch",
    "collect",
    "direct_logit_attribution",
    "first_tokens",
    "induction_scores",
    "logit_difference",
    "logit_lens",
    "patch",
    "patchscope",
    "path_patch",
    "previous_token_scores",
    "steer",
    "steering_vector",
    "target_probabilities",
]
