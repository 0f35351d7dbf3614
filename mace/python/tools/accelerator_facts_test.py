# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries of vendors have one list of names, whatever the language."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mace.python.tools.accelerator_facts import (
    ADAPTERS,
    Adapter,
    checks,
    device_environment,
    script,
)

_ROOT = Path(__file__).resolve().parents[3]
_SOURCES = {
    "htp": "qnn/qnn_api.cc",
    "hta": "hta/hta_api.cc",
    "apu": "neuron/neuron_api.cc",
}
_EVERY_ADAPTER = pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda a: a.runtime)


@_EVERY_ADAPTER
def test_adapters_open_the_same_libraries(adapter: Adapter) -> None:
    path = _ROOT / "mace" / "runtimes" / _SOURCES[adapter.runtime]
    text = path.read_text("utf-8")
    (listed,) = re.findall(r"kLibraries\[\] = {(.*?)}", text, re.DOTALL)
    assert tuple(re.findall(r'"(.*?)"', listed)) == adapter.libraries
    assert re.findall(r'"(MACE_\w+_LIBRARY)"', text) == [adapter.variable]
    assert ("QNN is for programs of 64 bits" in text) == adapter.needs_64_bits


@_EVERY_ADAPTER
def test_the_documentation_names_the_same_libraries(adapter: Adapter) -> None:
    text = (_ROOT / "docs" / "user" / "accelerators.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{adapter.runtime}` \|.*", text, re.MULTILINE)
    libraries, variable = (re.findall(r"`(.*?)`", cell) for cell in row.split("|")[3:5])
    assert tuple(libraries) == adapter.libraries
    assert variable == [adapter.variable]


def test_a_device_is_told_where_the_library_and_those_beside_it_are() -> None:
    assert not device_environment({"PATH": "/bin", "MACE_QNN_LIBRARY": ""})
    # The loader looks for a name alone.
    alone = {"MACE_HTA_LIBRARY": "libhta.so"}
    assert device_environment({**alone, "PATH": "/bin"}) == alone
    both = {
        "MACE_QNN_LIBRARY": "/data/q/libQnnHtp.so",
        "MACE_NEURON_LIBRARY": "/data/n/libneuron.so",
    }
    assert device_environment(both) == {
        **both,
        "LD_LIBRARY_PATH": "/data/q:/data/n",
        "ADSP_LIBRARY_PATH": "/data/q;/data/n",
    }


def test_the_script_finds_what_a_variable_names(tmp_path: Path) -> None:
    library = tmp_path / "with space" / "lib$x.so"
    variables = {"MACE_HTA_LIBRARY": str(library)}

    def found() -> dict[str, tuple[bool, str]]:
        done = subprocess.run(
            ["sh", "-c", script(variables)], capture_output=True, text=True, check=True
        )
        assert not done.stderr
        return {c.name: (c.good, c.found) for c in checks(done.stdout, variables)}

    assert found()["HTA"] == (False, f"no {library}, which MACE_HTA_LIBRARY names")
    library.parent.mkdir()
    library.touch()
    assert found()["HTA"] == (True, str(library))
    # This computer has none of the others.
    assert found()["HTP"] == (False, "")
