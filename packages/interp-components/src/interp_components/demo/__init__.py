"""`python -m interp_components.demo`: what is inside a small trained language model, printed and as one HTML file.

It predicts the next token of a factual prompt, follows the guess from layer to layer, finds the heads that continue a
repetition, draws what they attend to, and takes them out to see what they were for. `experiments` does that with the
public names of this package and is meant to be read; `text` and `page` show the findings.
"""
