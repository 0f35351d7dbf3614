# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Detects the instruction sets of this computer's processor."""

# AVX2 kernels need all of these (mace/kernels/cpu/isa.cc).
_AVX2 = ["avx2", "fma", "f16c"]

def _host_cpu_repository_impl(ctx):
    result = ctx.execute(["grep", "-m1", "^flags", "/proc/cpuinfo"])
    if result.return_code:
        fail("/proc/cpuinfo has no line 'flags': %s" % result.stderr)
    flags = result.stdout.strip().split(" ")
    has_avx2 = all([flag in flags for flag in _AVX2])
    ctx.file("BUILD.bazel", "")
    ctx.file("isas.bzl", "HAS_AVX2 = %r\n" % has_avx2)

host_cpu_repository = repository_rule(
    implementation = _host_cpu_repository_impl,
    configure = True,
    local = True,
    doc = "@name//:isas.bzl with HAS_AVX2.",
)
