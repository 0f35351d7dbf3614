# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Models of each kind that the original's model zoo has, with the names, keys and
spellings of its deployment files, from the file to the validated output (PR-15).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.importers.caffe.testing import rand, write_net
from mace.python.tools.importers.onnx.testing import kaldi_model, make_model
from mace.python.tools.run.options import LayerRange
from mace.python.tools.run.testing.project import DEPLOYMENT, Project
from test.conformance.models.caffe_networks import mobilenet_ssd

_TENSORFLOW = """library_name: mobilenet
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  mobilenet_v1:
    platform: tensorflow
    model_file_path: {path}
    model_sha256_checksum: {sha}
    subgraphs:
      - input_tensors:
          - input
        input_shapes:
          - 1,16,16,3
{ranges}
        output_tensors:
          - MobilenetV1/Predictions/Reshape_1
        output_shapes:
          - 1,5
    runtime: {runtime}
    limit_opencl_kernel_time: 0
    nnlib_graph_mode: 0
    obfuscate: 0
    winograd: 0
{extra}
"""
_CAFFE_OF_2018 = """library_name: two_nets
target_abis: [host]
embed_model_data: 0
build_type: proto
models:
  first_net:
    platform: caffe
    model_file_path: {path}
    model_sha256_checksum: {sha}
    weight_file_path: {weights}
    weight_sha256_checksum: {weights_sha}
    subgraphs:
      - input_tensors: data
        input_shapes: 1,8,8,3
        output_tensors: prob
        output_shapes: 1,1,1,5
    runtime: neon
    data_type: fp32
    limit_opencl_kernel_time: 0
    winograd: on
"""
_ONNX = """library_name: net
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  net:
    platform: onnx
    model_file_path: {path}
    model_sha256_checksum: {sha}
    subgraphs:
      - input_tensors:
          - {input}
        input_shapes:
          - {shape}
        input_data_formats:
          - {formats}
        output_tensors:
          - {output}
        output_shapes:
          - {result}
        output_data_formats:
          - {formats}
{part}
    runtime: cpu
    data_type: fp32_fp32
    winograd: 4
"""
_KERAS = """library_name: mnist
target_abis: [host]
model_graph_format: file
model_data_format: file
models:
  mnist:
    platform: keras
    model_file_path: {path}
    model_sha256_checksum: {sha}
    subgraphs:
      - input_tensors:
          - {input}
        input_shapes:
          - {shape}
{part}
        output_tensors:
          - {output}
        output_shapes:
          - 1,5
    runtime: cpu
    limit_opencl_kernel_time: 0
    obfuscate: 0
{extra}
"""


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _mobilenet(path: Path, trained: bool) -> None:
    """As the TF-slim models are frozen, or fine-tuned by TensorFlow's rewrite."""
    tf = importlib.import_module("tensorflow")
    v1, rng = tf.compat.v1, np.random.default_rng(0)

    def rounded(x: Any, low: float, high: float, name: str) -> Any:
        if not trained:
            return x
        make = tf.quantization.fake_quant_with_min_max_vars
        return make(x, tf.constant(low), tf.constant(high), name=f"{name}/act_quant")

    def weights(name: str, *shape: int) -> Any:
        array = rng.normal(0, 0.3, shape).astype(np.float32)
        made = v1.constant(array, name=f"{name}/weights")
        limits = float(array.min()), float(array.max())
        return rounded(made, *limits, f"{name}/weights_quant")

    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [1, 16, 16, 3], name="input")
        name = "MobilenetV1/Conv2d_0"
        y = v1.nn.conv2d(
            x, weights(name, 3, 3, 3, 8), strides=[1, 2, 2, 1], padding="SAME"
        )
        y = rounded(tf.nn.relu6(y, name=f"{name}/Relu6"), 0.0, 6.0, name)
        name = "MobilenetV1/Conv2d_1_depthwise"
        # With dilations, as they were written then.
        y = tf.space_to_batch(y, [2, 2], [[2, 2], [2, 2]])
        y = v1.nn.depthwise_conv2d(y, weights(name, 3, 3, 8, 1), [1] * 4, "VALID")
        y = tf.batch_to_space(y, [2, 2], [[0, 0], [0, 0]])
        y = rounded(tf.nn.relu6(y, name=f"{name}/Relu6"), 0.0, 6.0, name)
        y = v1.nn.avg_pool(y, [1, 8, 8, 1], [1, 1, 1, 1], "VALID")
        name = "MobilenetV1/Logits"
        y = v1.nn.conv2d(y, weights(name, 1, 1, 8, 5), strides=[1] * 4, padding="SAME")
        y = rounded(v1.nn.bias_add(y, tf.constant(rand(5))), -6.0, 6.0, name)
        y = tf.reshape(tf.squeeze(y, [1, 2]), [-1, 5])
        y = tf.nn.softmax(y, name="MobilenetV1/Predictions/Softmax")
        tf.reshape(y, [1, 5], name="MobilenetV1/Predictions/Reshape_1")
    path.write_bytes(graph.as_graph_def().SerializeToString())


def _tensorflow(folder: Path, trained: bool = False) -> str:
    path = folder / "mobilenet.pb"
    _mobilenet(path, trained)
    return _TENSORFLOW.format(
        path=path,
        sha=_sha(path),
        ranges="        input_ranges:\n          - -1.0,1.0" if trained else "",
        runtime="cpu",
        extra="    quantize: 1" if trained else "",
    )


