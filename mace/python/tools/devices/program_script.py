# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""The shell script that runs a program on a remote device, and ends it.

The program gets no input, but the script reads the client's. When that input ends,
because we close it or because the connection is lost, the script ends the program.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from mace.python.tools.devices.device import SCRATCH

# Contains the process, or process group, of the running program.
_RUNNING = SCRATCH / "running"

# The name is not quoted in the script, as the shell requires.
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

# Ends the program's group when input ends. Without setsid there is no group.
_RUN = """\
cd {work} || exit 126
ulimit -c 0 2>/dev/null
exec 3<&0
{exports}
if command -v setsid >/dev/null 2>&1; then
setsid {command} </dev/null 2>&1 3<&- &
p=$!; g=-$p
else
{command} </dev/null 2>&1 3<&- &
p=$!; g=$p
fi
echo $g >{running}
( read -r x <&3; kill -15 $g; sleep 1; kill -9 $g ) >/dev/null 2>&1 &
w=$!
wait $p 2>/dev/null; s=$?
kill -9 $w 2>/dev/null
[ $g = $p ] || kill -9 $g 2>/dev/null
exec 3<&-
rm -f {running}
(exit $s)"""

# Run in the work folder; ends the program that `run` has started.
END = f"[ ! -f {_RUNNING} ] || kill -9 $(cat {_RUNNING}); rm -f {_RUNNING}"


def run(work_dir: PurePosixPath, command: Sequence[str], env: Mapping[str, str]) -> str:
    """Runs a command in `work_dir`; ends with its status, 126 without that folder.

    Raises:
        ValueError: what shall be set is no variable; its value may be anything.
    """
    for name in env:
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid name of an environment variable")
    exports = "\n".join(
        f"export {name}={shlex.quote(value)}" for name, value in env.items()
    )
    return _RUN.format(
        work=shlex.quote(str(work_dir)),
        exports=exports or ":",
        command=shlex.join(command),
        running=_RUNNING,
    )
