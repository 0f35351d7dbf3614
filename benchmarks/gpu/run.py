# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures a folder of `benchmarks.gpu.prepare` on a computer with a GPU.

    cd FOLDER && python3 -m benchmarks.gpu.run . --out RESULT.json

Needs the standard library alone; the other engines need NumPy too. An engine that
cannot run is named with the reason. `python -m benchmarks.gpu.report RESULT.json`
prints the tables, and records them for the page.

- Speed: all sides take turns, in another order each round. MACE is a fresh `mace_run`
  each turn; the other engines keep a process each, which is stopped between its turns.
  One run is not counted in each turn. An inference begins with floats in the host's
  memory and ends with floats there. Empty kernels, as many as MACE launches, between a
  write of the input and a read of the output take turns with them: the floor.
- Start, each in a fresh process: `cold` without any cache; `cache`, from MACE's file of
  compiled kernels with the driver's cache off; `warm`, with both; `self-test`, the very
  first start with a folder to store in. The other engines: cold and warm.
- Memory, as `mace_run` reports it, on the GPU and on the CPU; and the memory of the
  process that no file backs, when the model is loaded.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from array import array
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from lzma import LZMAFile
from pathlib import Path
from typing import Any

from benchmarks.gpu import mace_process, packing
from benchmarks.gpu.mace_process import MaceError, Outcome
from benchmarks.peers.client import Client, WorkerError

VERSION = 1
# Data types of MACE's models, by side.
MACE = {"mace_fp16": "fp16_fp32", "mace_fp32": "fp32_fp32"}


@dataclass(frozen=True)
class Side:
    """A configuration of another engine: a key of `adapters.ADAPTERS`."""

    peer: str
    file: str


PEERS = {
    "ncnn_vulkan": Side("ncnn", "ncnn"),
    "ncnn_vulkan_fp16": Side("ncnn", "ncnn"),
    "ncnn_vulkan_fp16_arithmetic": Side("ncnn", "ncnn"),
    "litert_gpu": Side("litert", "tflite"),
    "litert_gpu_fp16": Side("litert", "tflite"),
}
SIDES = (*MACE, *PEERS)
STARTS = ("cold", "cache", "warm", "self-test")
# Where drivers look for what they compiled earlier.
_SHADER_CACHE = "__GL_SHADER_DISK_CACHE"
_CACHE_FOLDERS = (
    "HOME",
    "XDG_CACHE_HOME",
    "CUDA_CACHE_PATH",
    "POCL_CACHE_DIR",
    f"{_SHADER_CACHE}_PATH",
)


def channels_last(shape: list[int]) -> list[int]:
    """Converts NCHW to NHWC; a shape of another rank is not changed."""
    return [shape[0], *shape[2:], shape[1]] if len(shape) == 4 else list(shape)


def read_npy(path: Path) -> array[float]:
    """The floats of a .npy file."""
    data = path.read_bytes()
    header = int.from_bytes(data[8:10], "little") + 10
    if data[:6] != b"\x93NUMPY" or b"'<f4'" not in data[:header]:
        raise ValueError(f"{path} does not hold floats")
    return array("f", data[header:])


def to_channels_last(values: array[float], shape: list[int]) -> array[float]:
    """Converts a tensor of NCHW, one image, to NHWC; of another rank: unchanged."""
    if len(shape) != 4:
        return values
    channels, pixels = shape[1], shape[2] * shape[3]
    result = array("f", values)
    for c in range(channels):
        result[c::channels] = values[c * pixels : (c + 1) * pixels]
    return result


def similarity(a: array[float], b: array[float]) -> float:
    """The cosine of the angle between two outputs; 0 if they do not match in size."""
    if len(a) != len(b):
        return 0.0
    dot = math.fsum(x * y for x, y in zip(a, b))
    size = math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))
    return dot / size if size > 0 and math.isfinite(size) else 0.0


class Folder:
    """The unpacked folder.

    Attributes:
        path: where it is unpacked.
        manifest: what prepare wrote.
        variables: of the environment, for processes of the other engines.
    """

    def __init__(self, source: Path, path: Path) -> None:
        self.path = path
        self.manifest = json.loads((source / "manifest.json").read_text("utf-8"))
        packing.unpack(source, path)
        self.program = path / "mace_run"
        with LZMAFile(source / "mace_run.xz") as packed:
            self.program.write_bytes(packed.read())
        self.program.chmod(0o755)
        self.variables = {}
        packages = source / "packages.tar.xz"
        if packages.exists():
            with tarfile.open(packages) as packed:
                packed.extractall(path / "packages")
            self.variables["PYTHONPATH"] = str(path / "packages")
        if (source / "libraries").is_dir():
            paths = [str(source.resolve() / "libraries")]
            paths += [p for p in [os.environ.get("LD_LIBRARY_PATH")] if p]
            self.variables["LD_LIBRARY_PATH"] = os.pathsep.join(paths)


