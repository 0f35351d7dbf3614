# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares results of imported networks with those of TensorFlow Lite's interpreter.

The networks are made by TensorFlow's converter, or, of operators that it does not
write, by the code that TensorFlow generates from the file format's schema.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.frame.budget import one_budget
from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.importers.frame.testing import Tried, assert_close, request_for
from mace.python.tools.importers.tensorflow.testing import rand
from mace.python.tools.importers.tflite import FRAMEWORK, import_model
from mace.python.tools.importers.tflite.context import HANDLERS
from mace.python.tools.importers.tflite.options import BUILTINS, NEWER
from mace.python.tools.importers.tflite.reader import Network, read_network
from mace.python.tools.ir import Graph
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.passes.manager import optimize

__all__ = ["rand"]

_INT16 = "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
_SAMPLES = 8
_TYPES = {
    "float32": 0,
    "int32": 2,
    "uint8": 3,
    "int64": 4,
    "bool": 6,
    "complex64": 8,
    "int16": 7,
    "int8": 9,
    "int4": 17,
}


def converted(
    function: Callable[..., Any],
    arrays: Sequence[Array],
    integers: str = "",
    prepare: Callable[[Any], None] | None = None,
) -> bytes:
    """The file that TensorFlow's converter makes of a function of tensors x0, x1, ...

    Args:
        arrays: of the shapes and types of the arguments.
        integers: '' for floats, 'int8', or '16x8' for activations of 16 bits; ranges
            are those of random multiples of the arrays.
        prepare: changes the converter's settings.
    """
    tf = importlib.import_module("tensorflow")
    specs = [
        tf.TensorSpec(a.shape, tf.as_dtype(a.dtype), name=f"x{i}")
        for i, a in enumerate(arrays)
    ]
    concrete = tf.function(function).get_concrete_function(*specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], concrete)
    if integers:

        def samples() -> Any:
            rng = np.random.default_rng(1)
            yield list(arrays)
            for _ in range(_SAMPLES):
                yield [rng.permutation(a.reshape(-1)).reshape(a.shape) for a in arrays]

        sets = {
            "int8": tf.lite.OpsSet.TFLITE_BUILTINS_INT8,
            "16x8": getattr(tf.lite.OpsSet, _INT16),
        }
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = samples
        converter.target_spec.supported_ops = [sets[integers]]
        kind = tf.int8 if integers == "int8" else tf.int16
        converter.inference_input_type = converter.inference_output_type = kind
    if prepare is not None:
        prepare(converter)
    return bytes(converter.convert())


def interpreted(data: bytes, arrays: Sequence[Array]) -> list[Array]:
    """The results of the interpreter, without delegates, which round differently."""
    interpreter = interpreter_of(data)
    for detail, array in zip(interpreter.get_input_details(), arrays):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [
        np.asarray(interpreter.get_tensor(detail["index"]))
        for detail in interpreter.get_output_details()
    ]


def interpreter_of(data: bytes, preserve: bool = False) -> Any:
    """TensorFlow Lite's, ready to run a file.

    Args:
        preserve: all tensors, not only the outputs.
    """
    lite = importlib.import_module("tensorflow").lite
    resolver = lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = lite.Interpreter(
        model_content=data,
        experimental_op_resolver_type=resolver,
        experimental_preserve_all_tensors=preserve,
    )
    interpreter.allocate_tensors()
    return interpreter


def import_file(path: Path) -> Graph:
    """The graph of a file, with all its inputs and outputs."""
    return import_model(_request(read_network(path), path))


def import_network(network: Network, path: Path) -> Graph:
    """The graph of what a file would hold, likewise."""
    with one_budget():
        return FRAMEWORK.build(_request(network, path), network)


def _request(network: Network, path: Path) -> ImportRequest:
    names = [tensor.name for tensor in network.tensors]
    inputs = [names[i] for i in network.inputs]
    return request_for(path, inputs, [names[i] for i in network.outputs])


def run_file(data: bytes, arrays: Sequence[Array], path: Path) -> list[Array]:
    """What MACE computes of a file, after all passes."""
    path.write_bytes(data)
    graph = import_file(path)
    names = [value.name for value in graph.outputs]
    optimize(graph)
    feeds = {
        value.name: np.asarray(array, value.dtype.numpy)
        for value, array in zip(graph.inputs, arrays)
    }
    results = run_graph(graph, feeds)
    return [results[name] for name in names]


def operators_of(data: bytes, path: Path) -> set[str]:
    """The types of a file's operators."""
    path.write_bytes(data)
    return {operator.type for operator in read_network(path).operators}


def int8_steps(data: bytes, arrays: Sequence[Array], path: Path) -> tuple[int, float]:
    """By how many steps the results differ at most, and the share that differs.

    Args:
        data: a file whose inputs are quantized.
        arrays: what they stand for.
    """
    details = interpreter_of(data).get_input_details()
    integers = []
    for detail, array in zip(details, arrays):
        scale, zero = detail["quantization"]
        if not scale:
            integers.append(array)
            continue
        bounds = np.iinfo(detail["dtype"])
        steps = np.clip(np.rint(array / scale) + zero, bounds.min, bounds.max)
        integers.append(steps.astype(detail["dtype"]))
    worst, wrong, total = 0, 0, 0
    for got, wanted in zip(run_file(data, integers, path), interpreted(data, integers)):
        assert got.shape == wanted.shape
        far = np.abs(got.astype(np.int64) - wanted.astype(np.int64))
        worst = max(worst, int(far.max(initial=0)))
        wrong += int(np.count_nonzero(far))
        total += far.size
    return worst, wrong / total


