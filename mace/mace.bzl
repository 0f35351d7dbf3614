# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""The C++ rules of MACE: the built-in ones with the house's flags.

C++17 is set by the tool chain. MACE is built without RTTI; exceptions are
enabled only so that an allocation failure inside a standard container can be
caught at the border of the public API. Kernels never allocate and are built
without them.
"""

load("//mace:precompiled.bzl", "PRECOMPILED_COPTS", "precompiled_headers")

MACE_COPTS = [
    "-fno-rtti",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wshadow",
    "-Wno-unused-parameter",
]

# Contraction to fused multiply-add is allowed in kernels alone, where every
# ISA has its own tolerance; elsewhere results must not depend on the CPU.
# Nothing unwinds a kernel's frame at run time, as it neither throws nor calls
# what does: without tables for it the library is 3 % smaller. A debug build
# has them in its debug information.
MACE_KERNEL_COPTS = MACE_COPTS + [
    "-O3",
    "-fno-exceptions",
    "-fno-asynchronous-unwind-tables",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
]

# Of code that is no kernel: its loops are short, and unrolled ones make the library
# larger.
_PLAIN_COPTS = MACE_COPTS + ["-fno-unroll-loops"]

# Less work for the compiler under sanitizers, and no coverage instrumentation for
# fuzzers, which run no kernels.
MACE_KERNEL_FEATURES = [
    "kernel_code",
    "-fuzzable",
]

# Of what the library consists of; not of tests.
_LIBRARY_FEATURES = ["lto_object"]

# Of what only tests consist of, none of which a fuzzer explores. Libraries say `testonly`
# themselves for it: what the package says by default is unknown here.
_TEST_FEATURES = ["-fuzzable"]

def _features(features, testonly):
    return features + (_TEST_FEATURES if testonly else _LIBRARY_FEATURES)

def mace_precompiled_headers(name, features = [], **kwargs):
    """Headers that many sources include; see precompiled.bzl.

    Args:
      name: for `precompiled` of libraries and tests.
      features: of those libraries and tests.
      **kwargs: as in precompiled_headers.
    """
    precompiled_headers(
        name = name,
        copts = _PLAIN_COPTS,
        features = _features(features, kwargs.get("testonly")),
        **kwargs
    )

def _with_precompiled(precompiled, copts, deps, kwargs):
    """Attributes of a target that compiles with precompiled headers, or None."""
    if not precompiled:
        return dict(kwargs, copts = _PLAIN_COPTS + copts, deps = deps)
    return dict(
        kwargs,
        copts = _PLAIN_COPTS + copts + PRECOMPILED_COPTS,
        deps = deps + [precompiled],
        toolchains = [precompiled],
    )

# What most sources include of the standard library. Reading it takes the compiler as long
# as the rest of most sources.
STANDARD_HEADERS = [
    "<algorithm>",
    "<array>",
    "<atomic>",
    "<cmath>",
    "<cstddef>",
    "<cstdint>",
    "<cstring>",
    "<functional>",
    "<limits>",
    "<map>",
    "<memory>",
    "<mutex>",
    "<optional>",
    "<set>",
    "<string>",
    "<string_view>",
    "<unordered_map>",
    "<utility>",
    "<variant>",
    "<vector>",
]

# Of libraries whose sources are compiled with STANDARD_HEADERS: their features, and
# whether they are for tests -> the name in //mace.
STANDARD_PRECOMPILED = {
    ((), False): "headers",
    ((), True): "testing_headers",
    (("small_code",), False): "small_headers",
}

def mace_cc_library(name, copts = [], features = [], deps = [], precompiled = "", **kwargs):
    """cc_library with the house's flags.

    Args:
      name: of the library.
      copts: further flags.
      features: as in cc_library.
      deps: as in cc_library.
      precompiled: mace_precompiled_headers of the same features; by default those of the
        standard library. None: no headers are, for code that has no standard library.
      **kwargs: as in cc_library.
    """
    if precompiled == "":
        testonly = bool(kwargs.get("testonly"))
        found = STANDARD_PRECOMPILED.get((tuple(features), testonly))
        usual = found and kwargs.get("srcs") and not copts
        precompiled = "@mace//mace:" + found if usual else None
    native.cc_library(
        name = name,
        features = _features(features, kwargs.get("testonly")),
        **_with_precompiled(precompiled, copts, deps, kwargs)
    )

def mace_kernel_library(name, copts = [], **kwargs):
    """cc_library for code of mace/kernels that is compiled for one ISA."""
    native.cc_library(
        name = name,
        copts = MACE_KERNEL_COPTS + copts,
        features = MACE_KERNEL_FEATURES,
        **kwargs
    )

# Of tests that take longer to compile than to run.
SELDOM_RUN = ["seldom_run"]

def mace_cc_binary(name, copts = [], **kwargs):
    """cc_binary with the house's flags; arguments as in cc_binary."""
    native.cc_binary(name = name, copts = MACE_COPTS + copts, **kwargs)

def mace_cc_test(name, copts = [], deps = [], size = "small", computes = False, **kwargs):
    """A googletest program; gtest and its main are linked in.

    Args:
      name: of the test.
      copts: further flags.
      deps: besides googletest.
      size: as in cc_test.
      computes: whether its sources calculate much, such as references.
      **kwargs: as in cc_test.
    """
    precompiled = None
    if kwargs.get("srcs"):
        # Rooms of users' own are in another repository.
        precompiled = "@mace//mace:test_headers" + ("_to_compute" if computes else "")
    native.cc_test(
        name = name,
        size = size,
        features = _features([] if computes else SELDOM_RUN, True),
        **_with_precompiled(
            precompiled,
            copts,
            deps + ["@googletest//:gtest_main"],
            kwargs
        )
    )
