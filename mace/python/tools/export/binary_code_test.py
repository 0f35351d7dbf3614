# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mace.python.tools.export.binary_code import array_name, write_binary_code


@pytest.mark.parametrize("size", [0, 1, 16, 1000])
def test_the_array_has_the_bytes_of_the_file(tmp_path: Path, size: int) -> None:
    data = bytes((7 * i) % 256 for i in range(size))
    binary = tmp_path / "lib_compiled_opencl_kernel.MI6.msm8998.bin"
    binary.write_bytes(data)
    code = write_binary_code(binary)
    assert code == tmp_path / f"{binary.name}.cc"
    text = code.read_text()
    values = re.findall(r"0x([0-9a-f]{2}),", text)
    assert bytes(int(value, 16) for value in values) == data
    assert "lib_compiled_opencl_kernel_MI6_msm8998_size = " + str(size) in text


@pytest.mark.parametrize("compiler", ["clang++-19", "g++"])
def test_an_application_links_with_it(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    binary = tmp_path / "3d-net_tuned_opencl_parameter.Mi+.sdm660.bin"
    binary.write_bytes(b"\x01\x00\xff")
    name = array_name(binary)
    assert name == "_3d_net_tuned_opencl_parameter_Mi_sdm660"
    code = write_binary_code(binary)
    declared = re.search(r"//   namespace mace \{\n(//.*\n)+", code.read_text())
    assert declared
    main = tmp_path / "main.cc"
    main.write_text(
        re.sub("^//", "", declared[0], flags=re.MULTILINE)
        + f"int main() {{ return mace::{name}_size == 3 && mace::{name}[2] == 255\n"
        "    ? 0 : 1; }\n"
    )
    program = tmp_path / "program"
    flags = ("-Wall", "-Wextra", "-Werror")
    command = [compiler, *flags, str(main), str(code), "-o", str(program)]
    subprocess.run(command, check=True)
    subprocess.run([program], check=True)
