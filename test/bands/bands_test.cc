// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Networks whose operators run in bands of rows give the bits that they give
// one operator after the other, which is how an engine runs them that checks
// each tensor for NaN.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"
#include "test/bands/network.h"

namespace mace {
namespace {

using bands_test::Network;
using core_test::Dims;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using op_test::Random;
using Tensors = std::map<std::string, MaceTensor>;

// An engine of a network, and its weights.
struct Runner {
  Runner(const Network &network, const ModelBuilder &model)
      : dims(network.input()), graph(model.graph()) {
    const size_t bytes = (model.weights().size() + 63) / 64 * 64;
    weights.reset(std::aligned_alloc(64, bytes), std::free);
    std::memcpy(weights.get(), model.weights().data(), model.weights().size());
    weights_size = model.weights().size();
  }

  void Create(const std::vector<std::string> &outputs,
              int threads,
              bool whole) {
    MaceEngineConfig config;
    config.SetCPUThreadPolicy(threads, AFFINITY_NONE);
    config.SetOutOfRangeCheck(whole);
    const MaceStatus status = CreateMaceEngineFromProto(
        reinterpret_cast<const unsigned char *>(graph.data()), graph.size(),
        static_cast<const unsigned char *>(weights.get()), weights_size, {"x"},
        outputs, config, &engine, nullptr, nullptr, false);
    ASSERT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  }

  std::vector<float> Run(const std::string &output,
                         int64_t elements,
                         RunMetadata *metadata = nullptr) const {
    int64_t count = 1;
    for (int64_t dim : dims) count *= dim;
    const std::vector<float> values = Random(7).Floats({count}).floats();
    std::shared_ptr<float> x(new float[values.size()],
                             std::default_delete<float[]>());
    std::memcpy(x.get(), values.data(), values.size() * sizeof(float));
    std::shared_ptr<float> y(new float[elements],
                             std::default_delete<float[]>());
    Tensors outputs = {{output, MaceTensor({elements}, y)}};
    const MaceStatus status =
        engine->Run({{"x", MaceTensor(dims, x)}}, &outputs, metadata);
    EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
    int64_t size = 1;
    for (int64_t dim : outputs[output].shape()) size *= dim;
    return std::vector<float>(y.get(), y.get() + size);
  }

