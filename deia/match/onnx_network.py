"""The compact model run by onnxruntime, an extra: twice as many passages a second, with the same vectors.

The graph is made of the weights that numpy uses, in memory and in a tenth of a second. Its products are of whole
numbers, which processors of today multiply several times as fast as floats. A row of inputs is written as two numbers
of seven bits, a coarse one and a fine one for the rest: with one of eight bits, vectors agree with numpy's only to
.997, and of eight bits, older processors lose sums. Importing this takes as long as encoding ten passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from deia.match.minilm import EPSILON, Compact, Layer, unit
from deia.match.numerics import Floats, NDArray, np
from deia.records import TYPE_CHECKING

if TYPE_CHECKING:
    from deia.match.minilm import Matrix, Network

OPSETS = {"": 18, "com.microsoft": 1}
FORMAT = 10  # of the file, as old as the oldest onnxruntime that the extra allows
FUSED = ("FastGelu", "MatMulIntegerToFloat", "MultiHeadAttention")  # of onnxruntime itself
HALF = 63  # the largest coarse or fine number
ZERO = np.array(HALF + 1, "u1")  # what stands for 0
LAST = np.array([-1])  # axes
WORDS = np.array([1])
ERRORS_ONLY = 3


class Graph:
    """A graph that grows; every node has one result, which `put` returns the name of."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self._constants: list[object] = []

    def put(self, operation: str, *inputs: str | NDArray[np.generic], **attributes: float) -> str:
        """Add a node to the graph; inputs are names of results, or constants."""
        name, domain = f"{operation}{len(self.nodes)}", "com.microsoft" if operation in FUSED else ""
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(helper.make_node(operation, names, [name], domain=domain, **attributes))
        return name

    def _constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def written(self, begin: str, end: str, dimensions: int) -> bytes:
        """Return the graph as a file has it; `begin` is texts of as many words each, `end` a vector for each."""
        graph = helper.make_graph(
            self.nodes, "compact",
            [helper.make_tensor_value_info(begin, TensorProto.FLOAT, ["texts", "words", dimensions])],
            [helper.make_tensor_value_info(end, TensorProto.FLOAT, ["texts", dimensions])], self._constants,
        )  # fmt: skip
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT).SerializeToString()
        return data


def open_network(model: Compact) -> Network:
    """Return what turns the tokens of texts into unit vectors; several threads may call it at once."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS_ONLY
    session = onnxruntime.InferenceSession(_graph(model), options, providers=["CPUExecutionProvider"])

    def vectors(coded: Sequence[list[int]]) -> Floats:
        """Encode texts of the same length together, so that none needs padding."""
        sums = np.empty((len(coded), model.dimensions), "f4")
        for length, group in groupby(range(len(coded)), key=lambda number: len(coded[number])):
            numbers = [*group]
            rows = np.array([coded[number] for number in numbers])
            state = model.rows[rows] * model.scales[rows][..., None] + model.places[:length]
            sums[numbers] = session.run(None, {"begin": state})[0]
        return unit(sums)

    return vectors


def _graph(model: Compact) -> bytes:
    graph = Graph()
    state, bound = _normalised(graph, "begin", model.norm), _bound(model.norm)
    for layer in model.layers:
        state = _layer(graph, layer, state, bound, heads=model.heads)
        bound = _bound(layer.narrowed_norm)
    return graph.written("begin", graph.put("ReduceMean", state, WORDS, keepdims=0), model.dimensions)


def _layer(graph: Graph, layer: Layer, state: str, bound: float, *, heads: int) -> str:
    put = graph.put
    parts = _parts(graph, state, bound)
    mixed = [
        _product(graph, parts, *part) for part in zip(*(np.split(array, 3) for array in layer.mixed[:2]), strict=True)
    ]
    attended = put("MultiHeadAttention", *mixed, layer.mixed[2], num_heads=heads, scale=1.0)
    state = _normalised(graph, put("Add", state, _applied(graph, layer.attended, attended)), layer.attended_norm)
    weights, scales, bias = layer.widened
    parts = _parts(graph, state, _bound(layer.attended_norm))
    widened = put("FastGelu", _product(graph, parts, weights, scales), bias)
    widened = put("Mul", widened, 2 * layer.inner_scales)
    return _normalised(graph, put("Add", state, _applied(graph, layer.narrowed, widened)), layer.narrowed_norm)


def _applied(graph: Graph, matrix: Matrix, state: str) -> str:
    """Multiply rows of any size with a matrix: each is brought to one size, and its product back."""
    weights, scales, bias = matrix
    most, least = (graph.put(operation, state, LAST, keepdims=1) for operation in ("ReduceMax", "ReduceMin"))
    largest = graph.put("Max", most, graph.put("Neg", least), np.array(EPSILON, "f4"))
    product = _product(graph, _parts(graph, graph.put("Div", state, largest), 1.0), weights, scales)
    return graph.put("Add", graph.put("Mul", product, largest), bias)


def _parts(graph: Graph, state: str, bound: float) -> list[tuple[str, Floats]]:
    """Write numbers of at most `bound` as coarse ones and fine ones; each part comes with the value of its unit."""
    coarse, fine = np.array(bound / HALF, "f4"), np.array(bound / HALF / (2 * HALF), "f4")
    high = graph.put("QuantizeLinear", state, coarse, ZERO)
    rest = graph.put("Sub", state, graph.put("DequantizeLinear", high, coarse, ZERO))
    return [(high, coarse), (graph.put("QuantizeLinear", rest, fine, ZERO), fine)]


def _product(graph: Graph, parts: Sequence[tuple[str, Floats]], weights: NDArray[np.int8], scales: Floats) -> str:
    return graph.put(
        "Add", *(graph.put("MatMulIntegerToFloat", part, weights.T, step, scales, ZERO) for part, step in parts)
    )


def _bound(norm: Floats) -> float:
    """Return what no number exceeds after a layer norm: one that holds all that there is to hold comes to this."""
    return float(np.max(np.abs(norm[0]) * np.sqrt(norm.shape[1]) + np.abs(norm[1])))


def _normalised(graph: Graph, state: str, norm: Floats) -> str:
    """Apply a layer norm; its parts are faster than the node that does it all."""
    put = graph.put
    centred = put("Sub", state, put("ReduceMean", state, LAST, keepdims=1))
    spread = put("ReduceMean", put("Mul", centred, centred), LAST, keepdims=1)
    spread = put("Sqrt", put("Add", spread, np.array(EPSILON, "f4")))
    return put("Add", put("Mul", put("Div", centred, spread), norm[0]), norm[1])
