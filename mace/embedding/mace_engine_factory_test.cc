// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/public/mace_engine_factory.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/testing/model_builder.h"

namespace mace {
namespace {

using embedding::Bytes;
using embedding::LinkedModel;

// y = x + constant; the constant distinguishes the models.
struct Model {
  explicit Model(float constant) {
    core_test::ModelBuilder builder;
    builder.Input("x", {1, 4})
        .Constant("c", {1}, std::vector<float>{constant})
        .Operator("add", "Eltwise", {"x", "c"}, {"y"},
                  {core_test::StringAttribute("mode", "ADD")})
        .Output("y");
    graph = builder.graph();
    weights = builder.weights();
  }

  std::string graph;
  std::string weights;
};

const Model &First() {
  static const Model model(10);
  return model;
}

const Model &Second() {
  static const Model model(20);
  return model;
}

// Aligned to 64 bytes, like generated code.
struct alignas(64) Aligned {
  unsigned char bytes[256];
};

Bytes View(const std::string &text) {
  const auto *begin = reinterpret_cast<const unsigned char *>(text.data());
  return {begin, begin + text.size()};
}

const Aligned &FirstWeights() {
  static const Aligned aligned = [] {
    Aligned copy;
    std::memcpy(copy.bytes, First().weights.data(), First().weights.size());
    return copy;
  }();
  return aligned;
}

// What generated headers do.
const LinkedModel first("first",
                        View(First().graph),
                        {FirstWeights().bytes,
                         FirstWeights().bytes + First().weights.size()});
const LinkedModel second("second", View(Second().graph), {});
// Of two libraries.
const LinkedModel twin("twin", View(Second().graph), {});
const LinkedModel other_twin("twin", View(Second().graph), {});

float RunOnce(MaceEngine *engine) {
  const auto input = std::shared_ptr<float>(new float[4]{1, 1, 1, 1},
                                            [](float *p) { delete[] p; });
  const auto output =
      std::shared_ptr<float>(new float[4](), [](float *p) { delete[] p; });
  std::map<std::string, MaceTensor> inputs, outputs;
  inputs["x"] = MaceTensor({1, 4}, input, DataFormat::NONE);
  outputs["y"] = MaceTensor({1, 4}, output, DataFormat::NONE);
  const MaceStatus status = engine->Run(inputs, &outputs);
  EXPECT_EQ(status, MaceStatus::MACE_SUCCESS) << status.information();
  return output.get()[3];
}

const std::vector<std::string> kInputs = {"x"};
const std::vector<std::string> kOutputs = {"y"};

class EngineFactoryTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/second.data";
    std::ofstream(path_, std::ios::binary) << Second().weights;
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const unsigned char *SecondWeights() const {
    return View(Second().weights).begin;
  }

  std::string path_;
  std::shared_ptr<MaceEngine> engine_;
};

TEST_F(EngineFactoryTest, NamesWhatIsLinked) {
  EXPECT_EQ(LinkedModelNames(),
            std::vector<std::string>({"first", "second", "twin", "twin"}));
}

TEST_F(EngineFactoryTest, RunsLinkedWeights) {
  const MaceEngineConfig config;
  MaceStatus status = CreateMaceEngineFromCode("first", nullptr, 0, kInputs,
                                               kOutputs, config, &engine_);
  ASSERT_EQ(status, MaceStatus::MACE_SUCCESS) << status.information();
  EXPECT_EQ(RunOnce(engine_.get()), 11);
  // The weights are used in place, so they must not be freed.
  bool unused = true;
  status = CreateMaceEngineFromCode("first", nullptr, 0, kInputs, kOutputs,
                                    config, &engine_, &unused);
  ASSERT_EQ(status, MaceStatus::MACE_SUCCESS) << status.information();
  EXPECT_FALSE(unused);
}

TEST_F(EngineFactoryTest, OlderFormTakesAnEmptyPathInEveryWay) {
  ASSERT_EQ(CreateMaceEngineFromCode("first", "", kInputs, kOutputs,
                                     DeviceType::CPU, &engine_),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(RunOnce(engine_.get()), 11);
  ASSERT_EQ(CreateMaceEngineFromCode("first", nullptr, kInputs, kOutputs,
                                     DeviceType::CPU, &engine_),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(RunOnce(engine_.get()), 11);
  ASSERT_EQ(CreateMaceEngineFromCode("first", std::string(), kInputs, kOutputs,
                                     MaceEngineConfig(), &engine_),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(RunOnce(engine_.get()), 11);
}

TEST_F(EngineFactoryTest, RunsWeightsFromMemoryAndFromAFile) {
  ASSERT_EQ(CreateMaceEngineFromCode("second", SecondWeights(),
                                     Second().weights.size(), kInputs, kOutputs,
                                     MaceEngineConfig(), &engine_),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(RunOnce(engine_.get()), 21);
  ASSERT_EQ(CreateMaceEngineFromCode("second", path_, kInputs, kOutputs,
                                     DeviceType::CPU, &engine_),
            MaceStatus::MACE_SUCCESS);
  EXPECT_EQ(RunOnce(engine_.get()), 21);
}

void ExpectInvalid(const MaceStatus &status, const std::string &part) {
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(status.information().find(part), std::string::npos)
      << status.information();
}

TEST_F(EngineFactoryTest, RefusesUnknownModelsAndListsTheLinked) {
  ExpectInvalid(CreateMaceEngineFromCode("third", "", kInputs, kOutputs,
                                         DeviceType::CPU, &engine_),
                "no model 'third' is linked in; there are: first, second, "
                "twin, twin");
  EXPECT_EQ(engine_, nullptr);
}

TEST_F(EngineFactoryTest, RefusesANameOfTwo) {
  ExpectInvalid(CreateMaceEngineFromCode("twin", path_, kInputs, kOutputs,
                                         DeviceType::CPU, &engine_),
                "two linked libraries have a model 'twin'; rename one of them");
  EXPECT_EQ(engine_, nullptr);
}

TEST_F(EngineFactoryTest, RefusesWeightsTwiceAndNone) {
  ExpectInvalid(CreateMaceEngineFromCode("first", path_, kInputs, kOutputs,
                                         DeviceType::CPU, &engine_),
                "first: its weights are linked in; pass none");
  ExpectInvalid(
      CreateMaceEngineFromCode("second", nullptr, 0, kInputs, kOutputs,
                               MaceEngineConfig(), &engine_),
      "second: its weights are not linked in; pass them (second.data)");
  ExpectInvalid(CreateMaceEngineFromCode("second", "", kInputs, kOutputs,
                                         DeviceType::CPU, &engine_),
                "second: its weights are not linked in");
}

}  // namespace
}  // namespace mace
