"""What an adapter was trained for: `StandardizedTransformer("someone/gpt2-lora")` loads GPT-2 with the adapter in it.

transformers and peft load the weights of both; what is asked before there are weights (the config, the tokenizer) stands
with the model that the adapter was trained for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers.utils.import_utils import is_peft_available
from transformers.utils.peft_utils import find_adapter_config_file

from interp_components.model import failures

_OF_THE_HUB = ("cache_dir", "force_download", "local_files_only", "proxies", "revision", "token")


def base_of(place: str, options: Mapping[str, Any]) -> str | None:
    """The name or folder of the model that the adapter at `place`, a folder or a name on the hub, was trained for.

    None where there is no adapter. To be asked where there is no whole model, which may have one beside it.

    Raises:
        LoadError: There is an adapter that does not say what it was trained for, or peft is not installed.
    """
    try:
        found = find_adapter_config_file(place, **{name: options[name] for name in _OF_THE_HUB if name in options})
    except OSError:  # no folder, and no name that a hub could know
        return None
    if found is None:
        return None
    if not is_peft_available():
        raise failures.LoadError(f"{place!r} is an adapter, which peft loads: pip install peft")
    base = json.loads(Path(found).read_text(encoding="utf-8")).get("base_model_name_or_path")
    if not base:
        raise failures.LoadError(
            f"the adapter {place!r} does not say which model it was trained for (base_model_name_or_path in its "
            f"adapter_config.json is {base!r}): load that model, and then model.load_adapter({place!r})"
        )
    return str(base)
