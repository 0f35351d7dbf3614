# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Targets of all operators, made from the folders that are there.

A room is a folder mace/ops/<op>/ with <op>.op.yaml. It has no BUILD file and
is in no list: a new operator is new files only. A room holds

    <op>.op.yaml            attributes and ports
    <op>.py                 what the converter knows of it; Bazel does not read it
    <op>.cc, <op>.h         what all devices share: the shape function; <op>.h only
                            where a device needs more of it. No kernel can be
                            included; without <op>.cc the operator is only declared
    <op>_cpu.cc             how the CPU computes it, with the other *.cc and *.h. Where the
                            declaration has the key `computes`, there is neither this file
                            nor one of another device: they are generated
    <op>_quantized.cc       how the CPU computes it in quantized numbers; optional
    <op>_opencl.cc, *.cl    how a GPU computes it; optional. <op>_opencl.h where kernels
                            for several operators need part of it
    <op>_hexagon.cc         how a DSP computes it, as the host describes it; optional
    *_test.cc               its tests, with googletest
    *_testing.cc, .h        what several of them share
    *_benchmark.cc          its benchmarks

and becomes

    :<op>_schema            the generated header mace/ops/<op>/<op>_schema.h
    :<op>_shapes            what all devices share
    :<op>                   the operator on the CPU, registered by being linked
    :<op>_quantized         the quantized operator on the CPU, likewise
    :<op>_opencl            the operator on GPUs, likewise
    :<op>_hexagon           the operator on DSPs, likewise
    :<op>_test              the tests of this room
    :<op>_benchmark         the benchmarks of this room

All rooms together are :ops, :opencl_ops, :hexagon_ops, :ops_test and :ops_benchmark (the
latter two, as libraries: :ops_test_cases and :ops_benchmark_cases). A library with some
operators only comes of

    --//mace/ops:only=conv2d,pooling,softmax

which takes the others out of :ops; nothing else is affected by it. Parts are
kernels that operators need for some models only: they too register by being
linked. One that belongs to nothing is named in the same list (int8_weights,
winograd_transforms), as quantized operators are (conv2d_quantized); the others are linked where all rooms and parts are that
they belong to.

