// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Makes every allocation of loading and running a model fail, one after the
// other. Each time, the call must return MACE_OUT_OF_RESOURCES, must not leak
// (the address sanitizer checks this), and must leave a working engine.
//
// The operators are those of core_test; test/allocation_failure uses real ones.

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
#include "mace/public/mace.h"
#include "mace/public/mace_c.h"

namespace mace {
namespace {

using core_test::FailingAllocation;
using core_test::ModelBuilder;
using Tensors = std::map<std::string, MaceTensor>;

// A model with branches, in-place operators, scratch memory, prepared memory, a
// value known before the run, and conversions of inputs and outputs.
ModelBuilder TestModel() {
  ModelBuilder model;
  model.Input("x", {-1, 2, 2, 3})
      .Constant("c", {1, 2, 2, 3}, std::vector<float>(12, 0.5f))
      .Operator("add", "TestAdd", {"x", "c"}, {"t"})
      .Operator("scale", "TestAffine", {"t"}, {"y"},
                {core_test::FloatAttribute("scale", 2)})
      .Operator("sum", "TestCumulative", {"y"}, {"z"})
      .Operator("shape", "TestShape", {"z"}, {"s"})
      .Operator("double", "TestDouble", {"s"}, {"d"})
      .Operator("fill", "TestFill", {"d"}, {"f"},
                {core_test::FloatAttribute("value", 3)})
      .Output("z")
      .Output("f");
  return model;
}

struct Fixture {
  Fixture() {
    graph = TestModel().graph();
    weights_text = TestModel().weights();
    weights.reset(std::aligned_alloc(64, 128));
    std::memcpy(weights.get(), weights_text.data(), weights_text.size());
    config.SetCPUThreadPolicy(2, AFFINITY_NONE);
    auto x =
        std::shared_ptr<float>(new float[12], std::default_delete<float[]>());
    for (int i = 0; i < 12; ++i) x.get()[i] = static_cast<float>(i);
    inputs["x"] = MaceTensor({1, 3, 2, 2}, x, DataFormat::NCHW);
    z.reset(new float[12], std::default_delete<float[]>());
    f.reset(new float[96 * 2], std::default_delete<float[]>());
    outputs["z"] = MaceTensor({1, 3, 2, 2}, z, DataFormat::NCHW);
    outputs["f"] = MaceTensor({192}, f);
  }

  MaceStatus Create(std::shared_ptr<MaceEngine> *engine) const {
    return CreateMaceEngineFromProto(
        reinterpret_cast<const unsigned char *>(graph.data()), graph.size(),
        static_cast<const unsigned char *>(weights.get()), weights_text.size(),
        input_names, output_names, config, engine);
  }
  void ExpectResult() {
    float sum = 0;
    for (int pixel = 0; pixel < 4; ++pixel) {
      for (int channel = 0; channel < 3; ++channel) {
        sum += 2 * (static_cast<float>(channel * 4 + pixel) + 0.5f);
        ASSERT_EQ(z.get()[channel * 4 + pixel], sum);
      }
    }
    ASSERT_EQ(f.get()[191], 3.0f);
  }

  std::string graph;
  std::string weights_text;
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> weights;
  std::vector<std::string> input_names = {"x"};
  std::vector<std::string> output_names = {"z", "f"};
  MaceEngineConfig config;
  Tensors inputs;
  Tensors outputs;
  std::shared_ptr<float> z;
  std::shared_ptr<float> f;
};

class AllocationFailureTest : public ::testing::TestWithParam<bool> {
 protected:
  // Log messages allocate memory that the test does not cover.
  void SetUp() override { SetMinVlogLevel(-1); }
};

constexpr int64_t kMany = 100000;

TEST_P(AllocationFailureTest, LoadComesBackWithAStatus) {
  Fixture fixture;
  int64_t n = 1;
  int64_t tolerated = 0;
  for (; n < kMany; ++n) {
    std::shared_ptr<MaceEngine> engine;
    MaceStatus status;
    bool failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      status = fixture.Create(&engine);
      failed = FailingAllocation::Disarm();
    }
    if (!failed) {
      ASSERT_EQ(status.code(), MaceStatus::MACE_SUCCESS)
          << status.information();
      break;
    }
    if (status == MaceStatus::MACE_SUCCESS) {
      // The standard library's streams ignore a failure: then a property of the
      // processor is unknown, which does not affect correctness.
      ++tolerated;
      ASSERT_EQ(engine->Run(fixture.inputs, &fixture.outputs),
                MaceStatus::MACE_SUCCESS);
      fixture.ExpectResult();
      continue;
    }
    ASSERT_EQ(status.code(), MaceStatus::MACE_OUT_OF_RESOURCES)
        << "allocation " << n << ": " << status.information();
    ASSERT_EQ(engine, nullptr);
  }
  // Allocations that could fail.
  EXPECT_GT(n, 100);
  EXPECT_LT(tolerated, n / 10);
  EXPECT_LT(n, kMany);
  RecordProperty("allocations", static_cast<int>(n));
}

TEST_P(AllocationFailureTest, RunComesBackWithAStatusAndTheEngineStillWorks) {
  Fixture fixture;
  std::shared_ptr<MaceEngine> engine;
  ASSERT_EQ(fixture.Create(&engine), MaceStatus::MACE_SUCCESS);
  int64_t n = 1;
  for (; n < kMany; ++n) {
    // All memory that the first run allocates is allocated again.
    ASSERT_EQ(engine->ReleaseIntermediateBuffer(), MaceStatus::MACE_SUCCESS);
    RunMetadata metadata;
    MaceStatus status;
    bool failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      status = engine->Run(fixture.inputs, &fixture.outputs, &metadata);
      failed = FailingAllocation::Disarm();
    }
    if (!failed) {
      ASSERT_EQ(status.code(), MaceStatus::MACE_SUCCESS)
          << status.information();
      fixture.ExpectResult();
      break;
    }
    ASSERT_EQ(status.code(), MaceStatus::MACE_OUT_OF_RESOURCES)
        << "allocation " << n << ": " << status.information();
    if (n % 5 == 0) {
      ASSERT_EQ(engine->Run(fixture.inputs, &fixture.outputs, &metadata),
                MaceStatus::MACE_SUCCESS);
      fixture.ExpectResult();
    }
  }
  EXPECT_GT(n, 10);
  EXPECT_LT(n, kMany);
}

