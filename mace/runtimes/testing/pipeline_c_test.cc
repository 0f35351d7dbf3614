// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#define MACE_PIPELINE_IMPLEMENTATION
#include "mace/pipeline/mace_pipeline_c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::ModelBuilder;
using core_test::Ramp;
using core_test::Scale;

// y = scale x + c, and what mace_model needs of it.
class Model {
 public:
  Model(float scale, const Dims &dims, DataFormat output, DataFormat input) {
    builder_.Input("x", dims, DataType::kFloat32, input)
        .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(scale)})
        .Output("y", output);
    graph_ = builder_.graph();
    weights_ = builder_.weights();
    model_.graph = graph_.data();
    model_.graph_size = graph_.size();
    model_.weights = weights_.data();
    model_.weights_size = weights_.size();
  }
  const mace_model *get() const { return &model_; }
  mace_model *get() { return &model_; }
  const std::string &weights() const { return weights_; }

 private:
  ModelBuilder builder_;
  std::string graph_;
  std::string weights_;
  mace_model model_{};
};

mace_tensor TensorOver(const char *name,
                       std::vector<float> *values,
                       const std::vector<int64_t> &dims = {}) {
  mace_tensor tensor{};
  tensor.name = name;
  tensor.data = values->data();
  tensor.bytes = values->size() * sizeof(float);
  tensor.type = MACE_TYPE_FLOAT;
  tensor.format = MACE_FORMAT_NHWC;
  tensor.rank = dims.size();
  std::copy(dims.begin(), dims.end(), tensor.dims);
  return tensor;
}

const std::vector<int64_t> kNhwc = {1, 2, 3, 4};
const std::vector<int64_t> kNchw = {1, 4, 2, 3};

class PipelineCTest : public ::testing::Test {
 protected:
  PipelineCTest() { EXPECT_EQ(mace_pipeline_create(&pipeline_), MACE_OK); }
  ~PipelineCTest() override { mace_pipeline_destroy(pipeline_); }

  // a, then b, linked.
  void Join(const Model &a, const Model &b) {
    ASSERT_EQ(mace_pipeline_add_model(pipeline_, "a", a.get(), nullptr),
              MACE_OK)
        << mace_pipeline_error(pipeline_);
    ASSERT_EQ(mace_pipeline_add_model(pipeline_, "b", b.get(), nullptr),
              MACE_OK)
        << mace_pipeline_error(pipeline_);
    ASSERT_EQ(mace_pipeline_connect(pipeline_, "a", "y", "b", "x", nullptr),
              MACE_OK)
        << mace_pipeline_error(pipeline_);
  }

  // The result for 0, 1, 2, ...
  std::vector<float> Run() {
    std::vector<float> x = Ramp(24);
    std::vector<float> y(24, -1);
    const mace_tensor input = TensorOver("x", &x, kNhwc);
    mace_tensor output = TensorOver("y", &y);
    EXPECT_EQ(mace_pipeline_run(pipeline_, &input, 1, &output, 1), MACE_OK)
        << mace_pipeline_error(pipeline_);
    EXPECT_EQ(std::vector<int64_t>(output.dims, output.dims + output.rank),
              kNhwc);
    return y;
  }

  mace_pipeline *pipeline_ = nullptr;
};

TEST_F(PipelineCTest, CopiesNothingWhereFormatsAgree) {
  const Model a(2, kNchw, DataFormat::NCHW, DataFormat::NCHW);
  const Model b(3, kNhwc, DataFormat::NHWC, DataFormat::NHWC);
  Join(a, b);
  const std::vector<float> y = Run();
  const std::vector<float> x = Ramp(24);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 6 * x[i]);
  const mace_copy *copies = nullptr;
  EXPECT_EQ(mace_pipeline_copies(pipeline_, &copies), 0u);
  EXPECT_NE(std::strstr(mace_pipeline_explain(pipeline_),
                        "copied 0 tensors (0 bytes)"),
            nullptr)
      << mace_pipeline_explain(pipeline_);
}

TEST_F(PipelineCTest, TellsTheOneCopyAndWhy) {
  const Model a(2, kNchw, DataFormat::NCHW, DataFormat::NCHW);
  const Model b(3, kNchw, DataFormat::NONE, DataFormat::NONE);
  Join(a, b);
  std::vector<float> x = Ramp(24);
  std::vector<float> y(24, -1);
  const mace_tensor input = TensorOver("a/x", &x, kNhwc);
  mace_tensor output = TensorOver("b/y", &y);
  ASSERT_EQ(mace_pipeline_run(pipeline_, &input, 1, &output, 1), MACE_OK)
      << mace_pipeline_error(pipeline_);
  const mace_copy *copies = nullptr;
  ASSERT_EQ(mace_pipeline_copies(pipeline_, &copies), 1u);
  EXPECT_STREQ(copies[0].stage, "a");
  EXPECT_STREQ(copies[0].tensor, "y");
  EXPECT_EQ(copies[0].bytes, 96);
  EXPECT_EQ(copies[0].is_output, 1);
  EXPECT_STREQ(copies[0].reason,
               "the buffer is NCHW, and engines compute in NHWC");
  // Element (h, w, c) = (1, 2, 3) is at the end of both orders.
  EXPECT_EQ(y[23], 6 * x[23]);
  EXPECT_EQ(y[6], 6 * x[1]);
}

