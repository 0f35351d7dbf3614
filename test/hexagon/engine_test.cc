// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Engines with an emulated DSP: their results are those of the CPU, to the bit.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mace/runtimes/hexagon/transport.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace test_hexagon {
namespace {

// Which a network has on the DSP.
constexpr size_t kOperators = 7;

class HexagonEngineTest : public ::testing::Test {
 protected:
  // The emulator is started once.
  static void SetUpTestSuite() {
    auto transport = OpenHexagonTransport(HexagonOptions());
    ASSERT_TRUE(transport.ok()) << transport.status().information();
    transport_ = transport.value();
  }
  static void TearDownTestSuite() { transport_ = nullptr; }

  static std::shared_ptr<HexagonTransport> transport_;
};

std::shared_ptr<HexagonTransport> HexagonEngineTest::transport_;

TEST_F(HexagonEngineTest, NetworksOfEitherSignedness) {
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const ModelBuilder model = Network(type);
    const MadeEngine made = core_test::Make(model, On({RT_HEXAGON, RT_CPU}));
    ASSERT_OK(made.status);
    EXPECT_EQ(OnDsp(made), kOperators) << made.engine->Explain();
    for (uint32_t image = 1; image <= 3; ++image) {
      Results results;
      ASSERT_OK(RunOnce(made.engine.get(), image, &results));
      EXPECT_EQ(results, Wanted(model, image));
    }
  }
}

TEST_F(HexagonEngineTest, ResultsVary) {
  const Results wanted = Wanted(Network(DataType::kUint8), 1);
  for (const std::vector<uint8_t> &result : wanted) {
    std::vector<char> seen(256);
    int different = 0;
    for (uint8_t byte : result) different += seen[byte]++ == 0 ? 1 : 0;
    EXPECT_GE(different, 5);
  }
  EXPECT_NE(wanted, Wanted(Network(DataType::kUint8), 2));
}

TEST_F(HexagonEngineTest, OtherShapesInTurn) {
  const ModelBuilder model = Network(DataType::kInt8, {-1, -1, -1, 3});
  const MadeEngine made = core_test::Make(model, On({RT_HEXAGON, RT_CPU}));
  ASSERT_OK(made.status);
  const Dims shapes[] = {{1, 19, 23, 3}, {2, 8, 9, 3}, {1, 33, 5, 3}};
  for (int round = 0; round < 2; ++round) {
    for (const Dims &dims : shapes) {
      Results results;
      ASSERT_OK(RunOnce(made.engine.get(), 5, &results, dims));
      EXPECT_EQ(results, Wanted(model, 5, dims));
    }
  }
  EXPECT_EQ(OnDsp(made), kOperators) << made.engine->Explain();
}

// Images of few channels, whose readers' windows begin at the same pixel, or
// not, or need pixels of 8 bytes.
TEST_F(HexagonEngineTest, ReadersOfOneImage) {
  const Dims dims_of_filters[] = {{3, 2}, {5, 2}, {3, 1}};
  for (const int64_t channels : {2, 3, 4, 5}) {
    for (const Dims &second : dims_of_filters) {
      const Dims dims = {1, kHeight, kWidth + 1, channels};
      NetworkBuilder network(DataType::kUint8);
      network.Input(dims)
          .Conv("x", "c", {8, 3, 3, channels}, {Strides(2)})
          .Conv("x", "a", {8, second[0], second[0], channels},
                {Strides(second[1])})
          .Conv("a", "y", {5, 1, 1, 8})
          .Output("y")
          .Output("c");
      const MadeEngine made =
          core_test::Make(network.model(), On({RT_HEXAGON, RT_CPU}));
      ASSERT_OK(made.status);
      EXPECT_EQ(OnDsp(made), 3u) << made.engine->Explain();
      Results results;
      ASSERT_OK(RunOnce(made.engine.get(), 1, &results, dims));
      EXPECT_EQ(results, Wanted(network.model(), 1, dims)) << channels;
    }
  }
}

TEST_F(HexagonEngineTest, SegmentsBetweenOperatorsOfTheCpu) {
  NetworkBuilder network(DataType::kUint8);
  network.Conv("x", "a", {16, 3, 3, 3}, {Relu()})
      .Gather("a", "b", 2, {22, 0, 7, 7, 21, 3, 1, 15, 2, 12, 5})
      .Conv("b", "c", {24, 3, 3, 16})
      .Dense("c", "y", {kClasses, 24})
      .Output("y")
      .Output("c");
  MakeOptions options = On({RT_HEXAGON, RT_CPU});
  const MadeEngine made = core_test::Make(network.model(), options);
  ASSERT_OK(made.status);
  const std::vector<OperatorPlacement> placed =
      made.engine->GetPlacement().operators;
  ASSERT_EQ(placed.size(), 4u);
  for (const OperatorPlacement &op : placed) {
    EXPECT_EQ(op.device,
              op.operator_name == "b" ? DeviceType::CPU : DeviceType::HEXAGON)
        << op.operator_name;
  }
  Results results;
  ASSERT_OK(RunOnce(made.engine.get(), 2, &results));
  EXPECT_EQ(results, Wanted(network.model(), 2));
}

