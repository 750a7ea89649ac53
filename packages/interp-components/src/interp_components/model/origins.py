"""Where `StandardizedTransformer("openai-community/gpt2", dtype=torch.float16)` takes a model from.

An origin knows the config at once, builds the module tree without weights on the meta device (`skeleton`), and brings
the weights when they are wanted (`load`). There are three: what transformers loads from a hub or a folder, a GGUF file,
and a module that the user has made.

Keyword arguments go to transformers as they are, so whatever its loading knows, works: `dtype`, `device_map`,
`attn_implementation`, `revision`, `quantization_config`, `token`. Only `device` is ours.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import torch
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from interp_components.model import adapters, failures, gguf
from interp_components.model.gguf import pieces, shape, weights

# Any: what transformers' loading takes.
Options: TypeAlias = dict[str, Any]

EMBEDDED = {"toy": Path(__file__).parents[1] / "toy"}
"""The models that come with this package, by the names that they are loaded by. A folder so called is `./toy`."""

_OF_THE_HUB = ("cache_dir", "force_download", "local_files_only", "proxies", "revision", "subfolder", "token")
_OF_THE_WEIGHTS = ("quantization_config", "device_map", "max_memory", "offload_folder", "use_safetensors", "state_dict")
_BUILDING = ("dtype", "attn_implementation", "trust_remote_code")


class Origin(Protocol):
    """A way to get a model."""

    @property
    def source(self) -> str | Path | nn.Module:
        """What was asked for."""

    @property
    def config(self) -> PreTrainedConfig:
        """The config of the model, which is there before the model is."""

    def skeleton(self) -> nn.Module:
        """The module tree, with shapes and without weights where weights cost something."""

    def load(self) -> nn.Module:
        """The module tree with its weights."""

    def tokenizer(self, options: Options) -> PreTrainedTokenizerBase | None:
        """The tokenizer that belongs to the model, if there is one."""


def origin_of(source: str | Path | nn.Module, options: Options) -> Origin:
    """The origin that `source` names: a module, a GGUF file, a folder, or a name on the hub.

    Raises:
        LoadError: There is no such folder, file or repository, or it holds no model that predicts tokens.
        TypeError: It is neither a module nor text that could name one.
    """
    if isinstance(source, nn.Module):
        return Ready(source, options)
    if not isinstance(source, (str, os.PathLike)):
        raise failures.no_source(source)
    if str(source) in EMBEDDED:
        # Stored in half precision, which a CPU computes with more slowly than with single.
        return Pretrained(str(source), {"dtype": torch.float32, **options}, EMBEDDED[str(source)])
    if str(source).endswith(".gguf"):
        return GGUF(Path(source), options)
    return Pretrained(str(source), options)


class Pretrained:
    """A repository on the hub, or a folder as `save_pretrained` writes it: of a model, or of a peft adapter."""

    def __init__(self, source: str, options: Options, place: Path | None = None) -> None:
        """Read the config; nothing else is read before it is wanted.

        Args:
            source: what was asked for.
            options: what transformers' loading is told.
            place: the folder, where `source` is no place but a name of our own.
        """
        self.source = source
        self._place = source if place is None else str(place)
        # Said also where nobody asked: transformers would ask the terminal whether code from the hub may run.
        self.options = {"trust_remote_code": False, **options}
        self.device = self.options.pop("device", None)
        # Where the config and, unless the adapter brings one, the tokenizer are.
        self._base = self._place
        config = self.options.get("config")
        self.config = config if isinstance(config, PreTrainedConfig) else self._find_config()
        self._class = model_class(self.config, source)

    def _find_config(self) -> PreTrainedConfig:
        try:
            return self._read_config()
        except (failures.LoadError, ValueError):
            base = adapters.base_of(self._place, self.options)
            if base is None:
                raise
        self._base = base
        return self._read_config()

    def _read_config(self) -> PreTrainedConfig:
        not_asked = {*_OF_THE_WEIGHTS, "dtype"}
        asked = {name: value for name, value in self.options.items() if name not in not_asked}
        with failures.of_loading(self._base, self.options):
            config: PreTrainedConfig = AutoConfig.from_pretrained(self._base, return_unused_kwargs=True, **asked)[0]
        return config

    def skeleton(self) -> nn.Module:
        """The module tree on the meta device, built from the config."""
        building = {name: self.options[name] for name in _BUILDING if name in self.options}
        if building.get("dtype") == "auto":
            del building["dtype"]
        with failures.of_loading(self._place, self.options):
            return without_weights(self._class, self.config, building)

    def load(self) -> nn.Module:
        """The model as `from_pretrained` gives it, moved to `device=` if that was asked for."""
        with failures.of_loading(self._place, self.options):
            model: PreTrainedModel = self._class.from_pretrained(self._place, **self.options)
        return model if self.device is None else model.to(self.device)

    def tokenizer(self, options: Options) -> PreTrainedTokenizerBase | None:
        """The tokenizer in the same place; None when there is none."""
        # An adapter may bring its own, with more tokens.
        places = [
            place for place in dict.fromkeys((self._place, self._base)) if not failures.is_without_tokenizer(place)
        ]
        shared = (*_OF_THE_HUB, "trust_remote_code")
        asked = {name: self.options[name] for name in shared if name in self.options}
        for place in places:
            try:
                tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(place, **{**asked, **options})
            except (OSError, ValueError) as error:
                if place != places[-1]:
                    continue
                if failures.is_untrusted(error, self.options):
                    raise failures.untrusted(place) from error
                raise failures.broken_tokenizer(place, error) from error
            return tokenizer
        return None


class GGUF:
    """A GGUF file, unpacked to float32 or to the `dtype=` that was asked for."""

    def __init__(self, path: Path, options: Options) -> None:
        """Read everything in the file but the tensors."""
        if not path.is_file():
            raise failures.LoadError(f"there is no file {str(path)!r}")
        self.source = path
        self.options = {"dtype": torch.float32, **options}
        self.device = self.options.pop("device", None)
        self.file = gguf.GGUFFile(path)
        self.unread = shape.unread(self.file)
        with failures.of_loading(str(path), self.options):
            self.config = self._by_transformers(AutoConfig) if self.unread else shape.config_of(self.file)
        self._class = model_class(self.config, str(path))

    # Any: the three Auto classes share this door and nothing else.
    def _by_transformers(self, auto: Any, **options: object) -> Any:
        """What transformers makes of the file."""
        return auto.from_pretrained(str(self.file.path.parent), gguf_file=self.file.path.name, **options)

    def skeleton(self) -> nn.Module:
        """The module tree on the meta device."""
        building = {name: self.options[name] for name in _BUILDING if name in self.options}
        return without_weights(self._class, self.config, building)

    def load(self) -> nn.Module:
        """The model with its weights unpacked."""
        with failures.of_loading(str(self.file.path), self.options):
            if self.unread:
                model: PreTrainedModel = self._by_transformers(self._class, **self.options)
            else:
                unpacked = weights.parameters(self.file)
                concrete = type(without_weights(self._class, self.config, {}))
                model = concrete.from_pretrained(None, config=self.config, state_dict=unpacked, **self.options)
        return model if self.device is None else model.to(self.device)

    def tokenizer(self, options: Options) -> PreTrainedTokenizerBase | None:
        """The tokenizer in the file."""
        reason = pieces.unread(self.file)
        if reason is None:
            return pieces.tokenizer_of(self.file, options)
        failures.warn_of_guessed_pieces(self.file.path, reason)
        with failures.of_loading(str(self.file.path), options):
            tokenizer: PreTrainedTokenizerBase = self._by_transformers(AutoTokenizer, **options)
        return tokenizer


class Ready:
    """A module that the user has made, wrapped or adapted: it is used as it is, and never moved or copied."""

    def __init__(self, module: nn.Module, options: Options) -> None:
        """Take the config from the module, or from the transformers model inside it."""
        if options:
            raise failures.needless_options(options)
        self.source = module
        self.module = module
        self.config = failures.config_of(module)

    def skeleton(self) -> nn.Module:
        """The module itself."""
        return self.module

    def load(self) -> nn.Module:
        """The module itself."""
        return self.module

    def tokenizer(self, options: Options) -> PreTrainedTokenizerBase | None:
        """None: a module does not say which tokenizer it was trained with."""
        return None


def model_class(config: PreTrainedConfig, source: str) -> Any:
    """The Auto class that builds a model of this config: the one for images and text, or the one for text.

    Raises:
        LoadError: A model of this config does not predict the next token.
    """
    remote = getattr(config, "auto_map", None) or {}
    sees = getattr(config, "vision_config", None) is not None
    for auto in (AutoModelForImageTextToText, AutoModelForCausalLM) if sees else (AutoModelForCausalLM,):
        if type(config) in auto._model_mapping or auto.__name__ in remote:
            return auto
    raise failures.not_a_language_model(config, source)


def without_weights(auto: Any, config: PreTrainedConfig, building: Options) -> PreTrainedModel:
    """The module tree of a config on the meta device; its config is a copy, as building sets fields of it."""
    with torch.device("meta"):
        model: PreTrainedModel = auto.from_config(copy.deepcopy(config), **building)
    model.eval()  # type: ignore[no-untyped-call]  # transformers' own
    return model
