# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Creates message classes from the `.proto` files of the source tree.

    model = load_proto('mace/proto/mace.proto').Model()

The files are compiled to a *descriptor set* when they are first used, and the classes
are created from it at run time. Unlike generated Python code, a descriptor set works
with every version of the protobuf package, so any compiler can be used: `grpcio-tools`
(from pip) or `protoc` (from the system). The result is kept in the user's cache under
the hash of the source.
"""

from mace.python.tools.proto.loader import ProtoMessages, load_proto

__all__ = ["ProtoMessages", "load_proto"]
