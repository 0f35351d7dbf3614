// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions by the matrix units of NVIDIA GPUs, which the test driver
// emulates.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/load_test_driver.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::IntsAttribute;
using core_test::MadeEngine;
using core_test::ModelBuilder;
using core_test::StringAttribute;
using op_test::Random;
using test_opencl::AddPacked;
using test_opencl::On;
using test_opencl::Some;

struct Layer {
  int64_t height;
  int64_t width;
  int64_t in;
  int64_t out;
  int64_t kernel = 1;
  int64_t stride = 1;
  bool depthwise = false;  // a depthwise convolution before it
  bool residual = false;
  bool first = false;  // it reads the model's input
};

int64_t Outputs(const Layer &layer) {
  const auto size = [&](int64_t in) {
    return (in + layer.stride - 1) / layer.stride;
  };
  return size(layer.height) * size(layer.width) * layer.out;
}

// Tanh before it, unless it is the first, so that the convolution reads what
// the GPU stores.
ModelBuilder Model(const Layer &layer, const std::string &data_type) {
  Random random(11, Random::Quiet());
  ModelBuilder model;
  model.Input("x", {1, layer.height, layer.width, layer.in});
  std::string from = "x";
  if (!layer.first) {
    model.Operator("first", "Activation", {"x"}, {"a"},
                   {StringAttribute("activation", "TANH")});
    from = "a";
  }
  const std::string strides =
      IntsAttribute("strides", {layer.stride, layer.stride});
  const std::string same = StringAttribute("padding", "SAME");
  if (layer.depthwise) {
    model.Constant("d", {3, 3, layer.in, 1}, Some(9 * layer.in, &random))
        .Constant("e", {layer.in}, Some(layer.in, &random))
        .Operator("depthwise", "DepthwiseConv2d", {from, "d", "e"}, {"b"},
                  {same, strides, StringAttribute("activation", "RELU")});
    from = "b";
  }
  AddPacked("w", {layer.out, layer.kernel, layer.kernel, layer.in}, &random,
            &model);
  model.Constant("c", {layer.out}, Some(layer.out, &random));
  std::vector<std::string> inputs = {from, "w", "c"};
  if (layer.residual) inputs.push_back("a");
  std::vector<std::string> attributes = {same,
                                         StringAttribute("activation", "RELU")};
  if (!layer.depthwise) attributes.push_back(strides);
  model.Operator("conv", "Conv2D", inputs, {"y"}, attributes)
      .Output("y")
      .DataTypes(data_type);
  return model;
}

class MatrixUnitsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    driver_ = test_opencl::LoadTestDriver(&why);
    ASSERT_NE(driver_, nullptr) << why;
    setenv("MACE_OPENCL_PLACE_ALL", "1", 1);
  }
  void SetUp() override {
    driver_->reset();
    ASSERT_NE(driver_->set_family("nvidia_h100"), 0);
    driver_->emulate_matrix_units(1);
  }
  void TearDown() override {
    driver_->check_leaks();
    EXPECT_EQ(test_opencl::Problems(*driver_), "");
  }

  static std::vector<float> Run(const ModelBuilder &model,
                                const Layer &layer,
                                RuntimeType runtime,
                                std::string *kernels) {
    const MadeEngine made = core_test::Make(model, On({runtime}));
    EXPECT_SUCCESS(made.status);
    if (made.engine == nullptr) return {};
    Random random(12, Random::Quiet());
    const Dims dims = {1, layer.height, layer.width, layer.in};
    const std::vector<float> image =
        random.Floats({1, layer.height, layer.width, layer.in}).floats();
    core_test::Tensors outputs = {{"y", core_test::Room(Outputs(layer))}};
    EXPECT_SUCCESS(
        made.engine->Run({{"x", core_test::Floats(dims, image)}}, &outputs));
    for (const auto &op : made.engine->GetPlacement().operators) {
      if (op.operator_name == "conv") *kernels = op.kernel;
    }
    return core_test::Values(outputs["y"]);
  }

  static void ExpectRight(const Layer &layer) {
    SCOPED_TRACE(testing::Message()
                 << layer.height << "x" << layer.width << ", " << layer.in
                 << " -> " << layer.out << ", " << layer.kernel
                 << (layer.depthwise ? " after depthwise" : ""));
    for (const auto &[data_type, tolerance] :
         {std::pair{"fp32_fp32", 4e-6}, {"fp16_fp32", 4e-3}}) {
      SCOPED_TRACE(data_type);
      const ModelBuilder model = Model(layer, data_type);
      std::string kernels;
      const std::vector<float> wanted = Run(model, layer, RT_CPU, &kernels);
      const std::vector<float> found = Run(model, layer, RT_OPENCL, &kernels);
      EXPECT_EQ(kernels, "conv_mma");
      EXPECT_LE(test_opencl::WorstError(found, wanted), tolerance);
    }
  }

  static inline const MaceTestOpenclControl *driver_ = nullptr;
};

