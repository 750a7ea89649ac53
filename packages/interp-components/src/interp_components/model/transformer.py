"""`StandardizedTransformer("openai-community/gpt2")`: a language model under standard names, ready to be traced.

In order: the config is read, and says which family describes the model; the module tree is built without weights, with
the family's names and components; the weights come on the first run. Inputs of a trace are read by `inputs`, those of
several invokes are joined by `batches`.
"""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, overload

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from interp_components.envoys import ClassMap, Envoy
from interp_components.model import batches, kernels, keywords
from interp_components.model.check import check
from interp_components.model.generation import generate, has_block
from interp_components.model.guessed import guess
from interp_components.model.inner import inner_model, longest_input, takes_positions
from interp_components.model.inputs import Prepared, Reader, with_positions
from interp_components.model.kernels import Eager
from interp_components.model.naming import at_root, family_of
from interp_components.model.origins import Ready, origin_of
from interp_components.model.rows import Padding
from interp_components.model.tokenizers import padding_of, ready_to_pad, without_prefix
from interp_components.standard import Root
from interp_components.standard.family import Family
from interp_components.tracing import Trace
from interp_components.tracing.calls import Call
from tracer_core import Backend

Self = TypeVar("Self", bound="StandardizedTransformer")


class StandardizedTransformer(Root):
    """A transformers language model under standard names.

    Args:
        source: A name on the hub, a folder (of a model or of a peft adapter), a `.gguf` file, or a module that is loaded already (as it is, or wrapped by
            peft or accelerate). `"toy"` is the small model that comes with this package.
        family: The description of the architecture, or its name, in place of the one that the config names.
        rename: Further names for modules, after the family's; the last of the same key wins.
        envoys: Components by module class, path or alias, after the family's; the last of the same key wins.
        tokenizer: A tokenizer to use as it is. By default the model's own is loaded when it is first needed, and pads
            on the left.
        tokenizer_kwargs: Options for loading the tokenizer.
        dispatch: Whether to load the weights now, and not on the first run.
        trust_remote_code: Whether code that comes with the model may run.
        options: Anything that transformers' `from_pretrained` takes, and `device`.

    Raises:
        LoadError: There is no such model.
        UnsupportedFamily: No family is called like the one asked for, or none describes the architecture and its parts
            cannot be found without one.
    """

    def __init__(
        self,
        source: str | Path | nn.Module,
        *,
        family: Family | str | None = None,
        rename: Mapping[str | type[nn.Module], str | Sequence[str]] | None = None,
        envoys: type[Envoy] | Mapping[str | type[nn.Module], type[Envoy]] | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        dispatch: bool = False,
        trust_remote_code: bool = False,
        **options: Any,
    ) -> None:
        if trust_remote_code:
            options["trust_remote_code"] = True
        naming = (family, rename, envoys, tokenizer_kwargs)
        self._recipe = {**dict(zip(_NAMING, naming, strict=True)), **options}
        self._origin = origin_of(source, options)
        self._tokenizer = tokenizer
        self._tokenizer_options = dict(tokenizer_kwargs or {})
        self._loading = threading.Lock()
        self.dispatched = dispatch or isinstance(self._origin, Ready)
        known = family_of(self._origin.config, family)
        module = self._origin.load() if dispatch else self._origin.skeleton()
        self.family: Family = known or guess(inner_model(module))
        self._longest = longest_input(module)
        super().__init__(
            module,
            rename={**at_root(self.family.RENAME, module), **(rename or {})},
            envoys=envoys,
        )

    def _family_classes(self) -> ClassMap:
        return self.family.ENVOYS

    def dispatch(self) -> None:
        """Load the weights, if they are not loaded yet. Every envoy stays the one it was."""
        if self.dispatched:
            return
        with self._loading:
            if not self.dispatched:
                self._update(self._origin.load())
                self.dispatched = True

    def _ready(self) -> None:
        self.dispatch()

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Load the weights, and move or cast them, as `nn.Module.to` does."""
        self.dispatch()
        return super().to(*args, **kwargs)

    # Tokens

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase | None:
        """The tokenizer, loaded when it is first asked for; None when the model comes without one."""
        if self._tokenizer is None:
            loaded = self._origin.tokenizer(self._tokenizer_options)
            self._tokenizer = None if loaded is None else ready_to_pad(loaded, self._tokenizer_options)
        return self._tokenizer

    @tokenizer.setter
    def tokenizer(self, tokenizer: PreTrainedTokenizerBase | None) -> None:
        self._tokenizer = tokenizer

    @property
    def add_prefix_false_tokenizer(self) -> PreTrainedTokenizerBase:
        """A copy of the tokenizer that puts no space before the first word.

        Raises:
            TokenizerNeeded: There is no tokenizer.
        """
        return without_prefix(self._reader().needed_tokenizer("add_prefix_false_tokenizer"))

    # Running

    def __call__(self, *inputs: Any, hook: bool = False, **kwargs: Any) -> Any:
        """Run the model on what `trace` takes, without edits; `hook=True` lets blocks watch, as on any envoy."""
        self.dispatch()
        return super().__call__(hook=hook, **self._prepare(inputs, kwargs).kwargs)

    @overload
    def trace(self, *inputs: Any, trace: Literal[False], **kwargs: Any) -> Any: ...
    @overload
    def trace(
        self,
        *inputs: Any,
        trace: Literal[True] = True,
        fn: str | Callable[..., Any] | None = None,
        eager: Eager = False,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Trace: ...
    def trace(
        self,
        *inputs: Any,
        trace: bool = True,
        fn: str | Callable[..., Any] | None = None,
        eager: Eager = False,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run the model once on an input, with the block of the `with` statement.

        Args:
            inputs: A text, a list of texts, token ids, what a tokenizer returned, or a chat; nothing when the block has
                `tracer.invoke(...)` blocks.
            trace: False for no block: the model runs now, with the edits that it keeps, and what it returns is returned.
            fn: Another function to run than the forward: the name of a method, or a callable.
            eager: Whether attention is written out in Python for this run, so that its scores and patterns can be read:
                in all layers, or in a list of them while the others keep their kernel.
            strict: Whether an edit without effect is an error.
            backend: What "run the block" means, see `tracer_core`.
            kwargs: Keyword arguments of the model.

        Raises:
            UnknownKeyword: The model's forward takes no such argument, and would pass over it in silence.
        """
        self.dispatch()
        if kwargs and fn is None:
            self._refuse_unknown(kwargs)
        made = self._set(eager, super().trace(*inputs, fn=fn, strict=strict, backend=backend, **kwargs))
        return made if trace else made.without_block()

    def scan(self, *inputs: Any, eager: Eager = False, backend: Backend | None = None, **kwargs: Any) -> Trace:
        """Run the block with a model that computes shapes only; `eager` as for `trace`."""
        self._refuse_unknown(kwargs)
        return self._set(eager, super().scan(*inputs, backend=backend, **kwargs))

    @overload
    def generate(self, *inputs: Any, trace: Literal[False], **kwargs: Any) -> Any: ...
    @overload
    def generate(
        self,
        *inputs: Any,
        trace: Literal[True] | None = None,
        eager: Eager = False,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Trace: ...
    def generate(
        self,
        *inputs: Any,
        trace: bool | None = None,
        eager: Eager = False,
        strict: bool = False,
        backend: Backend | None = None,
        **kwargs: Any,
    ) -> Any:
        """Let the model write on, one forward a token; `tracer.result` are the ids.

        Args:
            inputs: As for `trace`.
            trace: Whether there is a block. By default there is one where the call stands in a `with` statement, and
                `ids = model.generate(...)` runs at once and returns the ids, as transformers' does. A subclass may
                override this method and call it by `super()`.
            eager: As for `trace`.
            strict: Whether an edit without effect is an error.
            backend: What "run the block" means, see `tracer_core`.
            kwargs: Keyword arguments of transformers' `generate`.
        """
        self.dispatch()
        run = partial(generate, self._module, self._padding())
        made = self._set(eager, Trace(self, run, inputs, kwargs, is_single=False, strict=strict, backend=backend))
        if trace is None:
            trace = has_block(self, made, sys._getframe(1))
        return made if trace else made.without_block()

    def _set(self, eager: Eager, trace: Trace) -> Trace:
        """Have the model set to `eager` while the trace runs."""
        trace.setting = kernels.setting(self, eager)
        return trace

    check = check

    def _refuse_unknown(self, kwargs: Iterable[str]) -> None:
        inner = inner_model(self._module)
        keywords.check((self._module, inner, inner.base_model), kwargs)

    def _prepare(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """One invoke's input as keyword arguments of the forward, on the model's device."""
        if "eager" in kwargs:
            raise ValueError("eager= belongs to the trace, not to an invoke: all invokes are one run of the model")
        return self._call(self._reader().read(inputs, kwargs))

    def _batch(self, calls: Sequence[Call]) -> Call:
        """Several invokes' inputs as one batch, padded to the longest."""
        return self._call(batches.join([Prepared(call.kwargs, call.rows) for call in calls], self._padding()))

    def _call(self, prepared: Prepared) -> Call:
        arguments = prepared.arguments
        if takes_positions(type(inner_model(self._module)).forward):
            arguments = with_positions(arguments)
        device = self.device
        if device is not None and device.type != "meta":  # where weights are kept elsewhere, accelerate moves inputs
            arguments = {
                name: value.to(device) if isinstance(value, torch.Tensor) and value.device != device else value
                for name, value in arguments.items()
            }
        return Call((), arguments, has_input=prepared.rows > 0, rows=prepared.rows)

    def _reader(self) -> Reader:
        return Reader(lambda: self.tokenizer, self._padding, self._vocabulary(), self._longest)

    def _padding(self) -> Padding:
        return padding_of(self._tokenizer, inner_model(self._module).config, self._vocabulary())

    def _vocabulary(self) -> int:
        """How many tokens have an embedding; asked anew each time, since a model can be given more of them."""
        embeddings: Any = inner_model(self._module).get_input_embeddings()  # Any: a Tensor to the type checker
        return int(embeddings.weight.shape[0])

    # Settings

    @property
    def attn_implementation(self) -> str:
        """How attention is computed: `"eager"`, `"sdpa"`. Assign to change it."""
        return str(self.text_config._attn_implementation)

    @attn_implementation.setter
    def attn_implementation(self, implementation: str) -> None:
        inner_model(self._module).set_attn_implementation(implementation)

    # Copies

    def _shallow_copy(self: Self) -> Self:
        """Another model around the same module, whose weights are loaded now: otherwise each would load its own."""
        self.dispatch()
        return super()._shallow_copy()

    def __reduce__(self) -> Any:
        """Made again as it was made: from its place, or around the module that it was given."""
        return _again, (
            type(self),
            self._origin.source,
            self.dispatched,
            {**self._recipe, "tokenizer": self._tokenizer},
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> StandardizedTransformer:
        """A model of its own; its weights are a copy of these as they are now."""
        function, (kind, source, dispatched, recipe) = self.__reduce__()
        if not self.dispatched:
            return cast(StandardizedTransformer, function(kind, source, dispatched, recipe))
        own = {name: recipe[name] for name in _NAMING}
        copied: StandardizedTransformer = kind(copy.deepcopy(self._module, memo), tokenizer=self._tokenizer, **own)
        return copied


_NAMING = ("family", "rename", "envoys", "tokenizer_kwargs")


def _again(
    kind: type[StandardizedTransformer], source: str | Path | nn.Module, dispatched: bool, recipe: dict[str, Any]
) -> StandardizedTransformer:
    return kind(source, dispatch=dispatched, **recipe)
