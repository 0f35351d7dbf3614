# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers.ncnn_int8 import integer_results, layers_of, rewrite

_PARAM = """7767517
7 8
Input in0 0 1 in0
Convolution a 1 1 in0 1 0=2 1=1 5=1 6=6 9=1
Split s 1 2 1 2 3
ConvolutionDepthWise b 1 1 2 4 0=2 1=1 5=0 6=2 7=2
Convolution c 1 1 3 5 0=2 1=1 5=0 6=4
BinaryOp add 2 1 4 5 6 0=0
InnerProduct out0 1 1 6 out0 0=1 1=1 2=2
"""
_TAG = np.uint32(0).tobytes()


def _floats(*values: float) -> bytes:
    return np.array(values, np.float32).tobytes()


def _weights() -> bytes:
    return b"".join(
        (
            *(_TAG, _floats(1, -2, 0.5, 0, 0, 0), _floats(7, 8)),
            *(_TAG, _floats(4, -8)),
            *(_TAG, _floats(127, 1, 0.5, -127)),
            *(_TAG, _floats(1, 2), _floats(9)),
        )
    )


def test_results_that_only_convolutions_read_are_integers() -> None:
    layers = layers_of(_PARAM)
    assert integer_results(layers) == {"a": "b"}
    # The sum reads floats.
    alone = layers_of(_PARAM.replace("Convolution c", "BinaryOp c"))
    assert integer_results(alone) == {}


def test_weights_are_rounded_by_output_and_by_group() -> None:
    largest = {"a": 254.0, "b": 127.0, "c": 127.0, "out0": 1.0}
    text, data = rewrite(layers_of(_PARAM), _weights(), largest)
    lines = text.splitlines()
    assert lines[:2] == ["7767517", "7 8"]
    assert lines[3] == "Convolution a 1 1 in0 1 0=2 1=1 5=1 6=6 9=1 8=102"
    assert lines[5].endswith("7=2 8=1")
    assert lines[6].endswith("6=4 8=2")
    assert lines[8].endswith("2=2 8=2")
    tag = (0x000D4B38).to_bytes(4, "little")

    def integers(*values: int) -> bytes:
        return tag + np.array(values, np.int8).tobytes() + bytes(-len(values) % 4)

    assert data == b"".join(
        (
            # A filter of zeros has the scale 1. 63.5 and 31.75 are rounded away from 0.
            *(integers(64, -127, 32, 0, 0, 0), _floats(7, 8)),
            *(_floats(63.5, 1), _floats(0.5), _floats(1)),
            *(integers(127, -127), _floats(31.75, 15.875), _floats(1)),
            *(integers(127, 1, 1, -127), _floats(1, 1), _floats(1)),
            *(integers(64, 127), _floats(9), _floats(63.5), _floats(127)),
        )
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, w: (t.replace("Split", "LSTM"), w), "no rule for LSTM"),
        (lambda t, w: (t.replace("7767517", "1"), w), "begins with '1'"),
        (lambda t, w: (t, w + b"1234"), "4 bytes of weights are left"),
        (lambda t, w: (t, b"1" + w[1:]), "the weights of a are not in fp32"),
    ],
)
def test_other_files_are_refused(change, message: str) -> None:  # type: ignore[no-untyped-def]
    text, weights = change(_PARAM, _weights())
    with pytest.raises(ValueError, match=message):
        rewrite(layers_of(text), weights, dict.fromkeys(("a", "b", "c", "out0"), 1.0))
