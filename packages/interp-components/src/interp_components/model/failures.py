"""What can go wrong on the way to a model, in words that say what was asked, what was found, and the way out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from torch import nn
from transformers import PreTrainedConfig

from interp_components.display import suggestion
from interp_components.errors import InterpError

_MODEL_FILES = ("config.json", "adapter_config.json")
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "spiece.model",
    "vocab.json",
    "vocab.txt",
)


class LoadError(InterpError, OSError):
    """There is no model where one was asked for, or it cannot be loaded."""


class UnsupportedFamily(InterpError, NotImplementedError):
    """No family describes the architecture of the model, and its parts cannot be found without one."""


class GuessedFamilyWarning(UserWarning):
    """No family describes the architecture, so its parts are those that look like them."""


class GuessedTokensWarning(UserWarning):
    """The way in which a file splits text is not known, so its tokens may differ from those it was trained with."""


@contextmanager
def of_loading(source: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Say in our words why transformers cannot load `source`; its own words follow as the cause."""
    folder = Path(source)
    if folder.is_dir() and not any((folder / name).is_file() for name in _MODEL_FILES):
        raise LoadError(_why_no_model(folder))
    try:
        yield
    except OSError as error:
        raise LoadError(_why_nothing_is_there(source, options, error)) from error
    except ValueError as error:
        if is_untrusted(error, options):
            raise untrusted(source) from error
        raise


def is_untrusted(error: Exception, options: Mapping[str, Any]) -> bool:
    """Whether transformers refuses to run code that comes with a model.

    Source: resolve_trust_remote_code, transformers 5.24, whose ValueError has no class of its own.
    """
    return not options.get("trust_remote_code") and "trust_remote_code=True" in str(error)


def untrusted(source: str) -> LoadError:
    """The error for a model that comes with code, which nobody allowed to run."""
    return LoadError(
        f"{source!r} comes with Python code of its own, which runs only where it is asked for: read it, and then load the "
        f"model with trust_remote_code=True (on the command line, --trust-remote-code)"
    )


def _why_nothing_is_there(source: str, options: Mapping[str, Any], error: OSError) -> str:
    if Path(source).exists():
        return f"{source!r} cannot be loaded. transformers says: {_first_line(error)}"
    if source.startswith((".", "~", os.sep)) or source.count("/") > 1:
        return f"there is no folder {source!r} (looked from {os.getcwd()!r})"
    asked = f"{source!r}" + (f" at revision {options['revision']!r}" if options.get("revision") else "")
    if constants.HF_HUB_OFFLINE or options.get("local_files_only"):
        return (
            f"{asked} is not in the local cache, and the hub may not be asked "
            f"({'local_files_only=True' if options.get('local_files_only') else 'HF_HUB_OFFLINE is set'}). "
            f"Give the path of a folder or of a .gguf file, or allow the hub once to fill the cache"
        )
    return (
        f"cannot load {asked}: it is no folder here, and the hub did not give it. It may be misspelt, private or gated "
        f"(log in with `hf auth login`), or the hub cannot be reached. transformers says: {_first_line(error)}"
    )


def _why_no_model(folder: Path) -> str:
    files = sorted(file.name for file in folder.iterdir())
    packed = [name for name in files if name.endswith(".gguf")]
    if packed:
        return f"the folder {str(folder)!r} holds GGUF files: load one of them, as {str(folder / packed[0])!r}"
    return f"the folder {str(folder)!r} holds no config.json, so it is no saved model; it holds {files[:8]}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def is_without_tokenizer(place: str) -> bool:
    """Whether a folder holds no tokenizer. What a repository on the hub holds is seen when it is loaded."""
    return Path(place).is_dir() and not any((Path(place) / name).is_file() for name in _TOKENIZER_FILES)


def broken_tokenizer(place: str, error: Exception) -> LoadError:
    """The error for a tokenizer that cannot be loaded."""
    return LoadError(
        f"the tokenizer of {place!r} cannot be loaded: {_first_line(error)}. "
        f"Give another one as StandardizedTransformer(..., tokenizer=tokenizer)"
    )


def warn_of_guessed_pieces(path: Path, reason: str) -> None:
    """Warn that transformers reads the tokenizer of a GGUF file, and splits text as GPT-2 does."""
    warnings.warn(
        f"{path.name}: {reason}, which is not known here. Its tokens are those that transformers makes of it, and can "
        f"differ from the model's own. To be sure, give the tokenizer of the original model as tokenizer=.",
        GuessedTokensWarning,
        stacklevel=4,
    )


def no_source(source: object) -> TypeError:
    """The error for what can be no model."""
    what = f"the class {source.__name__}" if isinstance(source, type) else f"a {type(source).__name__}"
    return TypeError(
        f"a model is a name on the hub, a folder, a .gguf file or a module that is loaded already, and not {what}"
    )


def needless_options(options: Mapping[str, Any]) -> TypeError:
    """The error for loading options beside a module that is loaded already."""
    names = ", ".join(f"{name}=" for name in options)
    return TypeError(
        f"{names} say how a model is loaded, and this one is loaded already: "
        f"set them where the module is made, or give the name or folder of the model instead of the module"
    )


def config_of(module: nn.Module) -> PreTrainedConfig:
    """The config of a transformers model, or of the one inside a wrapper.

    Raises:
        TypeError: There is none.
    """
    for candidate in module.modules():
        config = getattr(candidate, "config", None)
        if isinstance(config, PreTrainedConfig):
            return config
    raise TypeError(
        f"a {type(module).__name__} has no transformers config, so there are no standard names for it: "
        f"wrap it with interp_components.Envoy(module), which takes any torch module"
    )


def not_a_language_model(config: PreTrainedConfig, source: str) -> LoadError:
    """The error for a config whose model does not predict the next token."""
    return LoadError(
        f"{source!r} is a {config.model_type!r} model, which does not predict the next token. "
        f"Load it with transformers, and wrap it with interp_components.Envoy(module)"
    )


def unsupported_family(name: str, known: Sequence[str]) -> UnsupportedFamily:
    """The error for an architecture that no family describes."""
    return UnsupportedFamily(
        f"no family describes the architecture {name!r}{suggestion(name, known)}. There are {', '.join(known)}: "
        f"pass family= to use one of them, write one and register it with interp_components.families.register, or wrap "
        f"the module under its native names with interp_components.Envoy(module)"
    )


def unguessed_family(
    model_type: str, model: str, found: Mapping[str, str], missing: Sequence[str]
) -> UnsupportedFamily:
    """The error for an architecture that no family describes and whose parts have names that are not known."""
    there = ", ".join(f"{name} at {path!r}" for name, path in found.items()) or "none of the others"
    return UnsupportedFamily(
        f"no family describes the architecture {model_type!r}, and {model} has no {', '.join(missing)} under a name that "
        f"is known; found: {there}. Write a family whose RENAME says where they are and register it with "
        f"interp_components.families.register(family, {model_type!r}), or wrap the module under its native names with "
        f"interp_components.Envoy(module)"
    )


def warn_of_guess(model_type: str) -> None:
    """Warn that the parts of the model are guessed."""
    warnings.warn(
        f"no family describes the architecture {model_type!r}: its parts are found by the names that architectures use, "
        f"and project_on_vocab is no more than norm and head. model.support() says what is there. To be sure, write a "
        f"family and register it with interp_components.families.register(family, {model_type!r}).",
        GuessedFamilyWarning,
        stacklevel=4,
    )
