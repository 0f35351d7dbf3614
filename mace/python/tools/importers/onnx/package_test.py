# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Loading the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[5]

_CODE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupt:
    def find_spec(self, name, *_):
        if name == "onnx.onnx_cpp2py_export":
            print("interrupted")
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
try:
    import mace.python.tools.importers.onnx
except KeyboardInterrupt:
    print("whole" if hasattr(sys.modules.get("onnx"), "load") else "cut")
"""


def test_ctrl_c_waits_while_the_onnx_package_is_loaded() -> None:
    """Within its C++ part it would end in std::terminate."""
    result = subprocess.run(
        [sys.executable, "-c", _CODE],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "interrupted\nwhole\n", result.stderr
