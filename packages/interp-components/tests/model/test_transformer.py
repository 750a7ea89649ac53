"""A whole model: made, run, changed, copied."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.model import standins
from torch import Tensor
from transformers import PreTrainedModel

from interp_components.errors import BatchError
from interp_components.families import gpt2
from interp_components.model import InputError, LoadError, StandardizedTransformer, TokenizerNeeded, UnsupportedFamily

SHORT, LONG = "ab", "abcdefg"

# Rows of a batch differ from single runs by the order of float32 sums alone; values are of order 1 to 10.
ROWS = {"rtol": 0.0, "atol": 2e-6}


@pytest.fixture(params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest) -> StandardizedTransformer:
    """A loaded model with learned positions that do not follow the mask, and one with rotary ones."""
    module: PreTrainedModel = getattr(standins, request.param)()
    return StandardizedTransformer(module, tokenizer=standins.tokenizer())


@pytest.fixture
def lazy(gpt2_folder: Path) -> StandardizedTransformer:
    """A model whose weights are not loaded yet."""
    return StandardizedTransformer(gpt2_folder)


def test_a_call_is_the_plain_forward(lazy: StandardizedTransformer) -> None:
    """It takes what a trace takes, loads the weights first, and leaves edits out."""
    with lazy.edit(inplace=True):
        lazy.layers[0].layer_output[:] = 0
    logits = lazy([1, 2, 3]).logits

    assert torch.equal(logits, lazy._module(input_ids=torch.tensor([[1, 2, 3]])).logits)


def plain(model: StandardizedTransformer, text: str) -> Tensor:
    """The logits of one text, by transformers alone."""
    with torch.no_grad():
        logits: Tensor = model._module(**standins.tokenizer()(text, return_tensors="pt")).logits
    return logits


def test_a_part_of_the_model_can_be_traced(lazy: StandardizedTransformer) -> None:
    """A block runs on a residual stream of one's own, with its values under their names; the weights come first."""
    hidden = torch.randn(1, 3, 16)

    with lazy.layers[0].trace(hidden) as tracer:
        after = lazy.layers[0].layer_output.save()

    assert torch.equal(after, lazy.layers[0]._module(hidden))
    assert [entry.location for entry in tracer.receipt] == ["model.transformer.h.0.output"]


# Loading


def test_weights_wait_for_the_first_run(lazy: StandardizedTransformer) -> None:
    """The tree is there at once, without weights."""
    assert lazy.device == torch.device("meta")
    assert lazy.num_layers == 3


def test_the_first_run_brings_the_weights(lazy: StandardizedTransformer) -> None:
    """What is read is what the saved model computes."""
    with lazy.trace(SHORT):
        logits = lazy.logits.save()

    assert torch.equal(plain(lazy, SHORT), logits)


def test_a_scan_gives_shapes_without_the_weights(lazy: StandardizedTransformer) -> None:
    """What a run would look like is known from the config."""
    with lazy.scan(SHORT):
        shape = lazy.layers[2].layer_output.shape.save()

    assert shape == (1, 2, 16)
    assert not lazy.dispatched


def test_an_edited_copy_shares_the_weights(lazy: StandardizedTransformer) -> None:
    """They are loaded once, and only the copy is edited."""
    with lazy.edit() as (_, edited):
        edited.layers[0].layer_output[:] = 0
    with edited.trace(SHORT):
        hidden = edited.layers[0].layer_output.save()
    with lazy.trace(SHORT):
        untouched = lazy.layers[0].layer_output.save()

    assert edited._module is lazy._module
    assert not hidden.any()
    assert untouched.all()


def test_casting_brings_the_weights(lazy: StandardizedTransformer) -> None:
    """What is not there cannot be cast."""
    assert lazy.to(torch.float64).layers[0].self_attn.o_proj.weight.dtype == torch.float64


def test_dispatch_brings_the_weights_at_once(gpt2_folder: Path) -> None:
    """Nothing is left on the meta device."""
    assert StandardizedTransformer(gpt2_folder, dispatch=True).device == torch.device("cpu")


def test_envoys_stay_themselves_when_the_weights_come(lazy: StandardizedTransformer) -> None:
    """An envoy that was taken before the first run is the one that is read in it."""
    block = lazy.layers[1]
    with lazy.trace(SHORT):
        hidden = block.layer_output.save()

    assert block is lazy.layers[1]
    assert hidden.shape == (1, 2, 16)


def test_a_model_is_found_in_the_cache_of_the_hub(hub_cache: Path) -> None:
    """A name, a revision and the options of transformers' loading lead to the files."""
    model = StandardizedTransformer(standins.NAME, revision="main", cache_dir=str(hub_cache), local_files_only=True)
    with model.trace(SHORT):
        logits = model.logits.save()

    assert torch.equal(plain(model, SHORT), logits)


