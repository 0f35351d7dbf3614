# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Caffe models from a deployment file to a verdict, nothing replaced."""

from __future__ import annotations

import importlib.util

import pytest

from mace.python.tools.config.load import load_deployment_text
from mace.python.tools.importers.caffe.testing import write_net
from mace.python.tools.run.options import LayerRange
from mace.python.tools.run.testing.project import DEPLOYMENT, Project
from test.conformance.models.caffe_networks import mobilenet_ssd

_MODEL = """
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
    text = DEPLOYMENT.format(models=_MODEL.format(model=model, weights=weights))
    deployment = load_deployment_text(text, project.folder / "d.yml")
    project.convert(deployment)
    report = project.run(deployment, validate=True, layers=LayerRange())
    assert report.passed
    (run,) = report.runs
    assert run.reference.startswith("opencv 4")
    assert [c.name for c in run.comparisons] == list(net.outputs)
    assert all(c.metrics.similarity > 0.999999 for c in run.comparisons)
    assert len(run.layers) > 10
