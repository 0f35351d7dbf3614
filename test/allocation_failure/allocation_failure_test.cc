// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// As mace/runtimes/cpu/allocation_failure_test.cc, with the operators of the
// library: every allocation that creation and the first run of a network make
// fails once, those of operators' factories, Init and Plan included. Each time
// the call comes back with MACE_OUT_OF_RESOURCES, leaks nothing (the address
// sanitizer looks on), and the next one gives the right bits.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/core/testing/failing_allocation.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::FailingAllocation;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using op_test::CaseInput;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;
using Tensors = std::map<std::string, MaceTensor>;

constexpr int kSide = 20;
constexpr int kWide = 96;  // so large that operators run in bands of rows
constexpr int kShrunk = 47;
constexpr int kShrunkSize = kShrunk * kShrunk * 24;
constexpr int kChannels = 20;

void Constant(const std::string &name,
              const CaseInput &input,
              ModelBuilder *to) {
  const Value &value = input.value;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < value.shape.rank(); ++i)
    dims.push_back(value.shape[i]);
  const uint64_t offset =
      to->AppendWeights(value.bytes.data(), value.bytes.size());
  to->RawConstant(name, dims, value.data_type, input.layout,
                  static_cast<uint64_t>(input.groups), offset,
                  value.bytes.size());
}

void Packed(const std::string &name,
            const Value &plain,
            DataType type,
            ModelBuilder *to) {
  Constant(name, OpCase("").Packed(plain, 1, type).inputs[0], to);
}

// A filter that Winograd's transform prepares, one of bfloat16 that takes
// scratch memory, parts that Concat's inputs are computed in, a reshape whose
// size is known before the run, what a classifier ends with, and beside all
// that a pair of operators that run in bands.
ModelBuilder RealModel() {
  Random random(16);
  ModelBuilder model;
  model.Input("x", {1, kSide, kSide, kChannels}).Winograd(4);
  model.Input("wide", {1, kWide, kWide, 4});
  Packed("w0", random.Floats({24, 1, 1, 4}), DataType::kFloat32, &model);
  Packed("w3", random.Floats({24, 3, 3, kChannels}), DataType::kFloat32,
         &model);
  Packed("w1", random.Floats({8, 1, 1, kChannels}), DataType::kBfloat16,
         &model);
  Packed("wf", random.Floats({10, 32}), DataType::kFloat16, &model);
  model.Constant("wd", {3, 3, 24, 1}, random.Floats({3, 3, 24, 1}).floats())
      .Constant("bias", {24}, random.Floats({24}).floats())
      .Constant("size", {2}, std::vector<int32_t>{100, 10});
  const std::string same = StringAttribute("padding", "SAME");
  model
      .Operator("conv3", "Conv2D", {"x", "w3", "bias"}, {"a"},
                {same, StringAttribute("activation", "RELU")})
      .Operator("conv1", "Conv2D", {"x", "w1"}, {"b"})
      .Operator("depthwise", "DepthwiseConv2d", {"a", "wd", "bias"}, {"c"},
                {same})
      .Operator("concat", "Concat", {"b", "c"}, {"d"},
                {IntAttribute("axis", 3)})
      .Operator(
          "pool", "Pooling", {"d"}, {"e"},
          {StringAttribute("mode", "AVG"), IntsAttribute("kernels", {2, 2}),
           IntsAttribute("strides", {2, 2})})
      .Operator("dense", "FullyConnected", {"e", "wf"}, {"f"})
      .Operator("add", "Eltwise", {"f", "f"}, {"g"},
                {StringAttribute("mode", "ADD")})
      .Operator("reshape", "Reshape", {"g", "size"}, {"h"})
      .Operator("softmax", "Softmax", {"h"}, {"p"})
      .Operator("turn", "Transpose", {"p"}, {"y"},
                {IntsAttribute("perm", {1, 0})})
      .Operator("spread", "Conv2D", {"wide", "w0"}, {"u"})
      .Operator("shrink", "DepthwiseConv2d", {"u", "wd"}, {"z"},
                {IntsAttribute("strides", {2, 2})})
      .Output("y")
      .Output("z");
  return model;
}

struct Fixture {
  Fixture() {
    const ModelBuilder model = RealModel();
    graph = model.graph();
    size = model.weights().size();
    weights.reset(std::aligned_alloc(64, (size + 63) / 64 * 64));
    std::memcpy(weights.get(), model.weights().data(), size);
    config.SetCPUThreadPolicy(2, AFFINITY_NONE);
    const std::vector<float> values =
        Random(7).Floats({kSide * kSide * kChannels}).floats();
    std::shared_ptr<float> x(new float[values.size()],
                             std::default_delete<float[]>());
    std::memcpy(x.get(), values.data(), values.size() * sizeof(float));
    y.reset(new float[1000], std::default_delete<float[]>());
    inputs["x"] = MaceTensor({1, kSide, kSide, kChannels}, x);
    std::shared_ptr<float> wide(new float[kWide * kWide * 4],
                                std::default_delete<float[]>());
    const std::vector<float> more =
        Random(8).Floats({kWide * kWide * 4}).floats();
    std::memcpy(wide.get(), more.data(), more.size() * sizeof(float));
    inputs["wide"] = MaceTensor({1, kWide, kWide, 4}, wide);
    outputs["y"] = MaceTensor({10, 100}, y);
    z.reset(new float[kShrunkSize], std::default_delete<float[]>());
    outputs["z"] = MaceTensor({1, kShrunk, kShrunk, 24}, z);
  }