  Dims dims;
  std::string graph;
  std::shared_ptr<void> weights;
  size_t weights_size = 0;
  std::shared_ptr<MaceEngine> engine;
};

size_t Count(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// A run takes seconds in emulation: on ARM, the division among threads that
// makes the smallest parts; the host shows that others, and further runs, give
// the same.
std::vector<int> ThreadCounts() {
  if (std::getenv("MACE_EMULATED") != nullptr) return {3};
  return {1, 2, 3};
}

constexpr int64_t kRoom = 1 << 21;
constexpr char kJoined[] = " in bands for ";

// `joined`: the least number of operators that can run in bands.
void ExpectSameBits(Network *network, size_t joined) {
  const std::string output = network->last();
  network->model().Output(output);
  Runner runner(*network, network->model());
  runner.Create({output}, 1, true);
  const std::vector<float> expected = runner.Run(output, kRoom);
  ASSERT_GT(expected.size(), 1u);
  const size_t arena = runner.engine->GetStats().arena_bytes;
  ASSERT_EQ(Count(runner.engine->Explain(), kJoined), 0u);
  for (const int threads : ThreadCounts()) {
    runner.Create({output}, threads, false);
    for (int round = 0; round < (threads == 2 ? 2 : 1); ++round) {
      const std::vector<float> actual = runner.Run(output, kRoom);
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_EQ(std::memcmp(actual.data(), expected.data(),
                            actual.size() * sizeof(float)),
                0)
          << threads << " threads\n"
          << runner.engine->Explain();
    }
    EXPECT_GE(Count(runner.engine->Explain(), kJoined), joined)
        << runner.engine->Explain();
    EXPECT_LT(runner.engine->GetStats().arena_bytes, arena);
  }
}

struct Types {
  const char *hint;
  DataType filters;
};

class BandsTest : public ::testing::TestWithParam<Types> {
 protected:
  Network Make(const Dims &input) const {
    return Network(input, GetParam().hint, GetParam().filters);
  }
};

TEST_P(BandsTest, BlocksOfMobileNetV1) {
  Network network = Make({1, 192, 192, 3});
  network.Conv(3, 2, 32).Depthwise(3, 1).Conv(1, 1, 64).Depthwise(3, 2);
  ExpectSameBits(&network, 2);
}

TEST_P(BandsTest, BlocksOfMobileNetV2WithResidual) {
  Network network = Make({1, 62, 61, 24});
  network.Conv(1, 1, 144).Depthwise(3, 1).Conv(1, 1, 24, "x", "NONE");
  ExpectSameBits(&network, 1);
}

TEST_P(BandsTest, ResidualThatTheFirstOperatorStillReads) {
  Network network = Make({1, 62, 61, 8});
  network.Conv(1, 1, 24).Conv(1, 1, 144).Depthwise(3, 1).Conv(1, 1, 24, "t1",
                                                              "NONE");
  ExpectSameBits(&network, 1);
}

TEST_P(BandsTest, OddShapesLargeKernelsAndActivationsOfASecondPass) {
  Network network = Make({1, 93, 87, 13});
  network.Conv(1, 1, 37)
      .Depthwise(5, 2, 1, "SIGMOID")
      .Conv(1, 1, 67, "", "TANH")
      .Depthwise(5, 1);
  ExpectSameBits(&network, 1);
}

TEST_P(BandsTest, DilatedWindows) {
  Network network = Make({1, 80, 75, 16});
  network.Conv(1, 1, 48).Depthwise(3, 1, 3).Conv(3, 2, 32);
  ExpectSameBits(&network, 1);
}

TEST_P(BandsTest, SeveralImages) {
  Network network = Make({3, 50, 45, 16});
  network.Conv(1, 1, 48).Depthwise(3, 2);
  ExpectSameBits(&network, 1);
}

// As in ShuffleNet.
TEST_P(BandsTest, ConvolutionsInGroups) {
  Network network = Make({1, 61, 59, 64});
  network.Conv(1, 1, 192, "", "RELU", 2)
      .Depthwise(3, 2)
      .Conv(1, 1, 64, "", "NONE", 2);
  ExpectSameBits(&network, 1);
}

INSTANTIATE_TEST_SUITE_P(
    AllTypes,
    BandsTest,
    ::testing::Values(Types{"", DataType::kFloat32},
                      Types{"fp16_fp32", DataType::kFloat16},
                      Types{"fp16_fp16", DataType::kFloat16},
                      Types{"bf16_bf16", DataType::kBfloat16}));

TEST(BandsEngineTest, BlocksOfDenseNet) {
  Network network({1, 57, 55, 64}, "", DataType::kFloat32);
  network.BatchNorm().Conv(1, 1, 24).Behind("x", 64);
  network.BatchNorm().Conv(1, 1, 24).Behind("t3", 88);
  network.BatchNorm().Conv(1, 1, 24);
  ExpectSameBits(&network, 3);
}

Network Block() {
  Network network({1, 112, 112, 16}, "", DataType::kFloat32);
  network.Conv(1, 1, 96).Depthwise(3, 2).Conv(1, 1, 24);
  network.model().Output("t3");
  return network;
}

TEST(BandsEngineTest, TensorsThatAreAskedForExistAsAWhole) {
  Network network = Block();
  Runner runner(network, network.model());
  runner.Create({"t3"}, 1, true);
  runner.Create({"t1", "t3"}, 1, false);
  const std::vector<float> values = runner.Run("t1", kRoom);
  EXPECT_EQ(values.size(), size_t{112 * 112 * 96});
  EXPECT_EQ(Count(runner.engine->Explain(), "for 't2'"), 0u)
      << runner.engine->Explain();
}

TEST(BandsEngineTest, TensorsThatTwoReadExistAsAWhole) {
  Network network({1, 112, 112, 16}, "", DataType::kFloat32);
  network.Conv(1, 1, 96).Depthwise(3, 2).Conv(1, 1, 24);
  network.model()
      .Operator("again", "Activation", {"t1"}, {"other"},
                {StringAttribute("activation", "RELU")})
      .Output("t3")
      .Output("other");
  Runner runner(network, network.model());
  runner.Create({"t3"}, 1, false);  // one of them is not needed
  runner.Run("t3", kRoom);
  EXPECT_EQ(Count(runner.engine->Explain(), "for 't2'"), 1u)
      << runner.engine->Explain();
  runner.Create({"t3", "other"}, 1, false);
  runner.Run("t3", kRoom);
  EXPECT_EQ(Count(runner.engine->Explain(), "for 't2'"), 0u)
      << runner.engine->Explain();
}

TEST(BandsEngineTest, SmallTensorsExistAsAWhole) {
  Network network({1, 28, 28, 16}, "", DataType::kFloat32);
  network.Conv(1, 1, 96).Depthwise(3, 2).Conv(1, 1, 24);
  network.model().Output("t3");
  Runner runner(network, network.model());
  runner.Create({"t3"}, 1, false);
  runner.Run("t3", kRoom);
  EXPECT_EQ(Count(runner.engine->Explain(), kJoined), 0u)
      << runner.engine->Explain();
}

// All six in one chain would share its room, in bands of few rows.
TEST(BandsEngineTest, ChainsAreCutWhereBandsWouldBeLow) {
  Network network({1, 224, 224, 3}, "", DataType::kFloat32);
  network.Conv(3, 2, 32).Depthwise(3, 1).Conv(1, 1, 16);
  network.Conv(1, 1, 96).Depthwise(3, 2).Conv(1, 1, 24);
  network.model().Output("t6");
  Runner runner(network, network.model());
  runner.Create({"t6"}, 1, false);
  const std::string plan = runner.engine->Explain();
  EXPECT_EQ(Count(plan, kJoined), 4u) << plan;
  EXPECT_EQ(Count(plan, " in bands for 't4'"), 0u) << plan;
}

TEST(BandsEngineTest, TheEnvironmentTurnsThemOff) {
  Network network = Block();
  Runner runner(network, network.model());
  setenv("MACE_ROW_BANDS", "0", 1);
  runner.Create({"t3"}, 1, false);
  unsetenv("MACE_ROW_BANDS");
  runner.Run("t3", kRoom);
  EXPECT_EQ(Count(runner.engine->Explain(), kJoined), 0u)
      << runner.engine->Explain();
}

TEST(BandsEngineTest, TheyAreToldBeforeTheFirstRun) {
  Network network = Block();
  Runner runner(network, network.model());
  runner.Create({"t3"}, 1, false);
  const std::string before = runner.engine->Explain();
  EXPECT_EQ(Count(before, kJoined), 2u) << before;
  runner.Run("t3", kRoom);
  EXPECT_EQ(runner.engine->Explain(), before);
}

TEST(BandsEngineTest, EachOperatorHasItsTime) {
  Network network = Block();
  Runner runner(network, network.model());
  runner.Create({"t3"}, 2, false);
  runner.Run("t3", kRoom);
  ASSERT_GE(Count(runner.engine->Explain(), kJoined), 1u);
  RunMetadata metadata;
  runner.Run("t3", kRoom, &metadata);
  ASSERT_EQ(metadata.op_stats.size(), 3u);
  int64_t end = 0;
  for (size_t i = 0; i < 3; ++i) {
    const OperatorStats &stats = metadata.op_stats[i];
    EXPECT_EQ(stats.operator_name, "t" + std::to_string(i + 1));
    EXPECT_GT(stats.stats.duration_nanos, 0);
    EXPECT_GE(stats.stats.start_micros, end);
    end = stats.stats.end_micros;
  }
}

}  // namespace
}  // namespace mace