@pytest.mark.parametrize("dispatch", [False, True])
def test_options_go_to_transformers(gpt2_folder: Path, dispatch: bool) -> None:
    """The precision and the way of attention hold with and without weights."""
    model = StandardizedTransformer(
        gpt2_folder, dtype=torch.bfloat16, attn_implementation="eager", device="cpu", dispatch=dispatch
    )

    assert (model._module.dtype, model.attn_implementation) == (torch.bfloat16, "eager")


def test_attention_is_changed_by_assignment(model: StandardizedTransformer) -> None:
    """A loaded model goes on with another way of attention."""
    model.attn_implementation = "eager"

    assert model._module.config._attn_implementation == "eager"


def test_a_module_with_options_of_loading_is_refused() -> None:
    """What is loaded cannot be loaded otherwise."""
    with pytest.raises(TypeError, match="dtype= say how a model is loaded"):
        StandardizedTransformer(standins.gpt2(), dtype=torch.float16)


def test_an_assignment_that_is_copied_into_the_tensor_is_one_write(model: StandardizedTransformer) -> None:
    """The forward goes on with that tensor under two names; the receipt tells what was asked for."""
    with model.trace(SHORT) as tracer:
        model.layers[1].resid_mid = torch.zeros_like(model.layers[1].resid_mid)

    assert [(entry.kind.value, entry.seen) for entry in tracer.receipt] == [("read", True), ("write", True)]


@pytest.mark.parametrize(("source", "what"), [(42, "a int"), (PreTrainedModel, "the class PreTrainedModel")])
def test_what_can_be_no_model_is_refused(source: Any, what: str) -> None:
    """The error lists what can be one."""
    with pytest.raises(TypeError, match=f"a module that is loaded already, and not {what}"):
        StandardizedTransformer(source)


def test_a_module_without_config_is_refused_with_the_class_that_takes_it() -> None:
    """Modules of any kind are wrapped by `Envoy`."""
    with pytest.raises(TypeError, match=r"Linear has no transformers config.*Envoy\(module\)"):
        StandardizedTransformer(torch.nn.Linear(1, 1))


def test_an_unknown_family_lists_those_there_are(gpt2_folder: Path) -> None:
    """The name that was probably meant comes first."""
    with pytest.raises(UnsupportedFamily, match=r"no family describes the architecture 'gpt3'; did you mean .*'gpt2'"):
        StandardizedTransformer(gpt2_folder, family="gpt3")


# Names


def test_names_of_the_user_come_after_those_of_the_family(gpt2_folder: Path) -> None:
    """Both lead to the module."""
    model = StandardizedTransformer(gpt2_folder, rename={"transformer.wpe": "positions"})

    assert model.positions._module is model._module.transformer.wpe
    assert model.embed_tokens._module is model._module.transformer.wte


def test_a_component_of_the_user_takes_the_place_of_the_family_s(gpt2_folder: Path) -> None:
    """The same module class is described by the last one who says so."""

    class Mine(gpt2.Attention):
        pass

    model = StandardizedTransformer(gpt2_folder, envoys={gpt2.native.GPT2Attention: Mine})

    assert type(model.layers[0].self_attn) is Mine


def test_a_family_may_be_given_as_an_object() -> None:
    """A description that is registered nowhere is used for this model."""
    mine = SimpleNamespace(RENAME={**gpt2.RENAME, "transformer.wpe": "places"}, ENVOYS=gpt2.ENVOYS)
    model = StandardizedTransformer(standins.gpt2(), family=mine)

    assert model.places._module is model._module.transformer.wpe


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft reads it
def test_adapters_are_wrapped_as_they_are() -> None:
    """The standard names are there on the wrapper, and its output is what is read."""
    peft = pytest.importorskip("peft")
    wrapper = peft.get_peft_model(standins.llama(), peft.LoraConfig(target_modules=["q_proj"], r=2))
    model = StandardizedTransformer(wrapper.eval(), tokenizer=standins.tokenizer())
    with model.trace(SHORT):
        hidden = model.layers[1].layer_output.save()
        logits = model.logits.save()

    assert hidden.shape == (1, 2, 32)
    assert torch.equal(plain(model, SHORT), logits)


# Running


@pytest.mark.parametrize("given", [SHORT, [SHORT], standins.tokenizer()(SHORT).input_ids], ids=["text", "list", "ids"])
def test_a_trace_without_edits_is_the_plain_forward(model: StandardizedTransformer, given: Any) -> None:
    """Bit for bit, from whatever form of input."""
    with model.trace(given):
        logits = model.logits.save()

    assert torch.equal(plain(model, SHORT), logits)


