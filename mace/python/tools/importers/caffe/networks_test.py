# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole networks, compared with OpenCV before and after the passes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe import import_model
from mace.python.tools.importers.caffe.networks import NETWORKS
from mace.python.tools.importers.caffe.testing import (
    caffemodel,
    request_for,
    write_net,
)
from mace.python.tools.ir.evaluate import run_graph
from mace.python.tools.ir.graph import DataFormat
from mace.python.tools.passes.manager import optimize
from mace.python.tools.validate.frameworks import ReferenceRequest, run_reference

needs_opencv = pytest.mark.skipif(
    importlib.util.find_spec("cv2") is None,
    reason="the optional package opencv-python-headless is not installed",
)


@needs_opencv
@pytest.mark.parametrize("name", NETWORKS)
def test_as_opencv(name: str, tmp_path: Path) -> None:
    net = NETWORKS[name]()
    paths = write_net(tmp_path, net.text, net.weights())
    inputs = {"data": net.data}
    # OpenCV does not read weights of the first format.
    weights = tmp_path / "current.caffemodel"
    weights.write_bytes(caffemodel(net.blobs).SerializeToString())
    wanted = run_reference(
        ReferenceRequest("cv2", paths[0], inputs, net.outputs, (), weights)
    ).tensors
    graph = import_model(request_for(paths, inputs, net.outputs, DataFormat.NCHW))
    results = run_graph(graph, inputs)
    for output in net.outputs:
        np.testing.assert_allclose(results[output], wanted[output], 1e-4, 1e-4)
    optimize(graph)
    results = run_graph(graph, {"data": inputs["data"].transpose(0, 2, 3, 1)})
    for output in net.outputs:
        found = results[output]
        if graph.formats[output] is DataFormat.NHWC:
            found = found.transpose(0, 3, 1, 2)
        np.testing.assert_allclose(found, wanted[output], 1e-4, 1e-4)
    transposes = [
        op.name
        for op in graph.ops
        if op.type == "Transpose" and len(op.input(0).shape or ()) == 4
    ]
    assert not transposes, "the order of channels changes nowhere"


def test_normalisation_and_activation_become_part_of_convolutions(
    tmp_path: Path,
) -> None:
    net = NETWORKS["resnet"]()
    paths = write_net(tmp_path, net.text, net.weights())
    request = request_for(paths, {"data": net.data}, net.outputs, DataFormat.NCHW)
    graph = import_model(request)
    optimize(graph)
    types = [op.type for op in graph.ops]
    assert "BatchNorm" not in types
    assert "Activation" not in types
    assert types.count("Conv2D") == 9
