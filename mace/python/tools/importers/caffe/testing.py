# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small Caffe networks for tests, and compares MACE with OpenCV or a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mace.python.tools.importers.caffe import import_model
from mace.python.tools.importers.caffe.layer import HANDLERS
from mace.python.tools.importers.caffe.net import read_net
from mace.python.tools.importers.frame.errors import UnsupportedNodesError
from mace.python.tools.importers.frame.request import ImportRequest
from mace.python.tools.importers.frame.testing import Tried, assert_close, request_for
from mace.python.tools.ir.dtypes import Array
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat, Graph
from mace.python.tools.proto import load_proto
from mace.python.tools.validate.frameworks.opencv_dnn import without_padding

SEED = 20261127
Blobs = Mapping[str, Sequence[Array]]

_PROTO = "mace/python/tools/importers/caffe/caffe.proto"


def messages() -> Any:
    """The messages of caffe.proto."""
    return load_proto(_PROTO)


def rand(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Random numbers from a fixed seed, uniform in [low, high)."""
    rng = np.random.default_rng([SEED, seed, *shape])
    return rng.uniform(low, high, shape).astype(np.float32)


def caffemodel(blobs: Blobs) -> Any:
    """The weights of layers in the current format."""
    net = messages().NetParameter(name="weights")
    for name, arrays in blobs.items():
        layer = net.layer.add(name=name)
        for array in arrays:
            fill_blob(layer.blobs.add(), array)
    return net


def fill_blob(blob: Any, array: Array) -> None:
    """Writes an array into a BlobProto."""
    blob.shape.dim.extend(array.shape)
    blob.data.extend(array.astype(np.float32).ravel().tolist())


def layer_text(
    kind: str, param: str = "", bottoms: str = "x", tops: str = "y", name: str = "l"
) -> str:
    """A layer as a prototxt has it; names of blobs are apart by spaces."""
    blobs = [f'bottom: "{blob}"' for blob in bottoms.split()]
    blobs += [f'top: "{blob}"' for blob in tops.split()]
    return f'layer {{ name: "{name}" type: "{kind}" {" ".join(blobs)} {param} }}'


def with_inputs(text: str, inputs: Mapping[str, Array]) -> str:
    """A network with an Input layer for each array."""
    layers = [
        f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ '
        + " ".join(f"dim: {dim}" for dim in array.shape)
        + " } } }\n"
        for name, array in inputs.items()
    ]
    return 'name: "net"\n' + "".join(layers) + text


def write_net(folder: Path, text: str, blobs: Blobs | Any = None) -> tuple[Path, Path]:
    """Writes a prototxt and a caffemodel; returns their paths."""
    model, weights = folder / "net.prototxt", folder / "net.caffemodel"
    model.write_text(text, encoding="utf-8")
    given = {} if blobs is None else blobs
    net = caffemodel(given) if isinstance(given, Mapping) else given
    if not net.layer and not net.layers:
        net.layer.add(name="nothing")
    weights.write_bytes(net.SerializeToString())
    return model, weights


def request_of(
    paths: tuple[Path, Path],
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    data_format: DataFormat = DataFormat.NONE,
) -> ImportRequest:
    """A request for whole tensors in Caffe's order."""
    return request_for(paths[0], inputs, outputs, data_format, paths[1])


def import_net(
    folder: Path,
    text: str,
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    blobs: Blobs | Any = None,
) -> Graph:
    """Imports a network through its files."""
    paths = write_net(folder, text, blobs)
    return import_model(request_of(paths, inputs, outputs))


def run_opencv(
    paths: tuple[Path, Path], inputs: Mapping[str, Array], outputs: Sequence[str]
) -> list[Array]:
    """The blobs that OpenCV computes; skips the test if it is not installed."""
    import pytest  # only tests need this function

    cv2 = pytest.importorskip("cv2")
    net = cv2.dnn.readNetFromCaffe(str(paths[0]), str(paths[1]))
    net.enableFusion(False)
    for name, array in inputs.items():
        net.setInput(array, name)
    parsed = read_net(paths[0])
    found = []
    for blob in outputs:
        layer = parsed.layers[parsed.last[blob].layer]
        # OpenCV calls the last layer as its blob.
        name = layer.name if layer.name in net.getLayerNames() else blob
        tops = net.forwardAndRetrieve([name])[0]
        found.append(without_padding(layer, tops[layer.tops.index(blob)]))
    return found


class Family(Tried):
    """The layers of one file of `handlers/`."""

    def __init__(self, name: str) -> None:
        super().__init__(HANDLERS, name)

    def check(
        self,
        tmp_path: Path,
        text: str,
        inputs: Mapping[str, Array],
        outputs: Sequence[str] = ("y",),
        blobs: Blobs | None = None,
        expected: Sequence[Array] | None = None,
        tolerance: float = 2e-5,
    ) -> None:
        """Imports a network and compares its outputs.

        Args:
            text: its layers, without the inputs.
            expected: by Caffe's definition; None: what OpenCV computes.
        """
        paths = write_net(tmp_path, with_inputs(text, inputs), blobs)
        self.note(*(layer.type for layer in read_net(paths[0]).layers))
        graph = import_model(request_of(paths, inputs, outputs))
        results = run_graph(graph, dict(inputs))
        if expected is None:
            expected = run_opencv(paths, inputs, outputs)
        for name, wanted in zip(outputs, expected):
            assert_close(results[name], wanted, tolerance, name)

    def refuses(
        self,
        tmp_path: Path,
        text: str,
        inputs: Mapping[str, Array],
        message: str,
        blobs: Blobs | None = None,
        outputs: Sequence[str] = ("y",),
    ) -> None:
        """Checks that a network is refused with a message that has a pattern."""
        import pytest  # only tests need this method

        with pytest.raises(UnsupportedNodesError, match=message):
            import_net(tmp_path, with_inputs(text, inputs), inputs, outputs, blobs)