@pytest.mark.parametrize("together", ["list", "invokes", "mapping"])
def test_a_padded_row_has_the_numbers_of_its_text_alone(model: StandardizedTransformer, together: str) -> None:
    """Padding changes neither positions nor what is attended to."""
    rows = dict(batched(model, together))

    for text, logits in rows.items():
        torch.testing.assert_close(logits[0, -len(text) :], plain(model, text)[0], **ROWS)


def batched(model: StandardizedTransformer, together: str) -> Iterator[tuple[str, Tensor]]:
    """The logits of two texts that were run in one batch."""
    if together == "invokes":
        with model.trace() as tracer:
            with tracer.invoke(SHORT):
                short = model.logits.save()
            with tracer.invoke(LONG):
                long = model.logits.save()
    else:
        tokenizer = standins.tokenizer()
        tokenizer.pad_token, tokenizer.padding_side = standins.END, "left"
        texts = [SHORT, LONG]
        with model.trace(texts if together == "list" else tokenizer(texts, padding=True, return_tensors="pt")):
            logits = model.logits.save()
        short, long = logits[:1], logits[1:]
    yield SHORT, short
    yield LONG, long


def test_an_edit_of_one_invoke_leaves_the_others_alone(model: StandardizedTransformer) -> None:
    """The rows of the other invoke are those of a batch without the edit."""
    untouched = dict(batched(model, "invokes"))[LONG]
    with model.trace() as tracer:
        with tracer.invoke(SHORT):
            model.layers[0].layer_output[:] = 0
        with tracer.invoke(LONG):
            logits = model.logits.save()

    assert torch.equal(untouched, logits)


def test_an_argument_may_belong_to_one_invoke(model: StandardizedTransformer) -> None:
    """Labels of one row leave the other out of the loss."""
    labels = torch.tensor(standins.tokenizer()([LONG]).input_ids)
    with model.trace(LONG, labels=labels):
        alone = model.output.loss.save()
    with model.trace() as tracer:
        with tracer.invoke(LONG, labels=labels):
            loss = model.output.loss.save()
        with tracer.invoke(SHORT):
            pass

    torch.testing.assert_close(loss, alone, **ROWS)


def test_text_without_a_tokenizer_is_refused_before_anything_runs() -> None:
    """The error comes from the call, not from inside the model."""
    with pytest.raises(TokenizerNeeded, match="the text 'ab' needs a tokenizer"):
        StandardizedTransformer(standins.gpt2()).trace(SHORT)


def test_token_ids_need_no_tokenizer() -> None:
    """A model without a tokenizer runs on ids."""
    model = StandardizedTransformer(standins.gpt2())
    with model.trace([1, 2, 3]):
        logits = model.logits.save()

    assert logits.shape == (1, 3, standins.VOCABULARY)


@pytest.mark.parametrize("positions", [128, None], ids=["learned", "rotary"])
def test_an_input_longer_than_the_positions_is_refused_where_they_are_learned(positions: int | None) -> None:
    """Where they are computed there is no end."""
    model = StandardizedTransformer(standins.llama() if positions is None else standins.gpt2())
    if positions is None:
        with model.trace([1] * 129):
            logits = model.logits.save()
        assert logits.shape[1] == 129
    else:
        with pytest.raises(InputError, match="has 129 tokens, and this model has embeddings for 128 positions"):
            model.trace([1] * 129)


def test_an_empty_input_is_refused(model: StandardizedTransformer) -> None:
    """A model needs a token."""
    with pytest.raises(InputError, match="has no tokens"):
        model.trace("")


def test_a_trace_without_input_says_how_to_give_one(model: StandardizedTransformer) -> None:
    """A block with neither input nor invokes has nothing to run on."""
    with pytest.raises(BatchError, match="no input"), model.trace():
        pass


# Generating


def test_generated_ids_are_those_of_transformers(model: StandardizedTransformer) -> None:
    """`tracer.result` is what `generate` returns."""
    ids = standins.tokenizer()(SHORT, return_tensors="pt")
    expected = model._module.generate(**ids, max_new_tokens=5, do_sample=False, pad_token_id=0)
    with model.generate(SHORT, max_new_tokens=5, do_sample=False) as tracer:
        found = tracer.result.save()

    assert torch.equal(expected, found)


def test_a_padded_row_generates_what_its_text_alone_does(model: StandardizedTransformer) -> None:
    """A batch of prompts goes on as each prompt would."""
    with model.generate([SHORT, LONG], max_new_tokens=5, do_sample=False) as tracer:
        together = tracer.result.save()
    for row, text in zip(together, (SHORT, LONG), strict=True):
        with model.generate(text, max_new_tokens=5, do_sample=False) as tracer:
            alone = tracer.result.save()
        count = min(5, alone.shape[1] - len(text))
        assert row[len(LONG) :][:count].tolist() == alone[0, len(text) :][:count].tolist()


