"""torch by hand: the plain runs that everything is compared with, and hooks written for each job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from adapters.base import GENERATION, Adapter, batches

Hook = Callable[..., Any]


@contextmanager
def hooked(modules: list[Any], hook: Hook) -> Iterator[None]:
    """Have a forward hook on all modules."""
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class Hooks(Adapter):
    needs_transformer = False

    @property
    def blocks(self) -> list[Any]:
        return [self.module.linear] if self.name == "toy" else list(self.module.transformer.h)

    # Without any interpretation

    def forward(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            out = self.module(prompts[0] if len(prompts) == 1 else torch.cat(prompts))
        return out if self.name == "toy" else out.logits

    def two_forwards(self, prompts: list[Tensor]) -> Any:
        self.forward(prompts)
        return self.forward(prompts)

    def forward_per_head(self, prompts: list[Tensor]) -> Any:
        return [self.forward(prompts) for _ in range(len(self.heads()) + 1)]

    def forward_backward(self, prompts: list[Tensor]) -> Any:
        self.module(prompts[0]).logits.sum().backward()
        self.module.zero_grad(set_to_none=True)

    def write_on(self, prompts: list[Tensor]) -> Any:
        return self.module.generate(prompts[0], **GENERATION)

    def batches(self, prompts: list[Tensor]) -> Any:
        return [self.forward([batch]) for batch in batches(prompts)]

    def lens(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            states = self.module(prompts[0], output_hidden_states=True).hidden_states
            return [self.module.lm_head(self.module.transformer.ln_f(state)) for state in states[1:]]

    # With hooks

    empty = forward

    def save(self, modules: list[Any], prompts: list[Tensor], part: int | None = None) -> list[Tensor]:
        kept: list[Tensor] = []

        def keep(module: nn.Module, args: Any, output: Any) -> None:
            kept.append(output if part is None else output[part])

        with hooked(modules, keep):
            self.forward(prompts)
        return kept

    def save_one(self, prompts: list[Tensor]) -> Any:
        return self.save([self.blocks[self.middle]], prompts) if self.name != "toy" else self.save(self.blocks, prompts)

    def save_all(self, prompts: list[Tensor]) -> Any:
        return self.save(self.blocks, prompts)

    def save_parts(self, prompts: list[Tensor]) -> Any:
        kept: list[Tensor] = []

        def keep(module: nn.Module, args: Any, output: Any) -> None:
            kept.append(output[0] if type(output) is tuple else output)

        modules = [part for block in self.blocks for part in (block.attn, block.mlp, block)]
        with hooked(modules, keep):
            self.forward(prompts)
        return kept

    def edit(self, modules: list[Any], prompts: list[Tensor]) -> Any:
        with hooked(modules, lambda module, args, output: output + self.step):
            return self.forward(prompts)

    def edit_one(self, prompts: list[Tensor]) -> Any:
        return self.edit([self.blocks[self.middle]], prompts)

    def edit_all(self, prompts: list[Tensor]) -> Any:
        return self.edit(self.blocks, prompts)

    def pattern_one(self, prompts: list[Tensor]) -> Any:
        return self.save([self.blocks[self.middle].attn], prompts, part=1)

    def pattern_all(self, prompts: list[Tensor]) -> Any:
        return self.save([block.attn for block in self.blocks], prompts, part=1)

    def cache_all(self, prompts: list[Tensor]) -> Any:
        return self.save([module for name, module in self.module.named_modules() if name], prompts) and None

    def gradients(self, prompts: list[Tensor]) -> Any:
        gradients: dict[int, Tensor] = {}

        def watch(module: nn.Module, args: Any, output: Any) -> None:
            at = self.blocks.index(module)
            output.register_hook(lambda gradient: gradients.__setitem__(at, gradient))

        with hooked(self.blocks, watch):
            self.module(prompts[0]).logits.sum().backward()
        self.module.zero_grad(set_to_none=True)
        return [gradients[at] for at in range(self.shape.layers)]

    def session(self, prompts: list[Tensor]) -> Any:
        kept = self.save_one(prompts)[0]
        with hooked([self.blocks[self.middle]], lambda module, args, output: kept * 2):
            return self.forward(prompts)

    def invokes(self, prompts: list[Tensor]) -> Any:
        return list(self.save_one(prompts)[0].split(1))

    def generate(self, prompts: list[Tensor]) -> Any:
        return self.write_on(prompts)

    def generate_save(self, prompts: list[Tensor]) -> Any:
        kept: list[Tensor] = []
        with hooked([self.blocks[self.middle]], lambda module, args, output: kept.append(output)):
            self.write_on(prompts)
        return kept

    def generate_steer(self, prompts: list[Tensor]) -> Any:
        with hooked([self.blocks[self.middle]], lambda module, args, output: output + self.step):
            return self.write_on(prompts)

    def harvest(self, prompts: list[Tensor]) -> Any:
        return [self.save_one([batch])[0] for batch in batches(prompts)]

    def head_patching(self, prompts: list[Tensor]) -> Any:
        clean = self.forward(prompts)
        found = []
        for layer, columns in self.heads():

            def patch(module: nn.Module, args: Any, columns: slice = columns) -> Any:
                changed = args[0].clone()
                changed[..., columns] = 0
                return (changed,)

            handle = self.blocks[layer].attn.c_proj.register_forward_pre_hook(patch)
            try:
                found.append((self.forward(prompts) - clean).norm())
            finally:
                handle.remove()
        return found

    def logit_lens(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            return [self.module.lm_head(self.module.transformer.ln_f(state)) for state in self.save_all(prompts)]
