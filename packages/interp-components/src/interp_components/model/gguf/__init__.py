"""`StandardizedTransformer("SmolLM2-135M.Q4_1.gguf")`: a model whose weights, sizes and tokenizer are one file.

`reader` takes the file apart, `shape` turns its metadata into a transformers config, `weights` unpacks its tensors under
the names of transformers, and `pieces` builds the tokenizer. The weights equal, bit for bit, those that transformers
itself unpacks; but no accelerate is needed, the file is read once instead of three times, and the splitting of text
into words is the one that the file names (transformers splits every file as GPT-2 does).

The package `gguf` knows the block formats and is imported when such a file is opened.
"""

from interp_components.model.gguf.reader import GGUFFile, GGUFFormatError

__all__ = ["GGUFFile", "GGUFFormatError"]
