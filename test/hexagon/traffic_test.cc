// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What goes to a phone's DSP: one call for each segment of a run, and weights
// once. A library stands for FastRPC, with the emulator behind it.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mace/runtimes/hexagon/testing/fastrpc_stand_in.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace test_hexagon {
namespace {

// Layers that are worth a remote call.
constexpr int64_t kSide = 28;
constexpr int64_t kMany = 96;
constexpr int64_t kFew = 32;
constexpr int kSegments = 2;

// Two segments, with an operator of the CPU between them.
ModelBuilder TwoSegments() {
  std::vector<int32_t> swapped;
  for (int32_t i = 0; i < kMany; ++i) swapped.push_back(i ^ 1);
  NetworkBuilder network(DataType::kUint8);
  network.Input({-1, -1, -1, 3})
      .Conv("x", "a", {kMany, 3, 3, 3}, {Relu()})
      .Conv("a", "b", {kMany, 3, 3, kMany}, {Relu()})
      .Gather("b", "d", 3, swapped)
      .Conv("d", "e", {kMany, 3, 3, kMany})
      .Conv("e", "c", {kFew, 3, 3, kMany})
      .Dense("c", "y", {kClasses, kFew})
      .Output("y")
      .Output("c");
  return network.model();
}

FastRpcStandIn *Phone() {
  void *library = dlopen(std::getenv("MACE_FASTRPC_LIBRARY"), RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto function = reinterpret_cast<FastRpcStandInFunction>(
      dlsym(library, "fastrpc_stand_in"));
  return function == nullptr ? nullptr : function();
}

TEST(HexagonTrafficTest, OneCallForEachSegmentAndWeightsOnce) {
  FastRpcStandIn *phone = Phone();
  ASSERT_NE(phone, nullptr);
  const ModelBuilder model = TwoSegments();
  const MadeEngine made = core_test::Make(model, On({RT_HEXAGON, RT_CPU}));
  ASSERT_OK(made.status);
  const Dims dims = {1, kSide, kSide, 3};
  const Dims other = {1, kSide, kSide - 1, 3};
  const Results wanted = Wanted(model, 1, dims);
  const Results wanted_other = Wanted(model, 1, other);
  Results results;
  ASSERT_OK(RunOnce(made.engine.get(), 1, &results, dims));
  EXPECT_EQ(results, wanted);
  ASSERT_EQ(OnDsp(made), 5u) << made.engine->Explain();
  EXPECT_EQ(phone->calls, kSegments);
  // All weights: kMany * kMany * 9 of each of two layers, and others.
  uint8_t *constants = phone->constants;
  ASSERT_GT(phone->constant_bytes, size_t{2 * kMany * kMany * 9});

  // From now on, the host cannot write them.
  ASSERT_EQ(mprotect(constants, phone->constant_bytes, PROT_READ), 0);
  const int allocated = phone->allocated;
  constexpr int kRuns = 2;
  for (int i = 0; i < kRuns; ++i) {
    ASSERT_OK(RunOnce(made.engine.get(), 1, &results, dims));
    EXPECT_EQ(results, wanted);
  }
  EXPECT_EQ(phone->calls, kSegments * (1 + kRuns));
  EXPECT_EQ(phone->allocated, allocated);

  // Another shape has programs of its own, and the same weights.
  for (const bool is_other : {true, false, true}) {
    ASSERT_OK(RunOnce(made.engine.get(), 1, &results, is_other ? other : dims));
    EXPECT_EQ(results, is_other ? wanted_other : wanted);
    EXPECT_EQ(phone->constants, constants);
  }
  EXPECT_EQ(phone->calls, kSegments * (1 + kRuns + 3));
  // Of each call, what is asked and what is answered.
  EXPECT_EQ(phone->copied_buffers, 2 * phone->calls);
  EXPECT_EQ(phone->opened, 1);
  ASSERT_EQ(mprotect(constants, phone->constant_bytes, PROT_READ | PROT_WRITE),
            0);
}

}  // namespace
}  // namespace test_hexagon
}  // namespace mace
