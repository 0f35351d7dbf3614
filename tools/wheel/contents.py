# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what the wheel has beside the sources of the tools.

    python -m tools.wheel.contents FOLDER

The messages of `.proto` files, compiled, so that nobody needs a compiler; which devices
the operators have kernels for, which a checkout sees from their sources; and the lists
that `mace doctor` reads.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from mace.python.tools.catalogue import default_catalogue
from mace.python.tools.catalogue.loader import DEVICES_FILE
from mace.python.tools.doctor.requirements import PIP_LISTS
from mace.python.tools.proto import COMPILED_SUFFIX, compile_proto

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = _ROOT / "mace"


def write(folder: Path) -> None:
    """Fills a folder that stands for `mace`."""
    for proto in sorted(
        [*_PACKAGE.glob("proto/*.proto"), *_PACKAGE.glob("python/**/*.proto")]
    ):
        data = compile_proto(proto.relative_to(_ROOT).as_posix())
        target = folder / proto.relative_to(_PACKAGE).with_suffix(COMPILED_SUFFIX)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    catalogue = default_catalogue()
    devices = {catalogue.names[op]: found for op, found in catalogue.devices.items()}
    (folder / "ops").mkdir(exist_ok=True)
    text = json.dumps(devices, indent=1, sort_keys=True)
    (folder / "ops" / DEVICES_FILE).write_text(text, encoding="utf-8")
    lists = folder / "setup"
    lists.mkdir(exist_ok=True)
    shutil.copy(_ROOT / "setup" / "tasks-installed.txt", lists / "tasks.txt")
    for name in PIP_LISTS:
        shutil.copy(_ROOT / "setup" / name, lists)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
