# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""`runtime: dsp` on a phone whose DSP is emulated, and on one without a usable DSP.

The program is this computer's own, linked statically; phones of the farm run it, too.
One for ARM differs in what does not concern the DSP, and takes minutes to build.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mace.python.tools.bazel import Variant, build_program
from mace.python.tools.config.vocabulary import Abi
from mace.python.tools.errors import MissingToolError
from mace.python.tools.run.accelerator_files import DspFiles
from mace.python.tools.run.options import RunOptions
from test.device_farm.farm import Farm
from test.devices.conftest import convert
from test.devices.tool import ROOT, Tool

_PHONES = ("xperia1_ii", "mi6")
_LIBRARY = "digits_dsp"
# They share a farm and a program.
pytestmark = pytest.mark.xdist_group("dsp")


class _StaticProgram(Variant):
    def flags(self) -> list[str]:
        return ["--define=hexagon=true", "--config=static"]


@pytest.fixture(scope="module")
def dsp_farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    """The phone with a DSP, and one without; connected."""
    folder = tmp_path_factory.mktemp("dsp") / "farm"
    first = 23555 + 20 * (os.getpid() % 150)
    with Farm(folder, _PHONES, (), adb_port=first, ssh_port=first + 3500) as one:
        for phone in one.phones:
            command = ["adb", "connect", phone.address]
            subprocess.run(command, env=one.env, stdin=subprocess.DEVNULL, check=True)
        yield one


@pytest.fixture(scope="module")
def dsp_tool(dsp_farm: Farm, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    """The quantized digits for the DSP, and the programs."""
    folder = tmp_path_factory.mktemp("dsp_tool")
    build_dir = folder / "build"
    text = (ROOT / "mace/examples/digits/digits_ptq.yml").read_text()
    text = text.replace("runtime: cpu", "runtime: dsp")
    config = folder / "digits_dsp.yml"
    config.write_text(
        text.replace("library_name: digits_ptq", f"library_name: {_LIBRARY}")
    )
    try:
        program = folder / "mace_run"
        build_program("//mace/tools:mace_run", _StaticProgram(Abi.HOST), program)
        files = DspFiles.of((), RunOptions(build_dir=ROOT / "build"))
    except MissingToolError as error:
        pytest.skip(f"cannot build mace_run: {error}")
    assert files.program is not None
    places = {
        build_dir / "bin/arm64-v8a-dsp/mace_run": program,
        build_dir / "bin/hexagon_v67/mace_hexagon_skel": files.program,
        # Nothing here loads it.
        build_dir / "bin/hexagon_v66/libmace_hexagon_skel.so": files.program,
    }
    for place, file in places.items():
        place.parent.mkdir(parents=True)
        # New: it is not built again.
        shutil.copyfile(file, place)
        place.chmod(0o755)
    convert(str(config), build_dir)
    return Tool(build_dir, dsp_farm, str(config))


def test_a_model_runs_on_the_dsp_of_a_phone(dsp_tool: Tool) -> None:
    name = dsp_tool.farm.phones[0].address
    flags = ("--target_abis=arm64-v8a", "--validate", "--benchmark", "--json=-")
    ended = dsp_tool.run(f"--devices_to_run={name}", *flags)
    assert ended.status == 0, ended.text
    assert "probability: cosine similarity 0.99" in ended.text
    assert '"device": "dsp"' in ended.text


def test_a_phone_without_a_usable_dsp_is_told(dsp_tool: Tool) -> None:
    ended = dsp_tool.run("--target_abis=arm64-v8a", "--validate")
    assert ended.status != 0
    # The other phone goes on.
    assert "probability: cosine similarity 0.99" in ended.text
    text = " ".join(ended.text.split())
    assert "runtime: dsp cannot be used; DSP: found Hexagon v62 of msm8998" in text


def test_the_doctor_looks_at_phones(dsp_farm: Farm) -> None:
    done = subprocess.run(
        [sys.executable, "tools/converter.py", "doctor", "--for=dsp", "--json"],
        cwd=ROOT,
        env=dsp_farm.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    checks = json.loads(done.stdout)["checks"]
    states: dict[str, dict[str, str]] = {}
    for check in checks:
        states.setdefault(check["group"], {})[check["name"]] = check["state"]
    (xperia,) = (group for group in states if "Xperia" in group or "xperia" in group)
    assert set(states[xperia].values()) == {"ok"}
    (mi6,) = (group for group in states if group.startswith("DSP of MI"))
    # Not missing: the other phone will do.
    assert states[mi6]["DSP"] == "not needed"
    (found,) = (c["found"] for c in checks if (c["group"], c["name"]) == (mi6, "DSP"))
    assert found == "Hexagon v62 of msm8998"
