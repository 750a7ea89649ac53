"""The model and the blocks take turns: locations, requests, workers, runs.

`with model.trace(x): h = model.layer.output` comes here as `current("model.layer.output").read(location)` in the block's
greenlet, and as `place.report(value)` in the model's.
"""

from interp_components.interleaving.gates import Forward
from interp_components.interleaving.locations import RESULT, Location, ModuleInput, ModuleOutput
from interp_components.interleaving.nodes import End, Node, OperationNode, SourceNode
from interp_components.interleaving.places import Place, Skipped
from interp_components.interleaving.receipts import Receipt
from interp_components.interleaving.requests import Kind, Request
from interp_components.interleaving.rows import Batch, Rows
from interp_components.interleaving.runs import Run
from interp_components.interleaving.workers import Pending, Worker, current, is_block_running

__all__ = [
    "RESULT",
    "Batch",
    "End",
    "Forward",
    "Kind",
    "Location",
    "ModuleInput",
    "ModuleOutput",
    "Node",
    "OperationNode",
    "Pending",
    "Place",
    "Receipt",
    "Request",
    "Rows",
    "Run",
    "Skipped",
    "SourceNode",
    "Worker",
    "current",
    "is_block_running",
]