class Greedy(StandardizedTransformer):
    """A model with defaults of its own for generating."""

    def generate(self, *inputs: Any, **kwargs: Any) -> Any:
        return super().generate(*inputs, do_sample=False, max_new_tokens=3, **kwargs)


class Shorter(Greedy):
    """And one around it, whose first argument is a cell."""

    def generate(self, *inputs: Any, **kwargs: Any) -> Any:
        def min_new_tokens() -> int:
            return 3 if self.dispatched else 0

        return super().generate(*inputs, min_new_tokens=min_new_tokens(), **kwargs)


@pytest.mark.parametrize("kind", [Greedy, Shorter], ids=["once", "twice"])
def test_a_subclass_that_overrides_generate_has_blocks_too(kind: type[StandardizedTransformer]) -> None:
    """With a `with` statement around the call there is a block, and without one the ids are returned."""
    model = kind(standins.gpt2(), tokenizer=standins.tokenizer())
    with model.generate(SHORT) as tracer:
        seen = model.layers[0].layer_output.save()
        ids = tracer.result.save()

    assert seen.shape[:2] == (1, len(SHORT))
    assert torch.equal(ids, model.generate(SHORT))


def test_a_function_called_generate_in_a_with_statement_gets_ids(model: StandardizedTransformer) -> None:
    """The `with` statement is about what the function returns, and not about the model's call inside it."""

    def generate(text: str) -> Any:
        return nullcontext(model.generate(text, max_new_tokens=1, do_sample=False))

    with generate(SHORT) as ids:
        assert ids.shape == (1, len(SHORT) + 1)


# Copies


def test_a_copy_has_weights_of_its_own(model: StandardizedTransformer) -> None:
    """A change of the copy does not reach the model, and the copy starts from what the model is."""
    before = plain(model, SHORT)
    other = copy.deepcopy(model)
    assert torch.equal(before, plain(other, SHORT))
    with torch.no_grad():
        other.lm_head._module.weight.zero_()

    assert torch.equal(before, plain(model, SHORT))


def test_a_model_from_a_folder_is_pickled_as_the_way_to_load_it(lazy: StandardizedTransformer) -> None:
    """A pickle holds no weights, and what comes out of it computes the same."""
    lazy.dispatch()
    stored = pickle.dumps(lazy)

    assert len(stored) < 10_000
    assert torch.equal(plain(lazy, SHORT), plain(pickle.loads(stored), SHORT))


def test_a_model_from_a_module_is_pickled_with_its_weights(model: StandardizedTransformer) -> None:
    """There is no place to load it from."""
    assert torch.equal(plain(model, SHORT), plain(pickle.loads(pickle.dumps(model)), SHORT))


# Where there is no model


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("./nowhere", "there is no folder './nowhere'"),
        ("nowhere.gguf", "there is no file 'nowhere.gguf'"),
        ("someone/nothing", "'someone/nothing' is not in the local cache, and the hub may not be asked"),
    ],
    ids=["folder", "file", "name"],
)
def test_a_model_that_is_not_there_says_where_it_was_looked_for(source: str, found: str) -> None:
    """A folder, a file and a name of the hub are three ways to be wrong."""
    with pytest.raises(LoadError, match=found):
        StandardizedTransformer(source, local_files_only=True)


def test_a_model_without_a_tokenizer_has_none(tmp_path: Path) -> None:
    """It runs on token ids, and says so when it is given text."""
    assert StandardizedTransformer(standins.save(tmp_path, standins.gpt2(), with_tokenizer=False)).tokenizer is None


def test_a_tokenizer_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    """A damaged file is an error, with the way to go on."""
    standins.save(tmp_path, standins.gpt2())
    (tmp_path / "tokenizer_config.json").write_text("{")
    model = StandardizedTransformer(tmp_path)
    with pytest.raises(LoadError, match=r"the tokenizer of .* cannot be loaded.*tokenizer=tokenizer"):
        model.trace("ab")


def test_a_folder_that_is_no_model_says_what_is_in_it(tmp_path: Path) -> None:
    """The missing file and those that are there are named."""
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(LoadError, match=r"holds no config.json.*notes.txt"):
        StandardizedTransformer(tmp_path)


def test_a_folder_of_gguf_files_says_to_load_one(tmp_path: Path) -> None:
    """A GGUF model is a file, not a folder."""
    (tmp_path / "small.gguf").write_text("")
    with pytest.raises(LoadError, match=r"load one of them, as .*small\.gguf"):
        StandardizedTransformer(tmp_path)


def test_a_model_that_does_not_predict_the_next_token_is_refused(tmp_path: Path) -> None:
    """An encoder has no logits of a next token."""
    from transformers import ViTConfig

    ViTConfig().save_pretrained(tmp_path)
    with pytest.raises(LoadError, match="is a 'vit' model, which does not predict the next token"):
        StandardizedTransformer(tmp_path)