class Caches:
    """Where drivers keep compiled kernels: a folder that is as old as this object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def off(self) -> dict[str, str]:
        """Variables with which nothing compiled is found."""
        return {"CUDA_CACHE_DISABLE": "1", **self._at(self.fresh())}

    def on(self, name: str) -> dict[str, str]:
        """Variables for a cache that later processes find again."""
        return {"CUDA_CACHE_DISABLE": "0", **self._at(self._folder / name)}

    def fresh(self) -> Path:
        """An empty folder."""
        self._count += 1
        path = self._folder / f"fresh{self._count}"
        path.mkdir(parents=True)
        return path

    @staticmethod
    def _at(path: Path) -> dict[str, str]:
        path.mkdir(parents=True, exist_ok=True)
        return {**dict.fromkeys(_CACHE_FOLDERS, str(path)), _SHADER_CACHE: "1"}


@dataclass
class Settings:
    """How much is measured."""

    rounds: int
    runs: int
    starts: int
    peer_starts: int
    python: str
    sides: list[str]


class Measurement:
    """One network on all sides."""

    def __init__(
        self, folder: Folder, name: str, settings: Settings, work: Path
    ) -> None:
        self.folder, self.name, self.settings = folder, name, settings
        self.about = folder.manifest["networks"][name]
        self.work = work
        work.mkdir()
        self.caches = Caches(work / "caches")
        self.found: dict[str, Any] = {"sides": {}, "absent": {}}
        image = read_npy(folder.path / name / "image.npy")
        self.input = work / "input"
        nhwc = to_channels_last(image, self.about["input_shape"])
        self._tensor_file(self.input, "input_name").write_bytes(nhwc.tobytes())
        self.bytes = (4 * len(nhwc), 4 * math.prod(self.about["output_shape"]))
        self.reference: array[float] | None = None

    def _tensor_file(self, prefix: Path, key: str) -> Path:
        letters = (c if c.isascii() and c.isalnum() else "_" for c in self.about[key])
        return Path(f"{prefix}_{''.join(letters)}")

    def mace(
        self,
        side: str,
        variables: dict[str, str],
        *flags: str,
        runtime: str = "gpu",
        sample_memory: bool = False,
    ) -> Outcome:
        """Runs mace_run once; raises MaceError."""

        def text(shape: list[int]) -> str:
            return ",".join(map(str, channels_last(shape)))

        stem = self.folder.path / self.name / MACE[side]
        own = [
            f"--runtime={runtime}",
            # The plan and the memory of the CPU grow with threads.
            "--num_threads=1",
            f"--model_file={stem}.pb",
            f"--model_data_file={stem}.data",
            f"--input_node={self.about['input_name']}",
            f"--input_shape={text(self.about['input_shape'])}",
            f"--input_file={self.input}",
            f"--output_node={self.about['output_name']}",
            f"--output_shape={text(self.about['output_shape'])}",
            f"--output_file={self.work / 'output'}",
        ]
        test = {"MACE_OPENCL_SELF_TEST": "0"}
        return mace_process.run(
            self.folder.program,
            [*own, *flags],
            self.work,
            {**test, **variables},
            sample_memory,
        )

    def output(self) -> array[float]:
        """What mace_run wrote last (NHWC)."""
        path = self._tensor_file(self.work / "output", "output_name")
        return array("f", path.read_bytes())

    def absent(self, side: str, reason: str) -> None:
        """Names a side that cannot run."""
        self.found["absent"][side] = reason
        print(f"  {side}: {reason}", flush=True)

    def run(self) -> dict[str, Any]:
        """Measures everything."""
        with ExitStack() as stack:
            turns: dict[str, Callable[[], list[float]]] = {}
            for side in MACE:
                if side in self.settings.sides:
                    self._prepare_mace(side, turns)
            for side in PEERS:
                if side in self.settings.sides:
                    self._prepare_peer(side, turns, stack)
            self._take_turns(turns)
        return self.found

    def _cache_flag(self, side: str) -> str:
        return f"--opencl_cache_full_path={self.work / side}.kernels"

    def _prepare_mace(
        self, side: str, turns: dict[str, Callable[[], list[float]]]
    ) -> None:
        warm = self.caches.on("mace")
        try:
            if self.reference is None:
                self.mace("mace_fp32", warm, "--round=1", runtime="cpu")
                self.reference = self.output()
            entry = self._mace_once(side, warm)
            entry["starts"] = self._mace_starts(side, warm)
        except MaceError as error:
            self.absent(side, str(error))
            return
        self.found["sides"][side] = entry

        def turn() -> list[float]:
            runs = f"--round={self.settings.runs}"
            return self.mace(side, warm, self._cache_flag(side), runs).run_ms()

        turns[side] = turn

        def floor() -> list[float]:
            found = self._floor(warm, entry["launches"], self.settings.runs)
            entry.setdefault("context_ms", []).append(found["context_ms"])
            self.found["gpu"] = {key: found[key] for key in ("device", "driver")}
            times: list[float] = found["ms"]
            return times

        turns[f"{side} floor"] = floor

    def _floor(
        self, variables: dict[str, str], launches: int, runs: int
    ) -> dict[str, Any]:
        """Runs floor.py. Raises MaceError."""
        command = [sys.executable, "-m", "benchmarks.gpu.floor"]
        command += ["--write", str(self.bytes[0]), "--read", str(self.bytes[1])]
        command += ["--launches", str(launches), "--runs", str(runs)]
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise MaceError(f"empty kernels: {done.stderr.strip()[-300:]}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _mace_once(self, side: str, warm: dict[str, str]) -> dict[str, Any]:
        """Launches, memory and output."""
        cache = self._cache_flag(side)
        detailed = self.mace(side, warm, "--round=1", "--vlog_level=2", cache)
        output = self.output()
        # The first run and the counted one.
        launches = detailed.log.launches // 2
        gpu = self.mace(side, warm, "--round=1", cache, sample_memory=True)
        cpu = self.mace(side, warm, "--round=1", runtime="cpu", sample_memory=True)
        floor = self._floor(warm, launches, 1)
        assert self.reference is not None
        memory = gpu.report["memory"]
        cpu_memory = cpu.report["memory"]
        return {
            "similarity": similarity(output, self.reference),
            "device": detailed.log.device,
            "launches": launches,
            "named_launches": mace_process.launches_of(detailed.report),
            "operators": len(detailed.report["placement"]["operators"]),
            "on_cpu": mace_process.on_cpu(detailed.report),
            "memory": {
                "stored": memory["constant_bytes"],
                "weights": memory["prepared_bytes"],
                "arena": memory["arena_bytes"],
                "cpu_arena": cpu_memory["arena_bytes"],
                "anonymous": gpu.anonymous_bytes,
                "cpu_anonymous": cpu.anonymous_bytes,
                "context_anonymous": floor["anonymous_after"]
                - floor["anonymous_before"],
                "peak_resident": memory["peak_resident_bytes"],
                "cpu_peak_resident": cpu_memory["peak_resident_bytes"],
            },
        }

    def _mace_starts(self, side: str, warm: dict[str, str]) -> dict[str, Any]:
        """Times of fresh processes, by state of the caches."""
        found: dict[str, list[dict[str, float]]] = {start: [] for start in STARTS}
        cache = self._cache_flag(side)
        for _ in range(self.settings.starts):
            for start, samples in found.items():
                variables, flags = warm, [cache]
                if start == "cold":
                    variables, flags = self.caches.off(), []
                elif start == "cache":
                    variables = self.caches.off()
                elif start == "self-test":
                    store = {"MACE_INTERNAL_STORAGE_PATH": str(self.caches.fresh())}
                    test = {"MACE_OPENCL_SELF_TEST": "1"}
                    variables, flags = {**self.caches.off(), **store, **test}, []
                outcome = self.mace(side, variables, "--round=1", *flags)
                log, init = outcome.log, outcome.init_ms()
                beyond = init if log.beyond_ms is None else log.beyond_ms
                samples.append(
                    {
                        "init_ms": init,
                        "beyond_ms": beyond,
                        "programs": log.programs,
                        "programs_ms": log.programs_ms,
                        "first_ms": outcome.first_ms(),
                    }
                )
        return found

    def _prepare_peer(
        self, side: str, turns: dict[str, Callable[[], list[float]]], stack: ExitStack
    ) -> None:
        peer = PEERS[side].peer
        if peer not in self.folder.manifest["peers"]:
            self.absent(side, f"the folder was made without --peers {peer}")
            return
        if peer in self.about["missing"]:
            self.absent(side, self.about["missing"][peer])
            return
        starts: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
        try:
            for index in range(self.settings.peer_starts):
                # Empty at first, then with what the cold start left.
                cache = self.caches.on(f"{side}{index}")
                with self._load_peer(side, cache, stack):
                    starts["cold"].append(self._answer)
                client = self._load_peer(side, cache, stack)
                starts["warm"].append(self._answer)
        except WorkerError as error:
            self.absent(side, f"{error}{last_line(self.work / f'{side}.log')}")
            return
        output = read_npy(self.work / f"{side}.npy")
        assert self.reference is not None
        nhwc = to_channels_last(output, self.about["output_shape"])
        self.found["sides"][side] = {
            "similarity": similarity(nhwc, self.reference),
            "starts": starts,
        }

        def turn() -> list[float]:
            times: list[float] = client.ask(do="run", count=self.settings.runs)["ms"]
            return times

        turns[side] = turn

    def _load_peer(self, side: str, caches: dict[str, str], stack: ExitStack) -> Client:
        """A process that has the network; raises WorkerError."""
        files = self.folder.path / self.name
        client = Client(
            Path(self.settings.python),
            side,
            self.work / f"{side}.log",
            {**self.folder.variables, **caches},
        )
        stack.push(client.__exit__)
        self._answer = client.ask(
            do="load",
            model=str(files / PEERS[side].file),
            threads=1,
            image=str(files / "image.npy"),
            input_name=self.about["input_name"],
            output_name=self.about["output_name"],
            output_shape=self.about["output_shape"],
            output=str(self.work / f"{side}.npy"),
        )
        return client

    def _take_turns(self, turns: dict[str, Callable[[], list[float]]]) -> None:
        samples: dict[str, list[list[float]]] = {side: [] for side in turns}
        order = list(turns)
        for index in range(self.settings.rounds):
            shift = index % max(1, len(order))
            for side in order[shift:] + order[:shift]:
                try:
                    samples[side].append(turns[side]())
                except (MaceError, WorkerError) as error:
                    self.absent(side, f"in round {index + 1}: {error}")
                    turns[side] = list
        for side, rounds in samples.items():
            if not any(rounds) or side in self.found["absent"]:
                continue
            name, _, floor = side.partition(" ")
            entry = self.found["sides"][name]
            entry["floor" if floor else "times"] = summary(rounds)
            least = entry["floor" if floor else "times"]["minimum"]
            print(f"  {side}: {least:.3f} ms", flush=True)


def last_line(log: Path) -> str:
    """The last line of a log in brackets; empty without one."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f" ({lines[-1][:300]})" if lines else ""


