"""Read and edit what happens inside a transformers model, under one set of standard names."""
