"""Turn the body of a `with` block into code that runs later, elsewhere, on your terms."""
