# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

from mace.kernels.opencl.embed_cl import embed, header, symbol

_PATH = "mace/ops/normalization/batch_norm.cl"


def test_names_follow_the_file() -> None:
    assert symbol(_PATH) == "kBatchNormCl"
    assert symbol("mace/kernels/opencl/tensor.clh") == "kTensorClh"
    assert header(_PATH) == "mace/ops/normalization/batch_norm_cl.h"


def test_text_is_kept_without_comments_and_indentation() -> None:
    found = embed(
        _PATH,
        "// A comment.\n__kernel void f() {  // more\n"
        "  /* over\n     lines */ int a = 1 /\n    2;\n\n}\n#define X \\\n  y\n",
    )
    text = found.split('R"cl(')[1].split(')cl"')[0]
    assert text == "__kernel void f() {\nint a = 1 /\n2;\n}\n#define X \\\ny\n"


def test_included_files_are_named_and_not_copied() -> None:
    found = embed(_PATH, '#include "mace/kernels/opencl/tensor.clh"\nint a;\n')
    assert '#include "mace/kernels/opencl/tensor_clh.h"' in found
    assert "kBatchNormClIncludes[] = {&kTensorClh};" in found
    assert "kBatchNormClIncludes, 1}" in found
    assert "#include" not in found.split('R"cl(')[1].split(')cl"')[0]


def test_a_file_that_no_literal_holds_is_refused() -> None:
    with pytest.raises(SystemExit, match="divide it"):
        embed(_PATH, "int a;\n" * 20000)


@pytest.mark.parametrize(
    "function",
    ["get_group_id(0)", "get_num_groups (1)", "get_global_size(2)"],
)
def test_what_is_wrong_under_a_global_offset_is_refused(function: str) -> None:
    with pytest.raises(SystemExit, match="GROUP_INDEX"):
        embed(_PATH, f"int a = {function};\n")
    assert "get_global_id" in embed(
        _PATH, f"// {function}\nint a = get_global_id(0);\n"
    )
