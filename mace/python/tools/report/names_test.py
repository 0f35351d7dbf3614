# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from mace.python.tools.html_template import breakable
from mace.python.tools.report.names import common_prefix, elided


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (["net/block_1/conv", "net/block_12/conv"], "net/block_"),
        (["net/a", "net/a"], ""),
        (["conv1", "conv2"], ""),
        (["a/b", "a/c"], ""),
        (["gpu_0/res2", "gpu_0/res3", "gpu_0/fc"], "gpu_0/"),
        ([], ""),
    ],
)
def test_the_prefix_ends_after_a_separator(names: list[str], prefix: str) -> None:
    assert common_prefix(names) == prefix


def test_names_keep_their_ends() -> None:
    assert elided("gpu_0/res2", "gpu_0/") == "\u2026res2"
    assert elided("conv", "gpu_0/") == "conv"
    # Words stay whole.
    assert elided("x" * 30 + "/conv", most=10) == "\u2026conv"
    assert elided("global_average_pooling2d", most=22) == "\u2026average_pooling2d"
    assert elided("a/conv_1", most=7) == "\u2026conv_1"
    assert len(elided("n" * 100, most=12)) == 12


def test_long_names_break_after_separators_only() -> None:
    text = breakable("mace_run <b> wrote build/run/logs/net_a.log: 1.5")
    assert text == (
        "mace_run &lt;b&gt; wrote "
        "build/<wbr>run/<wbr>logs/<wbr>net_<wbr>a.<wbr>log: 1.5"
    )