TEST_F(PipelineCTest, TakesEnginesAndWeightsOfAFile) {
  Model a(2, kNhwc, DataFormat::NHWC, DataFormat::NHWC);
  Model b(3, kNhwc, DataFormat::NHWC, DataFormat::NHWC);
  const std::string path = ::testing::TempDir() + "/pipeline_c_test.data";
  std::ofstream(path, std::ios::binary) << a.weights();
  a.get()->weights_path = path.c_str();
  mace_engine *engine = nullptr;
  ASSERT_EQ(mace_engine_create(b.get(), nullptr, &engine), MACE_OK);
  ASSERT_EQ(mace_pipeline_add_model(pipeline_, "a", a.get(), nullptr), MACE_OK)
      << mace_pipeline_error(pipeline_);
  ASSERT_EQ(mace_pipeline_add_engine(pipeline_, "b", engine), MACE_OK)
      << mace_pipeline_error(pipeline_);
  // The pipeline shares it.
  mace_engine_destroy(engine);
  std::vector<float> memory(24);
  const mace_tensor link = TensorOver("", &memory, kNhwc);
  ASSERT_EQ(mace_pipeline_connect(pipeline_, "a", "y", "b", "x", &link),
            MACE_OK)
      << mace_pipeline_error(pipeline_);
  const std::vector<float> y = Run();
  EXPECT_EQ(y[23], 6 * Ramp(24)[23]);
  EXPECT_EQ(memory[23], 2 * Ramp(24)[23]);
}

TEST_F(PipelineCTest, AConfigurationIsKept) {
  const Model a(2, kNhwc, DataFormat::NHWC, DataFormat::NHWC);
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  ASSERT_EQ(mace_config_set_device(config, MACE_DEVICE_GPU), MACE_OK);
  EXPECT_EQ(mace_pipeline_add_model(pipeline_, "a", a.get(), config),
            MACE_ERROR_UNSUPPORTED);
  EXPECT_NE(std::strstr(mace_pipeline_error(pipeline_), "GPU"), nullptr);
  mace_config_destroy(config);
  // The name is free again.
  EXPECT_EQ(mace_pipeline_add_model(pipeline_, "a", a.get(), nullptr), MACE_OK);
}

TEST_F(PipelineCTest, ReportsErrorsByCodeAndMessage) {
  const auto error = [this] {
    return std::string(mace_pipeline_error(pipeline_));
  };
  EXPECT_EQ(error(), "");
  const Model a(2, kNhwc, DataFormat::NHWC, DataFormat::NHWC);
  EXPECT_EQ(mace_pipeline_add_model(pipeline_, "a", nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(error().find("`model` is NULL"), std::string::npos);
  EXPECT_EQ(mace_pipeline_add_model(pipeline_, nullptr, a.get(), nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_pipeline_add_engine(pipeline_, "a", nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_pipeline_connect(pipeline_, "a", "y", "b", "x", nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(error().find("no stage 'a'"), std::string::npos) << error();
  EXPECT_EQ(mace_pipeline_connect(pipeline_, "a", nullptr, "b", "x", nullptr),
            MACE_ERROR_INVALID_ARGS);
  ASSERT_EQ(mace_pipeline_add_model(pipeline_, "a", a.get(), nullptr), MACE_OK);
  std::vector<float> values(2);
  mace_tensor tensor = TensorOver("x", &values, {1, 2, 3, 4});
  EXPECT_EQ(mace_pipeline_run(pipeline_, &tensor, 1, &tensor, 1),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(error().find("does not fit 8 bytes"), std::string::npos) << error();
  tensor.type = 77;
  EXPECT_EQ(mace_pipeline_run(pipeline_, &tensor, 1, &tensor, 1),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_pipeline_run(pipeline_, nullptr, 1, nullptr, 1),
            MACE_ERROR_INVALID_ARGS);
  // No pipeline.
  EXPECT_EQ(mace_pipeline_create(nullptr), MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_pipeline_run(nullptr, nullptr, 0, nullptr, 0),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_pipeline_copies(nullptr, nullptr), 0u);
  EXPECT_STREQ(mace_pipeline_explain(nullptr), "");
  mace_pipeline_destroy(nullptr);
}

}  // namespace
}  // namespace mace
