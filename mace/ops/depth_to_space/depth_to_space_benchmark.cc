// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kDepthToSpaceRegistered = [] {
  const Shape shape = {1, 112, 112, 64};
  for (const char *order : {"DCR", "CRD"}) {
    RegisterOp(OpName("DEPTH_TO_SPACE", shape, order), [=](Random *random) {
      return OpCase("DepthToSpace")
          .Input(random->Floats(shape))
          .Int("block", 2)
          .String("order", order);
    });
  }
  return true;
}();

const bool kSpaceToDepthRegistered = [] {
  const Shape shape = {1, 224, 224, 16};
  for (const char *order : {"DCR", "CRD"}) {
    RegisterOp(OpName("SPACE_TO_DEPTH", shape, order), [=](Random *random) {
      return OpCase("SpaceToDepth")
          .Input(random->Floats(shape))
          .Int("block", 2)
          .String("order", order);
    });
  }
  return true;
}();

const bool kChannelShuffleRegistered = [] {
  for (const Shape &shape : {Shape{1, 28, 28, 240}, Shape{1, 56, 56, 144}}) {
    for (const int64_t groups : {2, 3, 8}) {
      const std::string details = "G" + std::to_string(groups);
      RegisterOp(OpName("CHANNEL_SHUFFLE", shape, details),
                 [=](Random *random) {
                   return OpCase("ChannelShuffle")
                       .Input(random->Floats(shape))
                       .Int("groups", groups);
                 });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mace
