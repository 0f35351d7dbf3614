# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Caffe models in OpenCV, in its child process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mace.python.tools.importers.caffe.testing import rand, write_net
from mace.python.tools.validate.frameworks import (
    FrameworkError,
    ReferenceRequest,
    run_reference,
)

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("cv2") is None,
    reason="the optional package opencv-python-headless is not installed",
)

# As a file for training, with a data layer and layers that work in place.
_TEXT = """
layer { name: "in" type: "Data" top: "x" top: "label" include { phase: TEST } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c"
        convolution_param { num_output: 4 kernel_size: 1
                            weight_filler { type: "msra" } } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "s" type: "Slice" bottom: "c" top: "s1" top: "s2" }
layer { name: "p" type: "Power" bottom: "s2" top: "y" power_param { shift: 1 } }
layer { name: "e" type: "Eltwise" bottom: "s1" bottom: "y" top: "z" }
layer { name: "l" type: "EuclideanLoss" bottom: "z" bottom: "label" top: "l" }
"""
X = rand(2, 3, 4, 5)
W, B = rand(4, 3, 1, 1), rand(4)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return write_net(tmp_path, _TEXT, {"c": [W, B]})


def _relu() -> np.ndarray:
    product = np.einsum("nchw,oc->nohw", X, W[:, :, 0, 0]) + B.reshape(4, 1, 1)
    return np.asarray(np.maximum(product, 0))


def test_outputs_and_inner_tensors(paths: tuple[Path, Path]) -> None:
    result = run_reference(
        ReferenceRequest("cv2", paths[0], {"x": X}, ("y", "x"), ("c", "s1"), paths[1])
    )
    relu = _relu()
    assert set(result.tensors) == {"y", "x", "c", "s1"}
    for name, wanted in {
        "c": relu,
        "s1": relu[:, :2],
        "y": relu[:, 2:] + 1,
        "x": X,
    }.items():
        np.testing.assert_allclose(result.tensors[name], wanted, 1e-5, 1e-5)
    assert result.version.startswith("opencv ")


def test_an_inner_tensor_as_input(paths: tuple[Path, Path]) -> None:
    c = rand(2, 4, 4, 5)
    result = run_reference(
        ReferenceRequest("cv2", paths[0], {"c": c}, ("z",), (), paths[1])
    )
    np.testing.assert_allclose(result.tensors["z"], c[:, :2] + c[:, 2:] + 1, 1e-6, 1e-6)


def test_defaults_and_names_are_those_of_caffe(tmp_path: Path) -> None:
    text = """
    layer { name: "x" type: "Input" top: "x" }
    layer { name: "d" type: "DepthwiseConvolution" bottom: "x" top: "d"
            convolution_param { num_output: 3 kernel_size: 1 } }
    layer { name: "n" type: "LRN" bottom: "d" top: "n" }
    layer { name: "p" type: "Pooling" bottom: "n" top: "p"
            pooling_param { global_pooling: true } }
    layer { name: "y" type: "Concat" bottom: "p" bottom: "p" top: "y"
            concat_param { concat_dim: 0 } }
    """
    weights = rand(3, 1, 1, 1)
    model, caffemodel = write_net(tmp_path, text, {"d": [weights, B[:3]]})
    request = ReferenceRequest("cv2", model, {"x": X}, ("y", "d"), (), caffemodel)
    found = run_reference(request).tensors
    d = X * weights[:, :, 0, 0].reshape(3, 1, 1) + B[:3].reshape(3, 1, 1)
    np.testing.assert_allclose(found["d"], d, 1e-5, 1e-5)
    total = (d**2).sum(1, keepdims=True)  # all channels are in the window of 5
    pooled = (d / (1 + total / 5) ** 0.75).max((2, 3), keepdims=True)
    wanted = np.concatenate([pooled, pooled])
    np.testing.assert_allclose(found["y"], wanted, 1e-5, 1e-5)


def test_what_it_cannot_do(paths: tuple[Path, Path]) -> None:
    model, weights = paths
    request = ReferenceRequest("cv2", model, {"x": X}, ("zz",), (), weights)
    with pytest.raises(FrameworkError, match=r"no tensor 'zz' \(near: 'z'"):
        run_reference(request)
    wrong = {"x": rand(2, 5, 4, 5)}
    request = ReferenceRequest("cv2", model, wrong, ("z",), (), weights)
    with pytest.raises(FrameworkError, match="OpenCV cannot run .*validation_outputs"):
        run_reference(request)