def _trained(folder: Path) -> str:
    return _tensorflow(folder, True)


def _caffe(folder: Path) -> str:
    text = """
    name: "net"
    input: "data"
    input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
    layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
      convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
    layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
    layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
      pooling_param { pool: AVE global_pooling: true } }
    layer { name: "fc" type: "Convolution" bottom: "pool" top: "fc"
      convolution_param { num_output: 5 kernel_size: 1 } }
    layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
    """
    blobs = {
        "conv": [rand(4, 3, 3, 3), rand(4)],
        "fc": [rand(5, 4, 1, 1), rand(5)],
    }
    path, weights = write_net(folder, text, blobs)
    return _CAFFE_OF_2018.format(
        path=path, sha=_sha(path), weights=weights, weights_sha=_sha(weights)
    )


def _onnx(folder: Path) -> str:
    node = onnx.helper.make_node("Conv", ["0", "w"], ["317"], pads=[1] * 4)
    x = rand(1, 3, 8, 8)
    model = make_model([node], {"0": x}, ["317"], {"w": rand(4, 3, 3, 3)})
    path = folder / "net.onnx"
    onnx.save(model, path)
    return _ONNX.format(
        path=path,
        sha=_sha(path),
        input="'0'",
        shape="1,3,8,8",
        output="'317'",
        result="1,4,8,8",
        formats="NCHW",
        part="        backend: pytorch",
    )


def _kaldi(folder: Path) -> str:
    x = rand(1, 7, 12)
    model = kaldi_model("Scale", {"input": x}, scale=2.0, outputs=["output.affine"])
    path = folder / "kaldi.onnx"
    onnx.save(model, path)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", 2 * x)
    return _ONNX.format(
        path=path,
        sha=_sha(path),
        input="input",
        shape="1,7,12",
        output="output.affine",
        result="1,7,12",
        formats="NONE",
        part=f"""        backend: kaldi
        validation_inputs_data:
          - {folder / "x.npy"}
        validation_outputs_data:
          - {folder / "y.npy"}""",
    )


def _keras(folder: Path) -> str:
    keras = importlib.import_module("keras")
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1), name="conv2d_1_input"),
            keras.layers.Conv2D(4, 3, activation="relu", name="conv2d_1"),
            keras.layers.Flatten(name="flatten_1"),
            keras.layers.Dense(5, activation="softmax", name="dense_1"),
        ]
    )
    path = folder / "mnist.h5"
    model.save(path)
    return _KERAS.format(
        path=path,
        sha=_sha(path),
        input="conv2d_1_input:0",
        shape="1,8,8,1",
        output="dense_1/Softmax:0",
        part="",
        extra="",
    )


def _keras_trained(folder: Path) -> str:
    files = Path(__file__).parents[1] / "importers/keras/testdata/quantize_aware.zip"
    with zipfile.ZipFile(files) as archive:
        archive.extractall(folder)
    for name in ("x", "y"):
        np.save(folder / f"{name}.npy", np.load(folder / f"{name}.npy")[:1])
    path = folder / "model.h5"
    return _KERAS.format(
        path=path,
        sha=_sha(path),
        input="input_1:0",
        shape="1,12,12,1",
        output="quant_dense/Softmax:0",
        part=f"""        input_ranges:
          - -1.0,1.0
        validation_inputs_data:
          - {folder / "x.npy"}
        validation_outputs_data:
          - {folder / "y.npy"}""",
        extra="    quantize: 1",
    )


@pytest.mark.parametrize(
    "build",
    [_tensorflow, _trained, _caffe, _onnx, _kaldi, _keras, _keras_trained],
)
def test_a_file_of_the_zoo_goes_all_the_way(
    project: Project, build: Callable[[Path], str], tmp_path: Path
) -> None:
    deployment = load_deployment_text(build(tmp_path), tmp_path / "zoo.yml")
    project.convert(deployment)
    (run,) = project.run(deployment, validate=True).runs
    assert run.passed, project.output.getvalue()


# Caffe, layer by layer, nothing replaced ----------------------------------------------

_DETECTOR = """
  ssd:
    platform: caffe
    model_file_path: {model}
    weight_file_path: {weights}
    docker_image_tag: ssd
    subgraphs:
      - input_tensors: [data]
        input_shapes: ["1,64,64,3"]
        output_tensors: [mbox_loc, mbox_conf_flatten, mbox_priorbox, detection_out]
        output_shapes: ["1,-1", "1,-1", "1,2,-1", "1,1,-1,7"]
    runtime: cpu
"""


@pytest.mark.skipif(
    importlib.util.find_spec("cv2") is None,
    reason="the optional package opencv-python-headless is not installed",
)
def test_a_detector_validates_layer_by_layer(project: Project) -> None:
    net = mobilenet_ssd()
    model, weights = write_net(project.folder, net.text, net.weights())
    text = DEPLOYMENT.format(models=_DETECTOR.format(model=model, weights=weights))
    deployment = load_deployment_text(text, project.folder / "d.yml")
    project.convert(deployment)
    report = project.run(deployment, validate=True, layers=LayerRange())
    assert report.passed
    (run,) = report.runs
    assert run.reference.startswith("opencv 4")
    assert [c.name for c in run.comparisons] == list(net.outputs)
    assert all(c.metrics.similarity > 0.999999 for c in run.comparisons)
    assert len(run.layers) > 10
