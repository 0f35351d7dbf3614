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

const bool kRegistered = [] {
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
