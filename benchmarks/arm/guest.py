# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs inside the emulated processor: one engine, one network.

    python3 -m benchmarks.arm.guest REQUEST.json

REQUEST has engine, model, image, input_name, output_name, output_shape, output
(as benchmarks.peers.worker knows them) and runs. After one run that is not
counted, a mark is made before the first counted run and after each. Runs on
Python of the emulated system, with nothing but NumPy and the engine.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.peers.adapters import ADAPTERS, Job

_MARK = 0x4D414345  # see instruction_plugin.c


def _mark() -> None:
    with contextlib.suppress(OSError):
        os.close(_MARK)


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    kind = ADAPTERS[request["engine"]]
    adapter = kind(
        Job(
            model=Path(request["model"]),
            threads=1,
            image=kind.image(request["image"]),
            input_name=request["input_name"],
            output_name=request["output_name"],
            output_shape=tuple(request["output_shape"]),
        )
    )
    run = adapter.create()
    run()
    gc.collect()
    gc.disable()
    _mark()
    for _ in range(request["runs"]):
        run()
        _mark()
    np.save(request["output"], adapter.output())
    sys.stdout.flush()
    # Some engines crash at exit, which is not measured.
    os._exit(0)


if __name__ == "__main__":
    main()
