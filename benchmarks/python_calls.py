# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""What a run costs in Python beyond the call of the library.

    .venv/bin/python -m benchmarks.python_calls [--limit 10]

The library's own time is that of mace_engine_run with structures that are made before,
called by ctypes, minus the time that ctypes takes to call a function that does nothing.
The rounds of all ways of running take turns, and the shortest of each counts. Fails if
one costs more than --limit us, or if `import mace` takes more than 0.3 s.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import time
from typing import Callable, Dict

import numpy as np

import mace
from benchmarks.library import ROOT
from mace.python.runtime.library import library

_MODEL = ROOT / "mace" / "examples" / "digits" / "digits.onnx"
_ROUNDS, _CALLS = 200, 100
_IMPORT_LIMIT_S = 0.3


def _shortest(ways: Dict[str, Callable[[], object]]) -> Dict[str, float]:
    """Microseconds of each way, of rounds that take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(_ROUNDS):
        for name, call in ways.items():
            start = time.perf_counter()
            for _ in range(_CALLS):
                call()
            took = (time.perf_counter() - start) / _CALLS * 1e6
            best[name] = min(best[name], took)
    return best


def _import_seconds() -> float:
    """Of `import mace` with what `mace.load` needs at first; the shortest of five."""
    code = (
        "import time; start = time.perf_counter(); import mace; mace.load; "
        "print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    return min(
        float(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        for _ in range(5)
    )


def main() -> int:
    """Prints the table; 1 if a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=10, metavar="US")
    limit = parser.parse_args().limit
    options = mace.RunOptions(threads=1)
    model = mace.load(_MODEL, dims={"N": 1}, options=options)
    image = np.random.default_rng(1).random((1, 1, 8, 8), np.float32)
    bound = model.bind({"image": image})
    # The call as BoundModel makes it.
    c = library()
    arguments = (model._handle(), *bound._arguments)
    empty = ctypes.CDLL(c._name).mace_version
    empty.restype = None
    took = _shortest(
        {
            "empty": empty,
            "library": lambda: c.mace_engine_run(*arguments),
            "bound()": bound,
            "model(array)": lambda: model(image),
            "model(image=array)": lambda: model(image=image),
            "model({...})": lambda: model({"image": image}),
        }
    )
    own = took["library"] - took["empty"]
    print(f"{_MODEL.name}: {own:.2f} us in the library")
    worst = 0.0
    for name in list(took)[2:]:
        cost = took[name] - own
        worst = max(worst, cost)
        print(f"{name:20}{cost:6.2f} us more ({took[name] / own:.2f} times)")
    seconds = _import_seconds()
    print(f"import mace, and what mace.load needs: {seconds:.3f} s")
    return int(worst > limit or seconds > _IMPORT_LIMIT_S)


if __name__ == "__main__":
    raise SystemExit(main())
