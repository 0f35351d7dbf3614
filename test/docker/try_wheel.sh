#!/usr/bin/env bash
# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bash test/docker/try_wheel.sh WHEEL MODEL
#
# Inside an image, as a newcomer: installs the Python package in an environment of its
# own, runs the digit classifier with three lines of Python, and compares the result
# with that of ONNX Runtime, which the image has.

set -euo pipefail

folder=$(mktemp -d)
cp "$2" "$folder/digits.onnx"
cd "$folder"
/usr/bin/python3 -m venv trial
trial/bin/pip install --quiet --disable-pip-version-check "$1"
python3 - <<'PY'
import numpy
numpy.save("image", numpy.random.default_rng(1).random((1, 1, 8, 8), "float32"))
PY
trial/bin/python - <<'PY'
import mace, numpy
model = mace.load("digits.onnx", dims={"N": 1})
numpy.save("result", model(numpy.load("image.npy")))
PY
python3 - <<'PY'
import numpy, onnxruntime
session = onnxruntime.InferenceSession("digits.onnx")
(expected,) = session.run(None, {"image": numpy.load("image.npy")})
numpy.testing.assert_allclose(numpy.load("result.npy"), expected, rtol=1e-3, atol=1e-6)
PY
trial/bin/mace --version
rm -r "$folder"