TEST_F(HexagonEngineTest, TimesOfOperators) {
  const MadeEngine made =
      core_test::Make(Network(DataType::kInt8), On({RT_HEXAGON, RT_CPU}));
  ASSERT_OK(made.status);
  RunMetadata metadata;
  Results results;
  ASSERT_OK(RunOnce(made.engine.get(), 1, &results, {1, kHeight, kWidth, 3},
                    &metadata));
  ASSERT_EQ(metadata.op_stats.size(), kOperators);
  for (const OperatorStats &stats : metadata.op_stats) {
    EXPECT_EQ(stats.device, DeviceType::HEXAGON);
    EXPECT_GT(stats.stats.duration_nanos, 0) << stats.operator_name;
    EXPECT_GT(stats.macs, 0) << stats.operator_name;
    EXPECT_TRUE(stats.quantized);
  }
  // 5x5 of 140 channels against 3x3 of 20 on twice the pixels.
  EXPECT_EQ(metadata.op_stats[0].operator_name, "a");
  EXPECT_EQ(metadata.op_stats[6].operator_name, "y");
  EXPECT_EQ(results, Wanted(Network(DataType::kInt8), 1));
}

// Also of runs that nobody asked for the times of.
TEST_F(HexagonEngineTest, LogTimesIfTheEnvironmentAsks) {
  for (const bool wished : {true, false}) {
    if (wished) setenv("MACE_HEXAGON_PROFILING", "1", 1);
    const MadeEngine made =
        core_test::Make(Network(DataType::kInt8), On({RT_HEXAGON, RT_CPU}));
    unsetenv("MACE_HEXAGON_PROFILING");
    ASSERT_OK(made.status);
    Results results;
    ::testing::internal::CaptureStderr();
    const MaceStatus status = RunOnce(made.engine.get(), 1, &results);
    const std::string text = ::testing::internal::GetCapturedStderr();
    ASSERT_OK(status);
    EXPECT_EQ(results, Wanted(Network(DataType::kInt8), 1));
    size_t lines = 0;
    for (size_t at = text.find("DSP: "); at != std::string::npos;
         at = text.find("DSP: ", at + 1)) {
      ++lines;
    }
    EXPECT_EQ(lines, wished ? kOperators : 0u) << text;
    EXPECT_EQ(text.find("' took ") != std::string::npos, wished) << text;
  }
}

TEST_F(HexagonEngineTest, FloatsAreLeftToTheCpu) {
  ModelBuilder model;
  model.Input("x", {1, 2, 2, 4})
      .Operator("y", "Activation", {"x"}, {"y"},
                {core_test::StringAttribute("activation", "RELU")})
      .Output("y");
  const MadeEngine made = core_test::Make(model, On({RT_HEXAGON, RT_CPU}));
  ASSERT_OK(made.status);
  const EnginePlacement placement = made.engine->GetPlacement();
  ASSERT_EQ(placement.operators.size(), 1u);
  EXPECT_EQ(placement.operators[0].device, DeviceType::CPU);
  EXPECT_EQ(placement.operators[0].refusals.size(), 1u);
}

TEST_F(HexagonEngineTest, TwoEnginesAtOnce) {
  const ModelBuilder models[] = {Network(DataType::kUint8),
                                 Network(DataType::kInt8)};
  const Results wanted[] = {Wanted(models[0], 1), Wanted(models[1], 1)};
  int right[2] = {};
  std::vector<std::thread> threads;
  constexpr int kRounds = 5;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      const MadeEngine made =
          core_test::Make(models[i], On({RT_HEXAGON, RT_CPU}));
      if (!IsOk(made.status)) return;
      for (int round = 0; round < kRounds; ++round) {
        Results results;
        const bool ran = IsOk(RunOnce(made.engine.get(), 1, &results));
        right[i] += ran && results == wanted[i] ? 1 : 0;
      }
      if (OnDsp(made) != kOperators) right[i] = 0;
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(right[0], kRounds);
  EXPECT_EQ(right[1], kRounds);
}

}  // namespace
}  // namespace test_hexagon
}  // namespace mace
