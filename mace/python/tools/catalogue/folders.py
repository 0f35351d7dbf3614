# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the folders of users' own operators that MACE_CUSTOM_OPS names, and prints
their absolute paths with colons between them. For tools/build-standalone-lib.sh.

python -m mace.python.tools.catalogue.folders
"""

from __future__ import annotations

import sys

from mace.python.tools.catalogue.loader import use_operators
from mace.python.tools.custom_ops import custom_folders
from mace.python.tools.errors import MaceError


def main() -> int:
    """Entry point; returns the exit status."""
    try:
        use_operators(())
    except MaceError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    sys.stdout.write(":".join(map(str, custom_folders())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