Rooms in folders of users' own (custom_repository.bzl) become the same targets of
@mace_custom_ops, and are linked into :ops too.
"""

load("//mace:mace.bzl", "mace_cc_binary", "mace_cc_library", "mace_cc_test", "mace_precompiled_headers")
load("//mace/kernels/opencl:cl.bzl", "embed_cl")

# Where users' own rooms find what the rooms of this package have beside them.
_OPS = "@mace//mace/ops:"

# Sources for runtimes with their own toolchain or library. A room that has such
# files needs another library for them, which depends on :<op>_shapes.
_OTHER_RUNTIMES = [
    "_hexagon.cc",
    "_opencl.cc",
]
_QUANTIZED = "_quantized.cc"

# <op>_<kind>.cc -> its precompiled headers.
_HEADERS_OF_SOURCES = {
    "hexagon": "hexagon_headers",
    "opencl": "opencl_headers",
    "quantized": "small_cpu_headers",
}

OpSelectionInfo = provider(
    "Which rooms :ops links.",
    fields = {"rooms": "Names of rooms; empty for all of them."},
)

def _op_selection_impl(ctx):
    return [OpSelectionInfo(rooms = ctx.build_setting_value)]

op_selection = rule(
    implementation = _op_selection_impl,
    build_setting = config.string_list(flag = True),
    doc = "The rooms that :ops links; by default all.",
)

CustomRoomsInfo = provider(
    "The rooms of users' own folders.",
    fields = {
        "hexagon": "Operators on DSPs, by the name of the room.",
        "opencl": "Operators on GPUs, by the name of the room.",
        "rooms": "The others, by the name in a selection.",
    },
)

def _custom_rooms_impl(ctx):
    return [CustomRoomsInfo(
        hexagon = {room: dep for dep, room in ctx.attr.hexagon.items()},
        opencl = {room: dep for dep, room in ctx.attr.opencl.items()},
        rooms = {dep.label.name: dep for dep in ctx.attr.rooms},
    )]

custom_rooms = rule(
    implementation = _custom_rooms_impl,
    doc = "The operators of users' own folders.",
    attrs = {
        "hexagon": attr.label_keyed_string_dict(
            doc = "Those on DSPs, and their rooms.",
            providers = [CcInfo],
        ),
        "opencl": attr.label_keyed_string_dict(
            doc = "Those on GPUs, and their rooms.",
            providers = [CcInfo],
        ),
        "rooms": attr.label_list(providers = [CcInfo]),
    },
)

def _linked_rooms_impl(ctx):
    wanted = {name: True for name in ctx.attr.selection[OpSelectionInfo].rooms}
    belonging = {
        dep: names.split(" ") if names else []
        for dep, names in ctx.attr.parts.items()
    }
    named = {dep.label.name: dep for dep in ctx.attr.rooms}
    named.update([(dep.label.name, dep) for dep, to in belonging.items() if not to])
    custom = ctx.attr.custom[CustomRoomsInfo]
    for name in custom.rooms:
        if name in named:
            fail("%s: MACE has a room of that name; choose another one" %
                 custom.rooms[name].label)
    named.update(custom.rooms)
    if ctx.attr.device:
        of_device = getattr(custom, ctx.attr.device)
        belonging.update([(dep, [room]) for room, dep in of_device.items()])
    unknown = [name for name in wanted if name not in named]
    if unknown:
        fail("%s: no such room: %s; there are %s" % (
            ctx.attr.selection.label,
            ", ".join(unknown),
            ", ".join(sorted(named)),
        ))
    linked = [dep for name, dep in named.items() if not wanted or name in wanted]
    for dep, to in belonging.items():
        strange = [name for name in to if name not in named]
        if strange:
            fail("%s belongs to %s: no such room" % (dep.label, ", ".join(strange)))
        if to and (not wanted or all([name in wanted for name in to])):
            linked.append(dep)
    if wanted:
        linked.append(ctx.attr.left_out)
    return [cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in linked],
    )]

linked_rooms = rule(
    implementation = _linked_rooms_impl,
    doc = "The operators of a selection, as one C++ library.",
    attrs = {
        "custom": attr.label(
            doc = "The rooms of users' own folders.",
            mandatory = True,
            providers = [CustomRoomsInfo],
        ),
        "device": attr.string(
            doc = "For which device it is beside the CPU, if for any.",
            values = ["", "hexagon", "opencl"],
        ),
        "left_out": attr.label(
            doc = "Linked too if some rooms are not.",
            mandatory = True,
            providers = [CcInfo],
        ),
        "parts": attr.label_keyed_string_dict(
            doc = "To what each belongs, divided by blanks.",
            providers = [CcInfo],
        ),
        "rooms": attr.label_list(mandatory = True, providers = [CcInfo]),
        "selection": attr.label(
            mandatory = True,
            providers = [OpSelectionInfo],
        ),
    },
)

def _place(folder, mace):
    """Where rooms are, and how what they use is called there.

    Args:
      folder: that holds them, with a slash at its end; "" for this package.
      mace: before the name of a target of mace/ops.
    """
    return struct(folder = folder, mace = mace)

def _room_files(place, op, pattern):
    return native.glob(["%s%s/%s" % (place.folder, op, pattern)], allow_empty = True)

def _includes(place):
    # "mace/ops/<op>/<op>.h", wherever the folder is.
    return [place.folder[:-len("/mace/ops/")]] if place.folder else []

def _schema(place, op, deps):
    declaration = "%s%s/%s.op.yaml" % (place.folder, op, op)
    enums = place.mace + "op_enums.yaml"
    generator = place.mace + "op_schema_gen"
    native.genrule(
        name = op + "_schema_h",
        srcs = [declaration, enums],
        outs = ["%s%s/%s_schema.h" % (place.folder, op, op)],
        cmd = "$(location %s) --op $(location %s) --enums $(location %s) --out $@" %
              (generator, declaration, enums),
        message = "Generating operator schema",
        tools = [generator],
    )
    mace_cc_library(
        name = op + "_schema",
        hdrs = ["%s%s/%s_schema.h" % (place.folder, op, op)],
        includes = _includes(place),
        deps = deps,
    )

def _generated_source(place, op, kind):
    """<op>_<kind>.cc of an operator that is computed by code which operators share."""
    source = "%s%s/%s_%s.cc" % (place.folder, op, op, kind)
    declaration = "%s%s/%s.op.yaml" % (place.folder, op, op)
    enums = place.mace + "op_enums.yaml"
    generator = place.mace + "op_schema_gen"
    native.genrule(
        name = "%s_%s_cc" % (op, kind),
        srcs = [declaration, enums],
        outs = [source],
        cmd = ("$(location %s) --op $(location %s) --device %s --enums $(location %s) " +
               "--out $@") % (generator, declaration, kind, enums),
        message = "Generating the registration of an operator",
        tools = [generator],
    )
    return source

def _opencl_room(place, op, deps):
    """The operator on GPUs; returns its label, or None."""
    source = place.folder + op + "/" + op + "_opencl.cc"
    kernels = _room_files(place, op, "*.cl")
    if not native.glob([source], allow_empty = True):
        if kernels:
            fail("mace/ops/%s: there are OpenCL kernels, but no %s_opencl.cc" % (op, op))
        return None
    for kernel in kernels:
        embed_cl(
            name = kernel.replace("/", "_").replace(".", "_") + "_embedded",
            src = kernel,
        )
    return _device_library(
        place,
        op,
        "opencl",
        deps,
        sources = [kernel.replace(".cl", "_cl.h") for kernel in kernels],
    )

def _source_room(place, op, kind, deps):
    """What <op>_<kind>.cc adds to a room; returns its label, or None."""
    source = "%s%s/%s_%s.cc" % (place.folder, op, op, kind)
    if not native.glob([source], allow_empty = True):
        return None
    return _device_library(place, op, kind, deps)

def _device_library(place, op, kind, deps, sources = []):
    """An operator that registers itself; returns its label.

    Args:
      place: of the folder of its room.
      op: its name.
      kind: of its source, <op>_<kind>.cc, and of the header <op>_<kind>.h, if any.
      deps: what it may include besides.
      sources: that are generated.
    """
    mace_cc_library(
        name = "%s_%s" % (op, kind),
        srcs = ["%s%s/%s_%s.cc" % (place.folder, op, op, kind)] + sources,
        hdrs = _room_files(place, op, "%s_%s.h" % (op, kind)),
        alwayslink = True,
        features = ["small_code"],
        includes = _includes(place),
        precompiled = place.mace + _HEADERS_OF_SOURCES[kind],
        deps = deps + [
            ":%s_schema" % op,
            ":%s_shapes" % op,
        ],
    )
    return ":%s_%s" % (op, kind)

def _room(place, op, deps, small):
    """The targets of one room.

    Args:
      place: of its folder.
      op: its name.
      deps: what its parts may include, see `_deps`.
      small: whether the CPU's part is compiled for size.

    Returns:
      The labels of its quantized operator and of the operator on GPUs and on DSPs, each
      None if there is none; or None if the room has only a declaration.
    """
    where = place.folder[place.folder.find("mace/ops/"):] or "mace/ops/"
    _schema(place, op, deps.shapes)
    test_sources = _room_files(place, op, "*_test.cc")
    shared_by_tests = _room_files(place, op, "*_testing.*")
    benchmark_sources = _room_files(place, op, "*_benchmark.cc")
    shared_sources = _room_files(place, op, op + ".cc")
    shared_headers = _room_files(place, op, op + ".h")
    sources = [
        source
        for source in _room_files(place, op, "*.cc")
        if source not in shared_sources + test_sources + shared_by_tests +
           benchmark_sources and
           not any([source.endswith(end) for end in _OTHER_RUNTIMES + [_QUANTIZED]])
    ]
    if not shared_sources:
        # Declared for the converter; not computed by this release.
        return None
    generated = place.folder + op + "/" + op + "_cpu.cc" not in sources
    if generated:
        if sources:
            fail("%s%s: there is %s, but no %s_cpu.cc" % (where, op, sources[0], op))
        sources = [_generated_source(place, op, "cpu")]
    for missing, found in (
        ("_test.cc", test_sources),
        ("_benchmark.cc", benchmark_sources),
    ):
        # Users may do without benchmarks.
        if not found and not (place.folder and missing == "_benchmark.cc"):
            fail("%s%s: an operator has a test and a benchmark; " % (where, op) +
                 "there is no %s%s" % (op, missing))
    mace_cc_library(
        name = op + "_shapes",
        srcs = shared_sources,
        hdrs = shared_headers,
        features = ["small_code"],
        includes = _includes(place),
        deps = deps.shapes + [":%s_schema" % op],
    )
    mace_cc_library(
        name = op,
        srcs = sources,
        hdrs = [
            header
            for header in _room_files(place, op, "*.h")
            if header not in shared_by_tests + shared_headers
        ],
        # An operator registers itself; nothing refers to it by name.
        alwayslink = True,
        features = ["small_code"] if small else [],
        includes = _includes(place),
        precompiled = place.mace + ("small_cpu_headers" if small else "cpu_headers"),
        deps = deps.cpu + [
            ":%s_schema" % op,
            ":%s_shapes" % op,
        ],
    )
    quantized_room = _source_room(place, op, "quantized", deps.quantized)
    with_parts = [
        ":" + op,
        ":%s_shapes" % op,
        ":%s_schema" % op,
    ] + ([quantized_room] if quantized_room else [])
    mace_cc_library(
        name = op + "_test_cases",
        testonly = True,
        srcs = test_sources + shared_by_tests,
        alwayslink = True,
        includes = _includes(place),
        precompiled = place.mace + "room_test_headers",
        deps = deps.tests + with_parts,
    )
    mace_cc_test(
        name = op + "_test",
        # For work on this op alone; //... runs ops_test.
        tags = ["manual"] if not place.folder else [],
        deps = [":%s_test_cases" % op],
    )
    if benchmark_sources:
        mace_cc_library(
            name = op + "_benchmark_cases",
            testonly = True,
            srcs = benchmark_sources,
            alwayslink = True,
            includes = _includes(place),
            precompiled = place.mace + "room_benchmark_headers",
            deps = deps.benchmarks + with_parts,
        )
        mace_cc_binary(
            name = op + "_benchmark",
            testonly = True,
            # For work on this op alone; //... runs ops_benchmark_test.
            tags = ["manual"],
            deps = [
                ":%s_benchmark_cases" % op,
                deps.benchmark_main,
            ],
        )
    if generated:
        for kind in ["hexagon", "opencl"]:
            _generated_source(place, op, kind)
        return struct(
            hexagon = _device_library(place, op, "hexagon", deps.hexagon),
            opencl = _device_library(place, op, "opencl", deps.opencl),
            quantized = quantized_room,
        )
    return struct(
        hexagon = _source_room(place, op, "hexagon", deps.hexagon),
        opencl = _opencl_room(place, op, deps.opencl),
        quantized = quantized_room,
    )

def _rooms_in(folder):
    """Names of the rooms in a folder."""
    rooms = []
    for declaration in native.glob([folder + "*/*.op.yaml"], allow_empty = True):
        op, name = declaration[len(folder):].split("/")
        if name != op + ".op.yaml":
            fail("mace/ops/%s/%s: must be called %s.op.yaml, like its folder" %
                 (op, name, op))
        rooms.append(op)
    return rooms

def mace_custom_op_rooms(folders):
    """Declares the targets of every room in folders of users' own.

    Args:
      folders: as the calling package has them, each ending in mace/ops.
    """
    names = ["shapes", "cpu", "quantized", "opencl", "hexagon", "tests", "benchmarks"]
    deps = struct(
        benchmark_main = _OPS + "room_benchmark_main",
        **{name: [_OPS + "room_" + name] for name in names}
    )
    rooms = []
    opencl_rooms = {}
    hexagon_rooms = {}
    declarations = []
    for folder in folders:
        place = _place(folder + "/", _OPS)
        for op in _rooms_in(place.folder):
            declarations.append("%s%s/%s.op.yaml" % (place.folder, op, op))
            made = _room(place, op, deps, small = False)
            if made == None:
                continue
            rooms.append(":" + op)
            if made.quantized:
                rooms.append(made.quantized)
            if made.opencl:
                opencl_rooms[made.opencl] = op
            if made.hexagon:
                hexagon_rooms[made.hexagon] = op
    custom_rooms(
        name = "rooms",
        hexagon = hexagon_rooms,
        opencl = opencl_rooms,
        rooms = rooms,
    )
    native.filegroup(name = "declarations", srcs = declarations)

def _precompile(deps):
    """What most rooms include, precompiled for each kind of source.

    Args:
      deps: as in `_room`.
    """
    standard = [
        "<algorithm>",
        "<cmath>",
        "<cstdint>",
        "<cstring>",
        "<limits>",
        "<memory>",
        "<string>",
        "<utility>",
        "<vector>",
    ]
    small = ["small_code"]
    for name, headers, features, deps_of_kind in [
        ("cpu", ["cpu_op/cpu_op.h"], [], deps.cpu),
        ("small_cpu", ["cpu_op/cpu_op.h"], small, deps.cpu),
        ("opencl", ["opencl_op/move.h", "opencl_op/opencl_op.h"], small, deps.opencl),
        ("hexagon", ["hexagon_op/moves.h", "hexagon_op/tables.h"], small, deps.hexagon),
    ]:
        mace_precompiled_headers(
            name = name + "_headers",
            features = features,
            includes = standard + ["\"mace/ops/%s\"" % header for header in headers],
            deps = deps_of_kind,
        )
    for name, headers, deps_of_kind in [
        ("test", ["indexing.h", "op_runner.h"], deps.tests),
        ("benchmark", ["benchmark.h"], deps.benchmarks),
    ]:
        mace_precompiled_headers(
            name = "room_%s_headers" % name,
            testonly = True,
            includes = (["<gtest/gtest.h>"] if name == "test" else []) + standard + [
                "\"mace/ops/testing/%s\"" % header
                for header in headers
            ],
            deps = deps_of_kind,
        )

def mace_op_rooms(
        shape_deps,
        cpu_deps,
        quantized_deps,
        opencl_deps,
        hexagon_deps,
        parts,
        small,
        test_deps,
        benchmark_deps,
        benchmark_main):
    """Declares the targets of every room of the calling package.

    Args:
      shape_deps: what the shape function of an operator may include.
      cpu_deps: what an operator on the CPU may include besides.
      quantized_deps: what a quantized operator on the CPU may include besides.
      opencl_deps: what an operator on GPUs may include besides.
      hexagon_deps: what an operator on DSPs may include besides.
      parts: kernels that register themselves, for some models only -> the
        rooms and parts that they belong to; none for those that are named.
      small: rooms whose loops over elements are all in kernels: what they have
        for the CPU is compiled for size. Shape functions always are.
      test_deps: what its test may include besides.
      benchmark_deps: what its benchmark may include besides.
      benchmark_main: the library with the main function of benchmarks.
    """
    cpu = shape_deps + cpu_deps
    deps = struct(
        benchmark_main = benchmark_main,
        benchmarks = cpu + parts.keys() + benchmark_deps,
        cpu = cpu,
        hexagon = shape_deps + hexagon_deps,
        opencl = shape_deps + opencl_deps,
        quantized = cpu + quantized_deps,
        shapes = shape_deps,
        tests = cpu + parts.keys() + test_deps + ["@googletest//:gtest"],
    )
    _precompile(deps)
    declared = _rooms_in("")
    rooms = []
    quantized_rooms = []
    opencl_rooms = {}
    hexagon_rooms = {}
    for op in declared:
        made = _room(_place("", ":"), op, deps, op in small)
        if made == None:
            continue
        rooms.append(":" + op)
        if made.quantized:
            quantized_rooms.append(made.quantized)
        if made.opencl:
            opencl_rooms[made.opencl] = op
        if made.hexagon:
            hexagon_rooms[made.hexagon] = op
    for name in ["shapes", "cpu", "quantized", "opencl", "hexagon", "tests", "benchmarks"]:
        # For rooms in other folders.
        mace_cc_library(
            name = "room_" + name,
            testonly = name in ["tests", "benchmarks"],
            deps = getattr(deps, name),
        )
    mace_cc_library(
        name = "room_benchmark_main",
        testonly = True,
        deps = [benchmark_main],
    )

    for op in small:
        if ":" + op not in rooms:
            fail("small: there is no room mace/ops/%s" % op)
    mace_cc_library(
        name = "schemas",
        deps = [":%s_schema" % op for op in declared],
    )
    native.genrule(
        name = "left_out_cc",
        srcs = ["%s/%s.op.yaml" % (op, op) for op in declared] + [
            "@mace_custom_ops//:declarations",
        ],
        outs = ["left_out.cc"],
        cmd = "$(location :op_schema_gen) --enums $(location op_enums.yaml) " +
              "--out $@ --types $(SRCS)",
        message = "Generating the list of operators",
        tools = [
            "op_enums.yaml",
            ":op_schema_gen",
        ],
    )
    mace_cc_library(
        name = "left_out",
        srcs = ["left_out.cc"],
        alwayslink = True,
        deps = ["//mace/core/model"],
    )
    op_selection(name = "only", build_setting_default = [])
    cpu_parts = {part: " ".join(to) for part, to in parts.items()}
    linked_rooms(
        name = "ops",
        custom = "@mace_custom_ops//:rooms",
        left_out = ":left_out",
        parts = cpu_parts,
        rooms = rooms + quantized_rooms,
        selection = ":only",
    )
    for device, device_rooms in [("opencl", opencl_rooms), ("hexagon", hexagon_rooms)]:
        linked_rooms(
            name = device + "_ops",
            custom = "@mace_custom_ops//:rooms",
            device = device,
            left_out = ":left_out",
            # A selection names those of the CPU, too.
            parts = dict(cpu_parts.items() + device_rooms.items()),
            rooms = rooms + quantized_rooms,
            selection = ":only",
        )
    mace_cc_library(
        name = "ops_test_cases",
        testonly = True,
        deps = [room + "_test_cases" for room in rooms],
    )
    mace_cc_test(
        name = "ops_test",
        size = "large",
        # The longest test, and the last that can begin: it links all operators.
        shard_count = 4,
        deps = [":ops_test_cases"],
    )
    mace_cc_library(
        name = "ops_benchmark_cases",
        testonly = True,
        deps = [room + "_benchmark_cases" for room in rooms] + [benchmark_main],
    )
    mace_cc_binary(
        name = "ops_benchmark",
        testonly = True,
        deps = [":ops_benchmark_cases"] + select({
            "//mace:with_opencl": ["//test/opencl:op_benchmarks"],
            "//conditions:default": [],
        }),
    )

    # That all of them run; how fast says nothing.
    native.cc_test(
        name = "ops_benchmark_test",
        size = "medium",
        args = ["--once"],
        tags = [
            "host_only",
            "opt_only",
        ],
        deps = [":ops_benchmark_cases"],
    )
