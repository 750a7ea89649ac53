"""Logits that the model bends below a cap at the very end, for `project_on_vocab` in the families that do.

logits = torch.tanh(logits / self.config.final_logit_softcapping) * self.config.final_logit_softcapping
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits of a stream, capped where the config has a cap."""
    # Any: the root has the modules of its model.
    logits: Tensor = model.lm_head(model.norm(hidden))
    cap = model.text_config.final_logit_softcapping
    return logits if cap is None else cap * torch.tanh(logits / cap)
