"""Run every python block of the documents, and the examples in docstrings.

Names are shared down a page, as a reader would have them. A block is compiled under the name of its file and at its own
lines, so that a traced block in it is found in the document as it is found in a module.
"""

from __future__ import annotations

from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

documents = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], patterns=["*.md"])
docstrings = Sybil(
    parsers=[PythonCodeBlockParser(), DocTestParser()],
    patterns=["*.py"],
    excludes=["tests/*.py"],
    document_types={".py": PythonDocStringDocument},
)
pytest_collect_file = (documents + docstrings).pytest()