  MaceStatus Create(bool warmup, std::shared_ptr<MaceEngine> *engine) const {
    return CreateMaceEngineFromProto(
        reinterpret_cast<const unsigned char *>(graph.data()), graph.size(),
        static_cast<const unsigned char *>(weights.get()), size, input_names,
        output_names, config, engine, nullptr, nullptr, warmup);
  }

  // Runs, and returns the result.
  std::vector<float> Result(MaceEngine *engine) {
    std::memset(y.get(), 0, 1000 * sizeof(float));
    std::memset(z.get(), 0, kShrunkSize * sizeof(float));
    const MaceStatus status = engine->Run(inputs, &outputs);
    EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
    std::vector<float> result(y.get(), y.get() + 1000);
    result.insert(result.end(), z.get(), z.get() + kShrunkSize);
    return result;
  }

  std::string graph;
  size_t size = 0;
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> weights;
  // Made once: a call with braces would allocate before the engine does.
  std::vector<std::string> input_names = {"x", "wide"};
  std::vector<std::string> output_names = {"y", "z"};
  MaceEngineConfig config;
  Tensors inputs;
  Tensors outputs;
  std::shared_ptr<float> y;
  std::shared_ptr<float> z;
};

class RealModelTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    // Lines of the log need memory that is not part of the test.
    SetMinVlogLevel(-1);
    std::shared_ptr<MaceEngine> engine;
    const MaceStatus status = fixture_.Create(false, &engine);
    ASSERT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
    expected_ = fixture_.Result(engine.get());
    ASSERT_NE(expected_[0], expected_[1]);
    const std::string kernels = engine->Explain();
    ASSERT_NE(kernels.find("winograd"), std::string::npos) << kernels;
    ASSERT_NE(kernels.find("in bands for"), std::string::npos) << kernels;
  }

  // Creation whose allocations fail one after the other.
  void SweepCreation(bool warmup) {
    int64_t n = 1;
    int64_t tolerated = 0;
    for (; n < kMany; ++n) {
      std::shared_ptr<MaceEngine> engine;
      MaceStatus status;
      bool failed = false;
      {
        const FailingAllocation failing(n, GetParam());
        status = fixture_.Create(warmup, &engine);
        failed = FailingAllocation::Disarm();
      }
      if (status == MaceStatus::MACE_SUCCESS) {
        // The standard library's streams swallow a failure.
        if (failed) ++tolerated;
        ASSERT_EQ(fixture_.Result(engine.get()), expected_)
            << "allocation " << n;
        if (!failed) break;
        continue;
      }
      ASSERT_TRUE(failed) << status.information();
      ASSERT_EQ(status.code(), MaceStatus::MACE_OUT_OF_RESOURCES)
          << "allocation " << n << ": " << status.information();
      ASSERT_EQ(engine, nullptr);
    }
    EXPECT_GT(n, 200);
    EXPECT_LT(tolerated, n / 10);
    EXPECT_LT(n, kMany);
    std::printf("%d allocations\n", static_cast<int>(n));
  }

  static constexpr int64_t kMany = 100000;
  Fixture fixture_;
  std::vector<float> expected_;
};

TEST_P(RealModelTest, CreationComesBackWithAStatus) { SweepCreation(false); }

TEST_P(RealModelTest, CreationWithWarmupComesBackWithAStatus) {
  SweepCreation(true);
}

TEST_P(RealModelTest, FirstRunComesBackWithAStatusAndTheNextIsRight) {
  int64_t n = 1;
  for (; n < kMany; ++n) {
    std::shared_ptr<MaceEngine> engine;
    ASSERT_EQ(fixture_.Create(false, &engine), MaceStatus::MACE_SUCCESS);
    MaceStatus status;
    bool failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      status = engine->Run(fixture_.inputs, &fixture_.outputs);
      failed = FailingAllocation::Disarm();
    }
    if (!failed) {
      ASSERT_EQ(status.code(), MaceStatus::MACE_SUCCESS)
          << status.information();
      break;
    }
    ASSERT_EQ(status.code(), MaceStatus::MACE_OUT_OF_RESOURCES)
        << "allocation " << n << ": " << status.information();
    ASSERT_EQ(fixture_.Result(engine.get()), expected_) << "allocation " << n;
  }
  EXPECT_GT(n, 50);
  EXPECT_LT(n, kMany);
  std::printf("%d allocations\n", static_cast<int>(n));
}

TEST_P(RealModelTest, CapabilityComesBackWithAnAnswer) {
  int64_t n = 1;
  for (; n < kMany; ++n) {
    Capability capability;
    bool failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      capability = GetCapability(RT_CPU);
      failed = FailingAllocation::Disarm();
    }
    if (!failed) {
      EXPECT_TRUE(capability.supported);
      EXPECT_GT(capability.float32_performance.exec_time, 0);
      break;
    }
  }
  EXPECT_GT(n, 200);
  EXPECT_LT(n, kMany);
}

INSTANTIATE_TEST_SUITE_P(FailOnceAndFromThenOn,
                         RealModelTest,
                         ::testing::Bool());

}  // namespace
}  // namespace mace
