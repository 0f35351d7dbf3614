# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Targets of all operators, made from the folders that are there.

A room is a folder mace/ops/<op>/ with <op>.op.yaml. It has no BUILD file and
is in no list: a new operator is new files only. A room may hold

    <op>.op.yaml            attributes and ports
    *.cc, *.h               the operator
    *_test.cc               its tests, with googletest
    *_benchmark.cc          its benchmarks

and becomes

    :<op>_schema            the generated header mace/ops/<op>/<op>_schema.h
    :<op>                   the operator, registered by being linked
    :<op>_test              the tests of this room
    :<op>_benchmark         the benchmarks of this room

All rooms together are :ops, :ops_test and :ops_benchmark.
"""

load("//mace:mace.bzl", "mace_cc_binary", "mace_cc_library", "mace_cc_test")

_GENERATE = "$(location :op_schema_gen) --op $(location {op}/{op}.op.yaml) " + \
            "--enums $(location op_enums.yaml) --out $@"

# Sources of a runtime that has its own tool chain or library.
_OTHER_RUNTIMES = [
    "_hexagon.cc",
    "_opencl.cc",
]

def _room_files(op, pattern):
    return native.glob(["%s/%s" % (op, pattern)], allow_empty = True)

def _schema(op, deps):
    native.genrule(
        name = op + "_schema_h",
        srcs = [
            "%s/%s.op.yaml" % (op, op),
            "op_enums.yaml",
        ],
        outs = ["%s/%s_schema.h" % (op, op)],
        cmd = _GENERATE.format(op = op),
        message = "Generating operator schema",
        tools = [":op_schema_gen"],
    )
    mace_cc_library(
        name = op + "_schema",
        hdrs = ["%s/%s_schema.h" % (op, op)],
        deps = deps,
    )

def mace_op_rooms(deps, test_deps, benchmark_deps, benchmark_main):
    """Declares the targets of every room of the calling package.

    Args:
      deps: what an operator may include.
      test_deps: what its test may include besides.
      benchmark_deps: what its benchmark may include besides.
      benchmark_main: the library with the main function of benchmarks.
    """
    declarations = native.glob(["*/*.op.yaml"])
    rooms = []
    tests = []
    benchmarks = []
    schemas = []
    for declaration in declarations:
        op, name = declaration.split("/")
        if name != op + ".op.yaml":
            fail("mace/ops/%s: must be called %s.op.yaml, like its folder" %
                 (declaration, op))
        _schema(op, deps)
        schemas.append(":%s_schema" % op)

        test_sources = _room_files(op, "*_test.cc")
        benchmark_sources = _room_files(op, "*_benchmark.cc")
        sources = [
            source
            for source in _room_files(op, "*.cc")
            if source not in test_sources + benchmark_sources and
               not any([source.endswith(end) for end in _OTHER_RUNTIMES])
        ]
        if not sources:
            # Declared for the converter; not computed by this release.
            continue
        rooms.append(":" + op)
        mace_cc_library(
            name = op,
            srcs = sources,
            hdrs = _room_files(op, "*.h"),
            # An operator registers itself; nothing refers to it by name.
            alwayslink = True,
            deps = deps + [":%s_schema" % op],
        )
        if test_sources:
            tests.append(":%s_test_cases" % op)
            mace_cc_library(
                name = op + "_test_cases",
                testonly = True,
                srcs = test_sources,
                alwayslink = True,
                deps = deps + test_deps + [
                    ":" + op,
                    ":%s_schema" % op,
                    "@googletest//:gtest",
                ],
            )
            mace_cc_test(
                name = op + "_test",
                # For work on this op alone; //... runs ops_test.
                tags = ["manual"],
                deps = [":%s_test_cases" % op],
            )
        if benchmark_sources:
            benchmarks.append(":%s_benchmark_cases" % op)
            mace_cc_library(
                name = op + "_benchmark_cases",
                testonly = True,
                srcs = benchmark_sources,
                alwayslink = True,
                deps = deps + benchmark_deps + [
                    ":" + op,
                    ":%s_schema" % op,
                ],
            )
            mace_cc_binary(
                name = op + "_benchmark",
                testonly = True,
                deps = [
                    ":%s_benchmark_cases" % op,
                    benchmark_main,
                ],
            )

    mace_cc_library(name = "schemas", deps = schemas)
    mace_cc_library(name = "ops", deps = rooms)
    mace_cc_test(
        name = "ops_test",
        size = "large",
        deps = tests,
    )
    mace_cc_binary(
        name = "ops_benchmark",
        testonly = True,
        deps = benchmarks + [benchmark_main],
    )
