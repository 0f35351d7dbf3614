# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""A decoder token by token: time, overhead of the engine, memory.

    python -m benchmarks.decoding [--tokens 200] [--record NAME]

A decoder of the GPT-2 kind (6 layers, 256 wide, 8 heads, a cache of 256 tokens,
random weights) is converted once. Its caches are states, which the engine keeps
(`states` of the deployment file): a call gets one token and its position. ONNX
Runtime gets the caches handed back and forth, in place too. Logits are compared at
every token.

The same graph 8 wide with a cache of 2 has the same operators and next to no work
in them: what a token takes there, less the call from Python, is what the engine
needs outside of kernels, and a little more. The exit status is 1 when that is above
30 us. The resident memory is compared between the middle token and the last.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.library import LIBRARY, Library
from benchmarks.networks import ROOT
from benchmarks.record import add_arguments, recorder
from benchmarks.tables import Table
from benchmarks.timing import microseconds, resident_bytes
from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.convert.convert import convert_deployment
from mace.python.tools.convert.options import ConvertOptions

_FOLDER = ROOT / "build/benchmarks"
_OVERHEAD_US = 30.0


@dataclass(frozen=True)
class Size:
    """The dimensions of a decoder."""

    name: str
    layers: int = 6
    width: int = 256
    heads: int = 8
    cache: int = 256
    vocabulary: int = 1000


SIZES = (
    Size("decoder"),
    Size("decoder_small", width=8, heads=2, cache=2, vocabulary=8),
)


class _Writer:
    """Collects the nodes and weights of one decoder."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._rng = np.random.default_rng(2)
        self._count = 0

    def add(self, kind: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        self._count += 1
        name = to or f"{kind.lower()}_{self._count}"
        node = helper.make_node(kind, inputs, [name], name=name, **attributes)
        self.nodes.append(node)
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, *shape: int) -> str:
        values = self._rng.standard_normal(shape) / np.sqrt(shape[0])
        return self.constant(name, values.astype(np.float32))

    def norm(self, x: str, name: str) -> str:
        width = self.size.width
        scale = self.constant(f"{name}_scale", np.ones(width, np.float32))
        shift = self.weight(f"{name}_shift", width)
        return self.add("LayerNormalization", x, scale, shift, axis=-1)

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        product = self.add("MatMul", x, self.weight(f"{name}_w", rows, columns))
        return self.add("Add", product, self.weight(f"{name}_b", columns))

    def keep(self, new: str, cache: str, here: str) -> str:
        """The cache with one more token."""
        return self.add("Where", here, new, cache, to=f"{cache}_next")

    def layer(self, x: str, index: int, here: str, seen: str) -> str:
        size = self.size
        head = size.width // size.heads
        normed = self.norm(x, f"l{index}_attention")
        qkv = self.linear(normed, f"l{index}_qkv", size.width, 3 * size.width)
        parts = [f"l{index}_{part}" for part in "qkv"]
        self.nodes.append(
            helper.make_node(
                "Split", [qkv, "thirds"], parts, name=f"l{index}_split", axis=-1
            )
        )
        # [1, heads, 1, head]
        q, k, v = (self.add("Reshape", part, "by_head") for part in parts)
        keys = self.keep(k, f"k{index}", here)
        values = self.keep(v, f"v{index}", here)
        turned = self.add("Transpose", keys, perm=[0, 1, 3, 2])
        root = self.constant(f"l{index}_root", np.float32(1 / np.sqrt(head)))
        scores = self.add("Mul", self.add("MatMul", q, turned), root)
        masked = self.add("Where", seen, scores, "never")
        attention = self.add("Softmax", masked, axis=-1)
        mixed = self.add("Reshape", self.add("MatMul", attention, values), "joined")
        x = self.add("Add", x, self.linear(mixed, f"l{index}_out", *[size.width] * 2))
        normed = self.norm(x, f"l{index}_mlp")
        hidden = self.linear(normed, f"l{index}_up", size.width, 4 * size.width)
        erf = self.add("Erf", self.add("Mul", hidden, "root_half"))
        gelu = self.add("Mul", hidden, self.add("Add", erf, "one"))
        gelu = self.add("Mul", gelu, "half")
        down = self.linear(gelu, f"l{index}_down", 4 * size.width, size.width)
        return self.add("Add", x, down)


def _caches(size: Size) -> list[str]:
    return [f"{part}{layer}" for layer in range(size.layers) for part in "kv"]


def write_onnx(size: Size, path: Path) -> None:
    """The decoder as an ONNX file: inputs `token`, `position` and the caches."""
    w = _Writer(size)
    head = size.width // size.heads
    shape = [1, size.heads, size.cache, head]
    w.constant("thirds", np.full(3, size.width, np.int64))
    w.constant("by_head", np.array([1, size.heads, 1, head], np.int64))
    w.constant("joined", np.array([1, 1, size.width], np.int64))
    w.constant("never", np.float32(-1e9))
    w.constant("root_half", np.float32(np.sqrt(0.5)))
    w.constant("one", np.float32(1))
    w.constant("half", np.float32(0.5))
    # A cache has one row for each position.
    rows = np.arange(size.cache, dtype=np.int32)
    w.constant("rows", rows.reshape(size.cache, 1))
    w.constant("columns", rows)
    here = w.add("Equal", "rows", "position")
    seen = w.add("LessOrEqual", "columns", "position")
    tokens = w.weight("tokens", size.vocabulary, size.width)
    places = w.weight("places", size.cache, size.width)
    token, place = (
        w.add("Gather", table, index)
        for table, index in ((tokens, "token"), (places, "position"))
    )
    x = w.add("Add", token, place)
    for layer in range(size.layers):
        x = w.layer(x, layer, here, seen)
    head_weight = w.weight("head", size.width, size.vocabulary)
    w.add("MatMul", w.norm(x, "last"), head_weight, to="logits")

    def info(name: str, *dims: int, kind: int = TensorProto.FLOAT) -> Any:
        return helper.make_tensor_value_info(name, kind, dims)

    caches = _caches(size)
    graph = helper.make_graph(
        w.nodes,
        size.name,
        [
            info("token", 1, 1, kind=TensorProto.INT32),
            info("position", 1, 1, kind=TensorProto.INT32),
            *(info(cache, *shape) for cache in caches),
        ],
        [
            info("logits", 1, 1, size.vocabulary),
            *(info(f"{cache}_next", *shape) for cache in caches),
        ],
        w.weights,
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


_DEPLOYMENT = """
library_name: benchmarks
target_abis: host
models:
  {name}:
    platform: onnx
    model_file_path: {path}
    runtime: cpu
    data_type: fp32_fp32
    subgraphs:
      - input_tensors: [token, position, {caches}]
        input_shapes: ["1,1", "1,1", {shapes}]
        input_data_types: [int32, int32, {floats}]
        input_data_formats: NONE
        output_tensors: [logits, {nexts}]
        output_shapes: ["1,1,{vocabulary}", {shapes}]
        output_data_formats: NONE
        states: {{{states}}}
