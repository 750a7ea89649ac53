"""Libraries in which one writes `with model.trace(prompt):`; what they share is how their blocks read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from adapters.base import GENERATION, Adapter, batches


class Traced(Adapter):
    """Blocks under the native names of the modules.

    Attributes:
        model: the wrapped model.
        save: what keeps a value of a block.
    """

    model: Any
    save: Callable[[Any], Any]

    @property
    def block(self) -> Any:
        return self.model.linear if self.name == "toy" else self.model.transformer.h[self.middle]

    def empty(self, prompts: list[Tensor]) -> Any:
        model = self.model
        with torch.no_grad(), model.trace(prompts[0]):
            _ = 1

    def save_one(self, prompts: list[Tensor]) -> Any:
        model, block = self.model, self.block
        with torch.no_grad(), model.trace(prompts[0]):
            hidden = block.output.save()
        return [hidden]

    def save_all(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            hidden = save([block.output for block in model.transformer.h])
        return hidden

    def save_parts(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            parts = save([])
            for block in model.transformer.h:
                parts.append(block.attn.output[0])
                parts.append(block.mlp.output)
                parts.append(block.output)
        return parts

    def edit_one(self, prompts: list[Tensor]) -> Any:
        model, block, step = self.model, self.block, self.step
        with torch.no_grad(), model.trace(prompts[0]):
            block.output = block.output + step
            logits = model.output.logits.save()
        return logits

    def edit_all(self, prompts: list[Tensor]) -> Any:
        model, step = self.model, self.step
        with torch.no_grad(), model.trace(prompts[0]):
            for block in model.transformer.h:
                block.output = block.output + step
            logits = model.output.logits.save()
        return logits

    def pattern(self, block: Any) -> Any:
        """The pattern of one layer, inside a block."""
        return block.attn.source.attention_interface_1.source.nn_functional_dropout_0.output

    def pattern_one(self, prompts: list[Tensor]) -> Any:
        model, block, pattern = self.model, self.block, self.pattern
        with torch.no_grad(), model.trace(prompts[0]):
            found = pattern(block).save()
        return [found]

    def pattern_all(self, prompts: list[Tensor]) -> Any:
        model, pattern, save = self.model, self.pattern, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            found = save([pattern(block) for block in model.transformer.h])
        return found

    def cache_all(self, prompts: list[Tensor]) -> Any:
        model = self.model
        with torch.no_grad(), model.trace(prompts[0]) as tracer:
            _ = tracer.cache()

    def gradients(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with model.trace(prompts[0]):
            hidden = [block.output for block in model.transformer.h]
            with model.output.logits.sum().backward():
                gradients = save([each.grad for each in reversed(hidden)])
        self.module.zero_grad(set_to_none=True)
        return gradients[::-1]

    def session(self, prompts: list[Tensor]) -> Any:
        model, block = self.model, self.block
        with torch.no_grad(), model.session():
            with model.trace(prompts[0]):
                kept = block.output
            with model.trace(prompts[0]):
                block.output = kept * 2
                logits = model.output.logits.save()
        return logits

    def invokes(self, prompts: list[Tensor]) -> Any:
        model, block, save = self.model, self.block, self.save
        with torch.no_grad(), model.trace() as tracer:
            hidden = save([])
            for prompt in prompts:
                with tracer.invoke(prompt):
                    hidden.append(block.output)
        return hidden

    def harvest(self, prompts: list[Tensor]) -> Any:
        return [self.save_one([batch])[0] for batch in batches(prompts)]

    def head_patching(self, prompts: list[Tensor]) -> Any:
        model = self.model
        with torch.no_grad(), model.trace(prompts[0]):
            clean = model.output.logits.save()
        found = []
        for layer, columns in self.heads():
            projection = model.transformer.h[layer].attn.c_proj
            with torch.no_grad(), model.trace(prompts[0]):
                changed = projection.input.clone()
                changed[..., columns] = 0
                projection.input = changed
                logits = model.output.logits.save()
            found.append((logits - clean).norm())
        return found

    def logit_lens(self, prompts: list[Tensor]) -> Any:
        model, save = self.model, self.save
        with torch.no_grad(), model.trace(prompts[0]):
            logits = save([model.lm_head(model.transformer.ln_f(block.output)) for block in model.transformer.h])
        return logits


class Generating(Traced):
    """The same, with generation."""

    def generate(self, prompts: list[Tensor]) -> Any:
        model = self.model
        with model.generate(prompts[0], **GENERATION) as tracer:
            ids = tracer.result.save()
        return ids

    def generate_save(self, prompts: list[Tensor]) -> Any:
        model, block, save = self.model, self.block, self.save
        with model.generate(prompts[0], **GENERATION) as tracer:
            hidden = save([])
            for _ in tracer.iter[:32]:
                hidden.append(block.output)
        return hidden

    def generate_steer(self, prompts: list[Tensor]) -> Any:
        model, block, step = self.model, self.block, self.step
        with model.generate(prompts[0], **GENERATION) as tracer:
            for _ in tracer.iter[:32]:
                block.output = block.output + step
            ids = tracer.result.save()
        return ids