class Family(Tried):
    """The operators of one file of `handlers/`."""

    def __init__(self, name: str) -> None:
        super().__init__(HANDLERS, name)

    def check(
        self, function: Callable[..., Any], *arrays: Array, tolerance: float = 2e-5
    ) -> None:
        """Converts `function` and compares all results on `arrays`."""
        self.check_file(converted(function, arrays), *arrays, tolerance=tolerance)

    def check_file(self, data: bytes, *arrays: Array, tolerance: float = 2e-5) -> None:
        """Compares all results of a file on `arrays`."""
        with self._file(data) as path:
            found = run_file(data, arrays, path)
        wanted = interpreted(data, arrays)
        assert len(found) == len(wanted)
        for got, expected in zip(found, wanted):
            assert_close(got, expected, tolerance)

    def check_int8(
        self,
        function: Callable[..., Any],
        *arrays: Array,
        steps: int = 1,
        share: float = 1.0,
        integers: str = "int8",
    ) -> None:
        """Converts `function` to integers and compares the integers of all results.

        Args:
            steps: by which they may differ.
            share: of the results that may differ.
        """
        data = converted(function, arrays, integers)
        with self._file(data) as path:
            worst, differ = int8_steps(data, arrays, path)
        assert worst <= steps, (worst, differ)
        assert differ <= share, (worst, differ)

    @contextlib.contextmanager
    def _file(self, data: bytes) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.tflite"
            self.note(*operators_of(data, path))
            yield path


def one_operator(
    op_type: str,
    arrays: Sequence[Array],
    outputs: Sequence[tuple[Sequence[int], str]],
    constants: Mapping[int, Array] | None = None,
    options: Mapping[str, Any] | None = None,
    table: str = "",
    scales: Mapping[int, tuple[float, int]] | None = None,
    version: int = 1,
    four_bits: Collection[int] = (),
    variables: Mapping[int, Sequence[int]] | None = None,
    kinds: Mapping[int, str] | None = None,
    intermediates: Sequence[tuple[float, int]] = (),
    absent: Collection[int] = (),
    custom: str = "",
) -> bytes:
    """A file with one operator, by the code generated from the schema.

    Args:
        op_type: a builtin.
        arrays: like its computed inputs.
        outputs: shape and type of each output.
        constants: the other inputs by their place.
        options: as the schema calls them.
        table: the name of the options' table, if there are options.
        scales: scale and zero point of each quantized tensor; inputs come first, in
            their places, then outputs.
        version: of the operator.
        four_bits: places of constants that are stored in 4 bits.
        variables: shapes of states, by their place.
        kinds: types of states that are not floats, by their place.
        intermediates: scale and zero point of tensors that only the interpreter needs.
        absent: places of inputs that are left out.
        custom: the name of an operator of type CUSTOM.
    """
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    flatbuffers: Any = importlib.import_module("flatbuffers")
    constants, scales, variables = constants or {}, scales or {}, variables or {}
    model = schema.ModelT()
    model.version = 3
    model.buffers = [schema.BufferT()]
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs = [], []

    def add(name: str, shape: Sequence[int], kind: str) -> Any:
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name, list(shape), _TYPES[kind]
        tensor.buffer = 0
        if len(graph.tensors) in scales:
            scale, zero = scales[len(graph.tensors)]
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = [scale]
            tensor.quantization.zeroPoint = [zero]
        graph.tensors.append(tensor)
        return tensor

    given = iter(arrays)
    total = len(arrays) + len(constants) + len(variables) + len(absent)
    for place in range(total):
        if place in absent:
            add(f"a{place}", (1,), "float32")  # of which only the place is needed
        elif place in variables:
            kind = (kinds or {}).get(place, "float32")
            add(f"v{place}", variables[place], kind).isVariable = True
        elif place in constants:
            array = np.asarray(constants[place])
            few = place in four_bits
            tensor = add(f"c{place}", array.shape, "int4" if few else array.dtype.name)
            buffer = schema.BufferT()
            stored = np.frombuffer(array.tobytes(), np.uint8)
            buffer.data = (stored[::2] & 15) | (stored[1::2] << 4) if few else stored
            tensor.buffer = len(model.buffers)
            model.buffers.append(buffer)
        else:
            array = next(given)
            graph.inputs.append(place)
            add(f"x{place}", array.shape, array.dtype.name)
    count = len(graph.tensors)
    for number, (shape, kind) in enumerate(outputs):
        add(f"y{number}", shape, kind)
    graph.outputs = list(range(count, count + len(outputs)))
    operator = schema.OperatorT()
    operator.inputs = [-1 if place in absent else place for place in range(count)]
    operator.outputs = graph.outputs
    operator.opcodeIndex = 0
    for number, (scale, zero) in enumerate(intermediates):
        tensor = add(f"i{number}", (), "int8" if number == 4 else "int16")
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero]
    operator.intermediates = list(range(len(graph.tensors)))[count + len(outputs) :]
    if table:
        stated = getattr(schema, f"{table}T")()
        if op_type in NEWER:
            operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, table)
            operator.builtinOptions2 = stated
        else:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, table)
            operator.builtinOptions = stated
        for name, value in (options or {}).items():
            # camelCase in the generated code
            camel = re.sub(r"_(\w)", lambda m: m.group(1).upper(), name)
            assert hasattr(stated, camel), camel
            setattr(stated, camel, value)
    graph.operators = [operator]
    model.subgraphs = [graph]
    code = schema.OperatorCodeT()
    number = BUILTINS.index(op_type)
    code.builtinCode, code.deprecatedBuiltinCode = number, min(number, 127)
    code.version = version
    code.customCode = custom or None
    model.operatorCodes = [code]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