TEST_F(MatrixUnitsTest, ComputePointwiseConvolutions) {
  for (const Layer &layer : {Layer{7, 7, 32, 32},
                             {5, 9, 24, 70},
                             {3, 3, 48, 48},
                             {13, 2, 6, 9},
                             {4, 4, 160, 64, 1, 2}}) {
    ExpectRight(layer);
  }
}

TEST_F(MatrixUnitsTest, ComputeWindows) {
  for (const Layer &layer : {Layer{6, 7, 16, 40, 3},
                             {9, 8, 40, 24, 3, 2},
                             {11, 10, 3, 20, 3, 2},
                             {8, 8, 4, 33, 7, 2}}) {
    ExpectRight(layer);
  }
}

TEST_F(MatrixUnitsTest, ComputeDepthwiseAndPointwiseTogether) {
  for (const Layer &layer : {Layer{7, 6, 32, 16, 1, 1, true},
                             {9, 9, 48, 40, 1, 2, true},
                             {5, 5, 8, 70, 1, 1, true}}) {
    ExpectRight(layer);
  }
}

TEST_F(MatrixUnitsTest, AddResiduals) {
  ExpectRight({6, 6, 40, 40, 1, 1, false, true});
  ExpectRight({6, 5, 16, 16, 1, 1, true, true});
}

// With half storage, the host rounds the input.
TEST_F(MatrixUnitsTest, ReadTheInput) {
  Layer few = {11, 10, 3, 20, 3, 2};
  Layer depthwise = {7, 6, 32, 16, 1, 1, true};
  Layer many = {5, 9, 24, 70};
  for (Layer *layer : {&few, &depthwise, &many}) {
    layer->first = true;
    ExpectRight(*layer);
  }
}

// An NCHW input is not rounded, and has another plan.
TEST_F(MatrixUnitsTest, ReadTheInputInBothOrders) {
  Layer layer = {4, 5, 3, 8, 3};
  layer.first = true;
  const MadeEngine made =
      core_test::Make(Model(layer, "fp16_fp32"), On({RT_OPENCL}));
  ASSERT_NE(made.engine, nullptr);
  Random random(12, Random::Quiet());
  const std::vector<float> nhwc = random.Floats({1, 4, 5, 3}).floats();
  std::vector<float> nchw(nhwc.size());
  for (size_t pixel = 0; pixel < 20; ++pixel) {
    for (size_t c = 0; c < 3; ++c) nchw[c * 20 + pixel] = nhwc[pixel * 3 + c];
  }
  std::vector<std::vector<float>> results;
  for (const bool other : {false, true, false}) {
    const MaceTensor input =
        other ? core_test::Floats({1, 3, 4, 5}, nchw, DataFormat::NCHW)
              : core_test::Floats({1, 4, 5, 3}, nhwc);
    core_test::Tensors outputs = {{"y", core_test::Room(Outputs(layer))}};
    EXPECT_SUCCESS(made.engine->Run({{"x", input}}, &outputs));
    results.push_back(core_test::Values(outputs["y"]));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// Within 2 % of what they take in the file.
TEST_F(MatrixUnitsTest, StoreFiltersOnce) {
  for (const Layer &layer :
       {Layer{4, 4, 48, 240, 3}, {4, 4, 304, 48, 1}, {3, 3, 16, 128, 3}}) {
    Random random(1, Random::Quiet());
    ModelBuilder model;
    model.Input("x", {1, layer.height, layer.width, layer.in});
    AddPacked("w", {layer.out, layer.kernel, layer.kernel, layer.in}, &random,
              &model);
    model.Operator("conv", "Conv2D", {"x", "w"}, {"y"}).Output("y");
    const auto stored = static_cast<size_t>(layer.out * layer.kernel *
                                            layer.kernel * layer.in) *
                        sizeof(float);
    const size_t prepared = test_opencl::PreparedBytes(model);
    EXPECT_GE(prepared, stored);
    EXPECT_LE(prepared, stored * 102 / 100) << layer.in << " " << layer.out;
  }
}

}  // namespace
}  // namespace mace
