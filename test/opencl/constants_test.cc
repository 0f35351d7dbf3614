// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The memory that constants take on the GPU.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/on_test_driver.h"

namespace mace {
namespace {

const ::testing::Environment *const on_test_driver =
    ::testing::AddGlobalTestEnvironment(new test_opencl::OnTestDriver);

// A layer [1, kDepth] x [kOutputs, kDepth]; the whole blocks of its packed
// weights need no padding.
constexpr int64_t kDepth = 256;
constexpr int64_t kOutputs = 64;
// Zeros after a constant, and to a multiple of 64 bytes.
constexpr size_t kMostPadding = 80;

void ExpectStoredBytes(DataType type, ConstantLayout layout, size_t bytes) {
  const std::vector<uint8_t> weights(bytes);
  core_test::ModelBuilder model;
  model.Input("x", {1, kDepth}, DataType::kFloat32, DataFormat::NONE);
  const uint64_t offset = model.AppendWeights(weights.data(), bytes);
  model.RawConstant("weights", {kOutputs, kDepth}, type, layout, 1, offset,
                    bytes);
  model.Version(layout == ConstantLayout::kPackedO16Scaled ? 3 : 1);
  model.Operator("layer", "FullyConnected", {"x", "weights"}, {"y"});
  model.Output("y", DataFormat::NONE);
  const size_t prepared = test_opencl::PreparedBytes(model);
  EXPECT_GE(prepared, bytes);
  EXPECT_LE(prepared, bytes + kMostPadding);
}

TEST(OpenclConstantsTest, WeightsTakeTheirStoredBytes) {
  setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
  constexpr size_t kElements = kOutputs * kDepth;
  ExpectStoredBytes(DataType::kFloat32, ConstantLayout::kPackedO16,
                    4 * kElements);
  ExpectStoredBytes(DataType::kFloat16, ConstantLayout::kPackedO16,
                    2 * kElements);
  // A float scale and offset for each output channel.
  ExpectStoredBytes(DataType::kInt8, ConstantLayout::kPackedO16Scaled,
                    kElements + 8 * kOutputs);
}

}  // namespace
}  // namespace mace
