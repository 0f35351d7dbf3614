# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Judges random graphs in another process, which a graph may end.

That process is this module. It says which graph it has in hand and whose code computes
it: MACE is wrong if its code ends the process, and nothing is decided if a reference's
does.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from test.conformance.random_graphs.judge import (
    Result,
    Stage,
    Verdict,
    judge,
    precision_of,
)

_ROOT = Path(__file__).resolve().parents[3]


def _died(seed: tuple[int, int], stage: Stage, status: int) -> Result:
    """The result of a graph that ended the process."""
    try:
        how = f"signal {signal.Signals(-status).name}"
    except ValueError:
        how = f"exit status {status}"
    verdict = Verdict.WRONG if stage is Stage.MACE else Verdict.NOT_DECIDED
    reason = f"{stage.value} ended the process: {how}"
    return Result(seed, precision_of(seed[1]), verdict, reason, ())


def judge_apart(seed: int, numbers: Sequence[int], keep: Path) -> Iterator[Result]:
    """The results of several graphs of a seed, in order.

    Args:
        seed: of the run.
        numbers: of the graphs.
        keep: where models go for which MACE is wrong.
    """
    waiting = list(numbers)
    while waiting:
        words = [sys.executable, "-m", __name__, str(seed), str(keep)]
        with subprocess.Popen(
            words, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(f"{json.dumps(waiting)}\n")
            child.stdin.close()
            stage = Stage.REFERENCES
            for line in child.stdout:
                told = json.loads(line)
                if "stage" in told:
                    stage = Stage[told["stage"]]
                    continue
                number = waiting.pop(0)
                yield Result(
                    (seed, number),
                    told["precision"],
                    Verdict[told["verdict"]],
                    told["reason"],
                    tuple(told["operators"]),
                )
        if waiting:
            yield _died((seed, waiting.pop(0)), stage, child.returncode)


def _say(**told: object) -> None:
    print(json.dumps(told), flush=True)


def main(seed: int, keep: Path) -> None:
    """Judges the graphs whose numbers come by standard input."""
    for number in json.loads(sys.stdin.readline()):
        result = judge((seed, number), keep, lambda stage: _say(stage=stage.name))
        _say(
            precision=result.precision,
            verdict=result.verdict.name,
            reason=result.reason,
            operators=result.operators,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