def summary(rounds: list[list[float]]) -> dict[str, Any]:
    """The minimum and the median of all runs, and the median of each round."""
    every = [ms for times in rounds for ms in times]
    return {
        "minimum": min(every),
        "median": statistics.median(every),
        "runs": len(every),
        "medians": [statistics.median(times) for times in rounds if times],
    }


def machine() -> str:
    """The processor, how many of it, and the system."""
    name = platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    return f"{name}, {len(os.sched_getaffinity(0))} CPUs, {platform.system()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the file for results")
    parser.add_argument("--networks", nargs="+", help="of the folder (default: all)")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100, help="of a turn")
    parser.add_argument("--starts", type=int, default=3, help="of MACE, each kind")
    parser.add_argument(
        "--peer_starts", type=int, default=1, help="of other engines, each kind"
    )
    parser.add_argument(
        "--python", default=sys.executable, help="that has NumPy (default: this)"
    )
    args = parser.parse_args()
    settings = Settings(
        args.rounds,
        args.runs,
        args.starts,
        args.peer_starts,
        args.python,
        args.sides,
    )
    if min(args.rounds, args.runs, args.starts, args.peer_starts) < 1:
        parser.error("--rounds, --runs and starts are numbers from 1")
    with tempfile.TemporaryDirectory() as work:
        folder = Folder(args.folder, Path(work) / "folder")
        known = folder.manifest["networks"]
        unknown = sorted(set(args.networks or ()) - set(known))
        if unknown:
            parser.error(f"{args.folder} has no {', '.join(unknown)}")
        result: dict[str, Any] = {
            "version": VERSION,
            "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
            "machine": machine(),
            "commit": folder.manifest["commit"],
            "versions": folder.manifest["versions"],
            "settings": {"rounds": args.rounds, "runs": args.runs},
            "networks": {},
        }
        for name in args.networks or known:
            begin = time.monotonic()
            print(name, flush=True)
            place = Path(work) / name
            measured = Measurement(folder, name, settings, place)
            result["networks"][name] = measured.run()
            # What was measured is kept if the next network fails.
            args.out.write_text(json.dumps(result, indent=1), encoding="utf-8")
            shutil.rmtree(place)
            print(f"  {time.monotonic() - begin:.0f} s", flush=True)
    sides = [found["sides"] for found in result["networks"].values()]
    return int(any(side not in own for own in sides for side in MACE))


if __name__ == "__main__":
    sys.exit(main())
