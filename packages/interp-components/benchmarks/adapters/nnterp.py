"""nnterp, under its standard names. Its last release runs on nnsight 0.7."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from shapes import tokenizer
from torch import Tensor

from adapters.base import GENERATION
from adapters.traced import Traced

nnterp: Any = importlib.import_module("nnterp")
names: Any = importlib.import_module("nnterp.rename_utils")


class Standard(Traced):
    save = staticmethod(importlib.import_module("nnsight").save)

    def set_up(self) -> None:
        eager = self.module.config._attn_implementation == "eager"
        # Its own source of GPT-2's patterns does not fit transformers 5.24; the default one does.
        config = names.RenameConfig(attn_prob_source=names.default_attention_prob_source)
        self.model: Any = nnterp.StandardizedTransformer(
            self.module,
            tokenizer=tokenizer(self.name),
            device_map=None,
            rename_config=config,
            **({"enable_attention_probs": True} if eager else {}),
        )

    # What follows differs in names alone, and leaves out what nnterp does not do right: its cache raises, and its
    # invokes give other values than one batch does.
    cache_all = invokes = head_patching = None  # type: ignore[assignment]  # not measured

    def save_one(self, prompts: list[Tensor]) -> Any:
        model, middle = self.model, self.middle
        with torch.no_grad(), model.trace(prompts[0]):
            hidden = model.layers_output[middle].save()
        return [hidden]

    def save_all(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            hidden = save([model.layers_output[layer] for layer in range(model.num_layers)])
        return hidden

    def save_parts(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            parts = save([])
            for layer in range(model.num_layers):
                parts.append(model.attentions_output[layer])
                parts.append(model.mlps_output[layer])
                parts.append(model.layers_output[layer])
        return parts

    def edit_one(self, prompts: list[Tensor]) -> Any:
        model, middle, step = self.model, self.middle, self.step
        with torch.no_grad(), model.trace(prompts[0]):
            model.layers_output[middle] = model.layers_output[middle] + step
            logits = model.logits.save()
        return logits

    def edit_all(self, prompts: list[Tensor]) -> Any:
        model, step = self.model, self.step
        with torch.no_grad(), model.trace(prompts[0]):
            for layer in range(model.num_layers):
                model.layers_output[layer] = model.layers_output[layer] + step
            logits = model.logits.save()
        return logits

    def pattern_one(self, prompts: list[Tensor]) -> Any:
        model, middle = self.model, self.middle
        with torch.no_grad(), model.trace(prompts[0]):
            found = model.attention_probabilities[middle].save()
        return [found]

    def pattern_all(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            found = save([model.attention_probabilities[layer] for layer in range(model.num_layers)])
        return found

    def gradients(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with model.trace(prompts[0]):
            hidden = [model.layers_output[layer] for layer in range(model.num_layers)]
            loss = model.logits.sum()
            with loss.backward():
                gradients = save([each.grad for each in reversed(hidden)])
        self.module.zero_grad(set_to_none=True)
        return list(reversed(gradients))

    def session(self, prompts: list[Tensor]) -> Any:
        model, middle = self.model, self.middle
        with torch.no_grad(), model.session():
            with model.trace(prompts[0]):
                kept = model.layers_output[middle]
            with model.trace(prompts[0]):
                model.layers_output[middle] = kept * 2
                logits = model.logits.save()
        return logits

    def logit_lens(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            logits = save([model.project_on_vocab(model.layers_output[each]) for each in range(model.num_layers)])
        return logits

    def generate(self, prompts: list[Tensor]) -> Any:
        model = self.model
        with model.generate(prompts[0], **GENERATION):
            ids = model.generator.output.save()
        return ids

    def generate_save(self, prompts: list[Tensor]) -> Any:
        model, middle, save = self.model, self.middle, self.save
        with model.generate(prompts[0], **GENERATION) as tracer:
            hidden = save([])
            for _ in tracer.iter[:32]:
                hidden.append(model.layers_output[middle])
        return hidden

    def generate_steer(self, prompts: list[Tensor]) -> Any:
        model, middle, step = self.model, self.middle, self.step
        with model.generate(prompts[0], **GENERATION) as tracer:
            for _ in tracer.iter[:32]:
                model.layers_output[middle] = model.layers_output[middle] + step
            ids = model.generator.output.save()
        return ids
