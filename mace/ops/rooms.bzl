# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0

"""Targets of all operators, made from the folders that are there.

A room is a folder mace/ops/<room>/ with <op>.op.yaml of an operator, or of several that
are read together. It has no BUILD file and is in no list: a new operator is new files
only. A room holds

    <op>.op.yaml            attributes and ports
    <room>.py               what the converter knows of them; Bazel does not read it
    <room>.cc, <op>.h       what all devices share: the shape functions; <op>.h only
                            where a device needs more of one. No kernel can be
                            included; without <room>.cc the operators are only declared
    <op>_cpu.cc             how the CPU computes it. Where the declaration has the key
                            `computes`, there is neither this file nor one of another
                            device: they are generated. The other *.cc and *.h belong to
                            the operator that is called like the room
    <op>_quantized.cc       how the CPU computes it in quantized numbers; optional
    <op>_opencl.cc, *.cl    how a GPU computes it; optional. <op>_opencl.h where kernels
                            for several operators need part of it
    <op>_hexagon.cc         how a DSP computes it, as the host describes it; optional
    *_test.cc               its tests, with googletest
    *_testing.cc, .h        what several of them share
    *_benchmark.cc          its benchmarks

and becomes

    :<room>_schema          the generated headers mace/ops/<room>/<op>_schema.h
    :<room>_shapes          what all devices share
    :<op>                   the operator on the CPU, registered by being linked
    :<op>_quantized         the quantized operator on the CPU, likewise
    :<op>_opencl            the operator on GPUs, likewise
    :<op>_hexagon           the operator on DSPs, likewise
    :<room>_test            the tests of this room
    :<room>_benchmark       the benchmarks of this room

All rooms together are :ops, :opencl_ops, :hexagon_ops, :ops_test and :ops_benchmark (the
latter two, as libraries: :ops_test_cases and :ops_benchmark_cases). A library with some
operators only comes of

    --//mace/ops:only=conv2d,pooling,softmax

which takes the others out of :ops, also those of the same room; nothing else is affected
by it. Parts are
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

# Sources and headers of a room that are not in the operators' libraries for floats on the
# CPU, or are there by themselves. Runtimes with their own toolchain or library need others,
# which depend on :<room>_shapes.
_OTHER_SOURCES = [
    "_benchmark.cc",
    "_cpu.cc",
    "_hexagon.cc",
    "_opencl.cc",
    "_quantized.cc",
    "_test.cc",
    "_testing.cc",
]
_OTHER_HEADERS = [
    "_hexagon.h",
    "_opencl.h",
    "_testing.h",
]

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

def _any_in(names, wanted):
    """Whether one of the names, divided by |, is wanted."""
    return any([name in wanted for name in names.split("|")])

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
        strange = [name for names in to for name in names.split("|") if name not in named]
        if strange:
            fail("%s belongs to %s: no such room" % (dep.label, ", ".join(strange)))
        if to and (not wanted or all([_any_in(names, wanted) for names in to])):
            linked.append(dep)
    if wanted:
        linked.append(ctx.attr.left_out)
    if [dep for dep in linked if dep.label.name.endswith("_quantized")]:
        linked.append(ctx.attr.with_quantized)
    if [dep for dep in linked if dep.label.name.endswith("_end")]:
        linked.append(ctx.attr.with_loops)
    if [dep for dep in linked if dep.label.name == "where"]:
        linked.append(ctx.attr.with_choices)
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
            doc = "To what each belongs, divided by blanks; alternatives by |.",
            providers = [CcInfo],
        ),
        "rooms": attr.label_list(mandatory = True, providers = [CcInfo]),
        "selection": attr.label(
            mandatory = True,
            providers = [OpSelectionInfo],
        ),
        "with_choices": attr.label(
            default = "//mace/runtimes/cpu:choices",
            doc = "Linked too if the operator that chooses is.",
            providers = [CcInfo],
        ),
        "with_loops": attr.label(
            default = "//mace/runtimes/cpu:loops",
            doc = "Linked too if an operator that ends a loop is.",
            providers = [CcInfo],
        ),
        "with_quantized": attr.label(
            default = "//mace/runtimes/cpu:signedness",
            doc = "Linked too if a quantized operator is.",
            providers = [CcInfo],
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

def _room_files(place, room, pattern):
    return native.glob(["%s%s/%s" % (place.folder, room, pattern)], allow_empty = True)

def _includes(place):
    # "mace/ops/<op>/<op>.h", wherever the folder is.
    return [place.folder[:-len("/mace/ops/")]] if place.folder else []

def _generated(place, room, op, name, out, device = ""):
    """A file that the declaration of an operator becomes; returns the file.

    Args:
      place: of the folder of its room.
      room: the name of the room.
      op: its name.
      name: of the target.
      out: the file, within the room.
      device: on which it is registered, if it is that source.
    """
    declaration = "%s%s/%s.op.yaml" % (place.folder, room, op)
    enums = place.mace + "op_enums.yaml"
    generator = place.mace + "op_schema_gen"
    out = "%s%s/%s" % (place.folder, room, out)
    native.genrule(
        name = name,
        srcs = [declaration, enums],
        outs = [out],
        cmd = "$(location %s) --op $(location %s) %s--enums $(location %s) --out $@" % (
            generator,
            declaration,
            "--device %s " % device if device else "",
            enums,
        ),
        message = "Generating operator " + ("registration" if device else "schema"),
        tools = [generator],
    )
    return out

def _device_library(place, room, op, kind, deps, generated = False):
    """An operator on a device, which registers itself; returns its label, or None.

    Args:
      place: of the folder of its room.
      room: the name of the room.
      op: its name.
      kind: of its source, <op>_<kind>.cc, and of the header <op>_<kind>.h, if any.
      deps: what it may include besides.
      generated: whether its source is.
    """
    name = "%s_%s" % (op, kind)
    sources = _room_files(place, room, name + ".cc")
    if generated:
        sources = [_generated(place, room, op, name + "_cc", name + ".cc", kind)]
    if not sources:
        return None
    if kind == "opencl":
        sources += [
            kernel.replace(".cl", "_cl.h")
            for kernel in _room_files(place, room, "*.cl")
        ]
    mace_cc_library(
        name = name,
        srcs = sources,
        hdrs = _room_files(place, room, name + ".h"),
        alwayslink = True,
        features = ["small_code"],
        includes = _includes(place),
        precompiled = place.mace + _HEADERS_OF_SOURCES[kind],
        deps = deps + [
            ":%s_schema" % room,
            ":%s_shapes" % room,
        ],
    )
    return ":" + name

def _embed_kernels(place, room):
    kernels = _room_files(place, room, "*.cl")
    if kernels and not _room_files(place, room, "*_opencl.cc"):
        fail("mace/ops/%s: there are OpenCL kernels, but no %s_opencl.cc" % (room, room))
    for kernel in kernels:
        embed_cl(
            name = kernel.replace("/", "_").replace(".", "_") + "_embedded",
            src = kernel,
        )

def _operator(place, room, op, deps, small, others):
    """The targets of one operator that a room computes.

    Args:
      place: of the folder of its room.
      room: the name of the room.
      op: its name.
      deps: what its parts may include, see `_deps`.
      small: whether the CPU's part is compiled for size.
      others: sources and headers of the room besides, that belong to it.

    Returns:
      Its name, and the labels of its quantized operator and of the operator on GPUs and
      on DSPs, each None if there is none.
    """
    sources = _room_files(place, room, op + "_cpu.cc")
    generated = not sources
    if generated:
        if others.sources:
            fail("%s: there is %s, but no %s_cpu.cc" % (room, others.sources[0], op))
        sources = [_generated(place, room, op, op + "_cpu_cc", op + "_cpu.cc", "cpu")]
    mace_cc_library(
        name = op,
        srcs = sources + others.sources,
        hdrs = others.headers,
        # An operator registers itself; nothing refers to it by name.
        alwayslink = True,
        features = ["small_code"] if small else [],
        includes = _includes(place),
        precompiled = place.mace + ("small_cpu_headers" if small else "cpu_headers"),
        deps = deps.cpu + [
            ":%s_schema" % room,
            ":%s_shapes" % room,
        ],
    )
    return struct(
        name = op,
        hexagon = _device_library(place, room, op, "hexagon", deps.hexagon, generated),
        opencl = _device_library(place, room, op, "opencl", deps.opencl, generated),
        quantized = _device_library(place, room, op, "quantized", deps.quantized),
    )

def _proofs(place, room, deps, parts):
    """The tests and benchmarks of a room.

    Args:
      place: of its folder.
      room: its name.
      deps: what they may include, see `_deps`.
      parts: of the room.
    """
    tests = _room_files(place, room, "*_test.cc")
    benchmarks = _room_files(place, room, "*_benchmark.cc")
    for missing, found in (("_test.cc", tests), ("_benchmark.cc", benchmarks)):
        # Users may do without benchmarks.
        if not found and not (place.folder and missing == "_benchmark.cc"):
            where = place.folder[place.folder.find("mace/ops/"):] or "mace/ops/"
            fail("%s%s: an operator has a test and a benchmark; " % (where, room) +
                 "there is no %s%s" % (room, missing))
    mace_cc_library(
        name = room + "_test_cases",
        testonly = True,
        srcs = tests + _room_files(place, room, "*_testing.*"),
        alwayslink = True,
        includes = _includes(place),
        precompiled = place.mace + "room_test_headers",
        deps = deps.tests + parts,
    )
    mace_cc_test(
        name = room + "_test",
        # For work on this room alone; //... runs ops_test.
        tags = ["manual"] if not place.folder else [],
        deps = [":%s_test_cases" % room],
    )
    if benchmarks:
        mace_cc_library(
            name = room + "_benchmark_cases",
            testonly = True,
            srcs = benchmarks,
            alwayslink = True,
            includes = _includes(place),
            precompiled = place.mace + "room_benchmark_headers",
            deps = deps.benchmarks + parts,
        )
        mace_cc_binary(
            name = room + "_benchmark",
            testonly = True,
            # For work on this room alone; //... runs ops_benchmark_test.
            tags = ["manual"],
            deps = [
                ":%s_benchmark_cases" % room,
                deps.benchmark_main,
            ],
        )

def _room(place, room, ops, deps, small):
    """The targets of one room.

    Args:
      place: of its folder.
      room: its name.
      ops: the names of its operators.
      deps: what its parts may include, see `_deps`.
      small: the operators whose part for the CPU is compiled for size.

    Returns:
      What `_operator` does for each of them; nothing if the room has only declarations.
    """
    mace_cc_library(
        name = room + "_schema",
        hdrs = [
            _generated(place, room, op, op + "_schema_h", op + "_schema.h")
            for op in ops
        ],
        includes = _includes(place),
        deps = deps.shapes,
    )
    shared_sources = _room_files(place, room, room + ".cc")
    if not shared_sources:
        # Declared for the converter; not computed by this release.
        return []
    shared_headers = [
        header
        for op in ops
        for header in _room_files(place, room, op + ".h")
    ]
    mace_cc_library(
        name = room + "_shapes",
        srcs = shared_sources,
        hdrs = shared_headers,
        features = ["small_code"],
        includes = _includes(place),
        deps = deps.shapes + [":%s_schema" % room],
    )
    _embed_kernels(place, room)
    others = struct(
        headers = [
            header
            for header in _room_files(place, room, "*.h")
            if header not in shared_headers and
               not any([header.endswith(end) for end in _OTHER_HEADERS])
        ],
        sources = [
            source
            for source in _room_files(place, room, "*.cc")
            if source not in shared_sources and
               not any([source.endswith(end) for end in _OTHER_SOURCES])
        ],
    )
    none = struct(headers = [], sources = [])
    if (others.headers or others.sources) and room not in ops:
        fail("%s: %s belongs to no operator: none is called %s" %
             (room, (others.headers + others.sources)[0], room))
    made = [
        _operator(place, room, op, deps, op in small, others if op == room else none)
        for op in ops
    ]
    parts = [":" + op for op in ops] + [":%s_shapes" % room, ":%s_schema" % room]
    _proofs(place, room, deps, parts + [op.quantized for op in made if op.quantized])
    return made

def _rooms_in(folder):
    """The rooms in a folder, with the names of their operators."""
    rooms = {}
    for declaration in native.glob([folder + "*/*.op.yaml"], allow_empty = True):
        room, name = declaration[len(folder):].split("/")
        rooms.setdefault(room, []).append(name[:-len(".op.yaml")])
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
        for room, ops in _rooms_in(place.folder).items():
            if ops != [room]:
                fail("%s%s/%s.op.yaml: must be called %s.op.yaml, like its folder" %
                     (place.folder, room, ops[0], room))
            declarations.append("%s%s/%s.op.yaml" % (place.folder, room, room))
            for made in _room(place, room, ops, deps, small = []):
                rooms.append(":" + made.name)
                if made.quantized:
                    rooms.append(made.quantized)
                if made.opencl:
                    opencl_rooms[made.opencl] = made.name
                if made.hexagon:
                    hexagon_rooms[made.hexagon] = made.name
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
        operators and parts that they belong to, each one name or several of which
        one is enough, divided by |; none for those that are named.
      small: operators whose loops over elements are all in kernels: what they have
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
    computed = []
    rooms = []
    quantized_rooms = []
    opencl_rooms = {}
    hexagon_rooms = {}
    for room, ops in declared.items():
        operators = _room(_place("", ":"), room, ops, deps, small)
        if operators:
            computed.append(room)
        for made in operators:
            rooms.append(":" + made.name)
            if made.quantized:
                quantized_rooms.append(made.quantized)
            if made.opencl:
                opencl_rooms[made.opencl] = made.name
            if made.hexagon:
                hexagon_rooms[made.hexagon] = made.name
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
            fail("small: there is no operator %s in mace/ops" % op)
    mace_cc_library(
        name = "schemas",
        deps = [":%s_schema" % room for room in declared],
    )
    native.genrule(
        name = "left_out_cc",
        srcs = native.glob(["*/*.op.yaml"]) + [
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
        deps = [":%s_test_cases" % room for room in computed],
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
        deps = [":%s_benchmark_cases" % room for room in computed] + [benchmark_main],
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