"""


def convert(size: Size) -> Path:
    """Writes and converts a decoder.

    Returns:
        the ONNX file; the model of MACE lies beside it.
    """
    _FOLDER.mkdir(parents=True, exist_ok=True)
    path = _FOLDER / f"{size.name}.onnx"
    write_onnx(size, path)
    caches = _caches(size)
    shape = f"1,{size.heads},{size.cache},{size.width // size.heads}"
    text = _DEPLOYMENT.format(
        name=size.name,
        path=path,
        caches=", ".join(caches),
        nexts=", ".join(f"{cache}_next" for cache in caches),
        shapes=", ".join([f'"{shape}"'] * len(caches)),
        floats=", ".join(["float32"] * len(caches)),
        states=", ".join(f"{cache}: {cache}_next" for cache in caches),
        vocabulary=size.vocabulary,
    )
    deployment = load_deployment_text(text, path.with_suffix(".yml"))
    convert_deployment(deployment, ConvertOptions(build_dir=_FOLDER / "decoding"))
    return path


class _Mace:
    """One engine, with its own caches."""

    def __init__(self, library: Library, size: Size, model: Path) -> None:
        self.token, self.position = (np.zeros((1, 1), np.int32) for _ in range(2))
        self.logits = np.zeros((1, 1, size.vocabulary), np.float32)
        self._library = library
        self.engine = library.engine(model, threads=1)
        self._call = self.engine.bind_all(
            {"token": self.token, "position": self.position},
            {"logits": self.logits},
            images=False,
        )

    def __call__(self, token: int, position: int) -> None:
        self.token[0, 0], self.position[0, 0] = token, position
        self._call()

    def nothing(self, token: int, position: int) -> None:
        """The call without the run: a call into the library that does nothing."""
        self.token[0, 0], self.position[0, 0] = token, position
        assert self._library.version


class _OnnxRuntime:
    """A session, and two sets of caches that are exchanged after each token."""

    def __init__(self, size: Size, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(path, options)
        self.token, self.position = (np.zeros((1, 1), np.int32) for _ in range(2))
        self.logits = np.zeros((1, 1, size.vocabulary), np.float32)
        shape = (1, size.heads, size.cache, size.width // size.heads)
        names = _caches(size)
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        fixed = {
            name: value(array)
            for name, array in (("token", self.token), ("position", self.position))
        }
        logits = value(self.logits)
        sets = [
            {name: value(np.zeros(shape, np.float32)) for name in names}
            for _ in range(2)
        ]
        self._bindings = []
        for old, new in (sets, sets[::-1]):
            binding = self._session.io_binding()
            for name, held in {**fixed, **old}.items():
                binding.bind_ortvalue_input(name, held)
            binding.bind_ortvalue_output("logits", logits)
            for name in names:
                binding.bind_ortvalue_output(f"{name}_next", new[name])
            self._bindings.append(binding)
        self._fixed, self._logits, self._turn = fixed, logits, 0

    def __call__(self, token: int, position: int) -> None:
        self._fixed["token"].update_inplace(np.full((1, 1), token, np.int32))
        self._fixed["position"].update_inplace(np.full((1, 1), position, np.int32))
        self._session.run_with_iobinding(self._bindings[self._turn])
        self._turn = 1 - self._turn
        self.logits = self._logits.numpy()


def measure(library: Library, size: Size, tokens: int) -> dict[str, Any]:
    """Runs both sides in turns, token by token.

    Returns:
        least and median microseconds of a token, the largest difference of
        logits, and by how many bytes the resident memory of the process grew
        in the second half.
    """
    path = convert(size)
    model = _FOLDER / "decoding/benchmarks/model" / size.name
    mace, other = _Mace(library, size, model), _OnnxRuntime(size, path)
    rng = np.random.default_rng(4)
    times: dict[str, list[float]] = {"MACE": [], "ONNX Runtime": []}
    difference, resident = 0.0, 0
    with mace.engine:
        # If there are more tokens than rows in the cache, the last row is overwritten.
        for index in range(tokens):
            at = int(rng.integers(size.vocabulary)), min(index, size.cache - 1)
            times["MACE"].append(microseconds(mace, *at))
            times["ONNX Runtime"].append(microseconds(other, *at))
            error = np.abs(mace.logits - other.logits).max()
            difference = max(difference, float(error / np.abs(other.logits).max()))
            if index == tokens // 2:
                resident = resident_bytes()
        grown = resident_bytes() - resident
        nothing = min(microseconds(mace.nothing, 0, 0) for _ in range(tokens))
    return {
        "decoder": size.name,
        "tokens": tokens,
        "us": {
            name: {"minimum": min(taken), "median": statistics.median(taken)}
            for name, taken in times.items()
        },
        "python_us": nothing,
        "difference": difference,
        "grown_bytes": grown,
    }


def tables(data: Any) -> list[Table]:
    """One row for each decoder."""
    table = Table(
        "decoding",
        "us per token, minimum (median), 1 thread",
        (
            "decoder",
            "tokens",
            "MACE",
            "of it Python's call",
            "ONNX Runtime",
            "ratio",
            "difference",
            "memory grown, bytes",
        ),
    )
    for row in data["rows"]:
        mace, other = (row["us"][side] for side in ("MACE", "ONNX Runtime"))
        minimum, median = (mace[k] / other[k] for k in ("minimum", "median"))
        table.add(
            row["decoder"],
            str(row["tokens"]),
            f"{mace['minimum']:.0f} ({mace['median']:.0f})",
            f"{row['python_us']:.1f}",
            f"{other['minimum']:.0f} ({other['median']:.0f})",
            f"{minimum:.3f} ({median:.3f})",
            f"{row['difference']:.1e}",
            str(row["grown_bytes"]),
        )
    return [table]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--library", type=Path, default=LIBRARY)
    add_arguments(parser)
    args = parser.parse_args()
    output = recorder("benchmarks.decoding", args)
    library = Library(args.library)
    rows = [measure(library, size, args.tokens) for size in SIZES]
    output.finish(
        {"rows": rows},
        {"MACE": library.version, "ONNX Runtime": onnxruntime.__version__},
    )
    overhead = rows[-1]["us"]["MACE"]["minimum"] - rows[-1]["python_us"]
    sys.stderr.write(f"overhead of a token: at most {overhead:.1f} us\n")
    if overhead > _OVERHEAD_US:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
