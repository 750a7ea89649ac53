"""TransformerLens' bridge, which wraps the model of transformers and computes attention eagerly."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import Tensor

from adapters.base import Adapter, batches

bridge: Any = importlib.import_module("transformer_lens.model_bridge.sources._bridge_builder")

LAYER = "blocks.{}.hook_out"


class Bridge(Adapter):
    def set_up(self) -> None:
        self.model: Any = bridge.build_bridge_from_module(
            self.module, "GPT2LMHeadModel", hf_config=self.module.config, tokenizer=None
        )
        self.model.eval()

    def names(self, name: str) -> list[str]:
        return [name.format(layer) for layer in range(self.shape.layers)]

    def cached(self, prompt: Tensor, names: list[str]) -> list[Tensor]:
        with torch.no_grad():
            _, cache = self.model.run_with_cache(prompt, names_filter=names)
        return [cache[name] for name in names]

    def hooked(self, prompt: Tensor, names: list[str], hook: Any) -> Any:
        with torch.no_grad():
            return self.model.run_with_hooks(prompt, fwd_hooks=[(name, hook) for name in names])

    def add(self, value: Tensor, hook: object) -> Tensor:
        return value + self.step

    def empty(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            return self.model(prompts[0])

    def save_one(self, prompts: list[Tensor]) -> Any:
        return self.cached(prompts[0], [LAYER.format(self.middle)])

    def save_all(self, prompts: list[Tensor]) -> Any:
        return self.cached(prompts[0], self.names(LAYER))

    def save_parts(self, prompts: list[Tensor]) -> Any:
        parts = ("blocks.{}.attn.hook_out", "blocks.{}.mlp.hook_out", LAYER)
        return self.cached(prompts[0], [part.format(at) for at in range(self.shape.layers) for part in parts])

    def edit_one(self, prompts: list[Tensor]) -> Any:
        return self.hooked(prompts[0], [LAYER.format(self.middle)], self.add)

    def edit_all(self, prompts: list[Tensor]) -> Any:
        return self.hooked(prompts[0], self.names(LAYER), self.add)

    def pattern_one(self, prompts: list[Tensor]) -> Any:
        return self.cached(prompts[0], [f"blocks.{self.middle}.attn.hook_pattern"])

    def pattern_all(self, prompts: list[Tensor]) -> Any:
        return self.cached(prompts[0], self.names("blocks.{}.attn.hook_pattern"))

    def cache_all(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            self.model.run_with_cache(prompts[0])

    def gradients(self, prompts: list[Tensor]) -> Any:
        kept: dict[str, Tensor] = {}

        def keep(gradient: Tensor, hook: Any) -> None:
            kept[hook.name] = gradient.clone()

        with self.model.hooks(bwd_hooks=[(name, keep) for name in self.names(LAYER)]):
            self.model(prompts[0]).sum().backward()
        self.module.zero_grad(set_to_none=True)
        return [kept[name] for name in sorted(kept, key=lambda name: int(name.split(".")[1]))]

    def session(self, prompts: list[Tensor]) -> Any:
        kept = self.save_one(prompts)[0]
        return self.hooked(prompts[0], [LAYER.format(self.middle)], lambda value, hook: kept * 2)

    def invokes(self, prompts: list[Tensor]) -> Any:
        return list(self.save_one([torch.cat(prompts)])[0].split(1))

    def write_on(self, prompt: Tensor) -> Any:
        return self.model.generate(
            prompt, max_new_tokens=32, do_sample=False, stop_at_eos=False, return_type="tokens", verbose=False
        )

    def generate(self, prompts: list[Tensor]) -> Any:
        return self.write_on(prompts[0])

    def generate_save(self, prompts: list[Tensor]) -> Any:
        kept: list[Tensor] = []
        with self.model.hooks(fwd_hooks=[(LAYER.format(self.middle), lambda value, hook: kept.append(value))]):
            self.write_on(prompts[0])
        return kept

    def generate_steer(self, prompts: list[Tensor]) -> Any:
        with self.model.hooks(fwd_hooks=[(LAYER.format(self.middle), self.add)]):
            return self.write_on(prompts[0])

    def harvest(self, prompts: list[Tensor]) -> Any:
        return [self.save_one([batch])[0] for batch in batches(prompts)]

    def head_patching(self, prompts: list[Tensor]) -> Any:
        clean = self.empty(prompts)
        found = []
        for layer in range(self.shape.layers):
            for head in range(self.shape.heads):

                def patch(value: Tensor, hook: object, head: int = head) -> Tensor:
                    changed = value.clone()
                    changed.view(*changed.shape[:2], self.shape.heads, -1)[:, :, head] = 0
                    return changed

                logits = self.hooked(prompts[0], [f"blocks.{layer}.attn.hook_z"], patch)
                found.append((logits - clean).norm())
        return found

    def logit_lens(self, prompts: list[Tensor]) -> Any:
        with torch.no_grad():
            return [self.model.unembed(self.model.ln_final(state)) for state in self.save_all(prompts)]
