# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""The C++ rules of MACE: the built-in ones with the house's flags.

C++17 is set by the tool chain. MACE is built without RTTI; exceptions are
enabled only so that an allocation failure inside a standard container can be
caught at the border of the public API. Kernels never allocate and are built
without them.
"""

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

# Less work for the compiler under sanitizers, and no coverage instrumentation for
# fuzzers, which run no kernels.
MACE_KERNEL_FEATURES = [
    "kernel_code",
    "-fuzzable",
]

def mace_cc_library(name, copts = [], features = [], **kwargs):
    """cc_library with the house's flags; arguments as in cc_library."""
    if not kwargs.get("testonly"):
        features = features + ["lto_object"]
    native.cc_library(
        name = name,
        copts = MACE_COPTS + copts,
        features = features,
        **kwargs
    )

def mace_kernel_library(name, copts = [], **kwargs):
    """cc_library for code of mace/kernels that is compiled for one ISA."""
    native.cc_library(
        name = name,
        copts = MACE_KERNEL_COPTS + copts,
        features = MACE_KERNEL_FEATURES,
        **kwargs
    )

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
    native.cc_test(
        name = name,
        size = size,
        copts = MACE_COPTS + copts,
        features = [] if computes else ["seldom_run"],
        deps = deps + ["@googletest//:gtest_main"],
        **kwargs
    )
