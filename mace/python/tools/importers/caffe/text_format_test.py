# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The text form, compared with protobuf's own parser; and what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

from mace.python.tools.importers.caffe.testing import NETWORKS, messages
from mace.python.tools.importers.caffe.text_format import (
    TextError,
    Unknown,
    parse_text,
)

_SPELLINGS = [
    "name: 'it''s' name_is_not_one: 1",
    'layer { name: "a\\n\\"b" "c" } layer < name: "d" >',
    "layer: { name: 'x' }; layer { name: 'y', type: 'z' }",
    "input_dim: [1, 0x10, 010, -3] input_dim: 4 # five numbers\n# and a line",
    "layer { power_param { power: 1.5e-3 scale: -.5f shift: 2. } }",
    "layer { power_param { power: inf scale: -inf shift: 1E3 } }",
    "layer { convolution_param { bias_term: 0 kernel_size: 3 stride: [1, 2] } }",
    "layer { convolution_param { bias_term: t } pooling_param { pool: AVE } }",
    "layer { pooling_param { pool: 1 } include: [{ phase: TEST }, { phase: 0 }] }",
    "input_shape { dim: [1, 2] } input_shape: { dim: 3 dim: 4 }",
    "input: []",
]


@pytest.mark.parametrize("text", _SPELLINGS)
def test_as_protobuf(text: str) -> None:
    wanted, found = messages().NetParameter(), messages().NetParameter()
    text_format.Parse(text, wanted, allow_unknown_field=True)
    parse_text(text, found, ())
    assert found == wanted


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_as_protobuf(name: str) -> None:
    text = NETWORKS[name]().text
    wanted, found = messages().NetParameter(), messages().NetParameter()
    text_format.Parse(text, wanted, allow_unknown_field=True)
    parse_text(text, found, ())
    assert found == wanted


def test_unknown_fields() -> None:
    text = """
    layer { name: "a" }
    layer { name: "b" more { deep: [{ x: 1 }, "text" 'text'] deeper: -1 } rate: 0.5
            convolution_param { kernel_size: 3 kernel_d: 3 weight_filler { std: 1 } }
            include { phase: TEST level: 3 } }
    extra: "text"
    """
    net: Any = messages().NetParameter()
    found = parse_text(text, net, {"weight_filler"})
    layer = ("layer", 1)
    assert found == [
        Unknown((layer,), "more", 3),
        Unknown((layer,), "rate", 3),
        Unknown((layer,), "convolution_param.kernel_d", 4),
        Unknown((layer, ("include", 0)), "include.level", 5),
        Unknown((), "extra", 6),
    ]
    assert list(net.layer[1].convolution_param.kernel_size) == [3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer {", "line 1: expected the name of a field, not 'the end"),
        ("layer }", "expected '{' after layer"),
        ("layer { } }", "not '}'"),
        ("layer { > ", "not '>'"),
        ("\n\nname 'x'", "line 3: expected ':' after name"),
        ("name: x", "takes a text in quotes"),
        ("name: 'x", 'unexpected "\'"'),
        ("name: 'x' name: 'y'", "name is given twice"),
        ("name: ['x']", "name takes one value"),
        ("input_dim: 1.5", "takes an integer"),
        ("input_dim: 3000000000", "input_dim is out of range"),
        ("input_dim: " + "9" * 5000, "takes an integer"),
        ("input_dim: [1 2]", "expected ',' or ']'"),
        ("input_dim: x", "takes an integer"),
        ("layer { power_param { power: 'x' } }", "takes a number"),
        ("layer { power_param { power: much } }", "takes a number"),
        ("layer { pooling_param { pool: MEAN } }", "accepted: MAX, AVE, STOCHASTIC"),
        ("layer { convolution_param { bias_term: 2 } }", "takes true or false"),
        ("layer { convolution_param { group: -1 } }", "out of range"),
        ("unknown", "the text ends within a field"),
        ("unknown }", "unexpected '}'"),
        ("unknown { ]", "unexpected ']'"),
        ("unknown: [[[[", "the text ends within a field"),
        ("$", "line 1: unexpected '\\$'"),
        ("\x00", "unexpected"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(
        TextError, match=message.replace("[", r"\[").replace("{", r"\{")
    ):
        parse_text(text, messages().NetParameter(), ())