// A new engine every time, so that the first inference of shapes is included.
TEST_P(AllocationFailureTest, FirstRunComesBackWithAStatus) {
  Fixture fixture;
  int64_t n = 1;
  for (; n < kMany; ++n) {
    std::shared_ptr<MaceEngine> engine;
    ASSERT_EQ(fixture.Create(&engine), MaceStatus::MACE_SUCCESS);
    MaceStatus status;
    bool failed = false;
    {
      const FailingAllocation failing(n, GetParam());
      status = engine->Run(fixture.inputs, &fixture.outputs);
      failed = FailingAllocation::Disarm();
    }
    if (!failed) break;
    ASSERT_EQ(status.code(), MaceStatus::MACE_OUT_OF_RESOURCES)
        << "allocation " << n << ": " << status.information();
    ASSERT_EQ(engine->Run(fixture.inputs, &fixture.outputs),
              MaceStatus::MACE_SUCCESS);
    fixture.ExpectResult();
  }
  EXPECT_GT(n, 30);
  EXPECT_LT(n, kMany);
}

TEST_P(AllocationFailureTest, TheCInterfaceComesBackWithACode) {
  const Fixture fixture;
  mace_model model{};
  model.graph = fixture.graph.data();
  model.graph_size = fixture.graph.size();
  model.weights = fixture.weights.get();
  model.weights_size = fixture.weights_text.size();
  std::vector<float> x(12, 1);
  std::vector<float> z(12);
  int64_t n = 1;
  for (; n < kMany; ++n) {
    mace_tensor input{};
    input.name = "x";
    input.data = x.data();
    input.bytes = 48;
    input.type = MACE_TYPE_FLOAT;
    input.format = MACE_FORMAT_NHWC;
    input.rank = 4;
    const int64_t dims[] = {1, 2, 2, 3};
    std::memcpy(input.dims, dims, sizeof(dims));
    mace_tensor output = input;
    output.name = "z";
    output.data = z.data();
    mace_config *config = nullptr;
    mace_engine *engine = nullptr;
    bool failed = false;
    mace_code code = MACE_OK;
    {
      const FailingAllocation failing(n, GetParam());
      code = mace_config_create(&config);
      if (code == MACE_OK) {
        code = mace_config_set_cpu_threads(config, 1, MACE_AFFINITY_NONE);
      }
      if (code == MACE_OK) code = mace_engine_create(&model, config, &engine);
      if (code == MACE_OK) {
        code = mace_engine_run(engine, &input, 1, &output, 1);
      }
      failed = FailingAllocation::Disarm();
    }
    mace_engine_destroy(engine);
    mace_config_destroy(config);
    if (code != MACE_OK) {
      ASSERT_EQ(code, MACE_ERROR_OUT_OF_RESOURCES)
          << "allocation " << n << ": " << mace_last_error();
    } else {
      // 2 (x + 1/2), summed over twelve ones.
      ASSERT_EQ(z[11], 36.0f);
    }
    if (!failed) break;
  }
  EXPECT_GT(n, 100);
  EXPECT_LT(n, kMany);
}

TEST_P(AllocationFailureTest, ConstructorsDoNotThrow) {
  const Fixture fixture;
  const std::vector<int64_t> shape = {1, 2, 2, 3};
  for (int64_t n = 1; n < 10; ++n) {
    const FailingAllocation failing(n, GetParam());
    MaceTensor tensor(shape, fixture.z);
    MaceTensor copy(tensor);
    MaceTensor empty;
    empty = copy;
    MaceEngineConfig config(CPU);
    MaceEngineConfig other(config);
    other = fixture.config;
    (void)other.SetCPUThreadPolicy(1, AFFINITY_NONE);
    FailingAllocation::Disarm();
  }
}

INSTANTIATE_TEST_SUITE_P(FailOnceAndFromThenOn,
                         AllocationFailureTest,
                         ::testing::Bool());

}  // namespace
}  // namespace mace
