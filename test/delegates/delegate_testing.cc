// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/delegates/delegate_testing.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace mace::delegate_testing {
namespace {

using core_test::Dims;
using core_test::FloatAttribute;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::MadeEngine;
using core_test::ModelBuilder;
using core_test::QuantizationMessage;
using core_test::StringAttribute;

int64_t Elements(const Dims &dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

// Values between -1 and 1 without a pattern that a wrong order would keep.
std::vector<float> Scattered(int64_t count, int64_t seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 37 + seed * 11) % 101 - 50) / 50);
  }
  return values;
}

std::string Named(const char *name, const char *value) {
  return StringAttribute(name, value);
}

void AddFloats(ModelBuilder *model,
               const std::string &name,
               const Dims &dims,
               int64_t seed) {
  model->Constant(name, dims, Scattered(Elements(dims), seed));
}

// A filter as the converter packs it: blocks of 16 outputs, [K][16] each.
void AddPacked(ModelBuilder *model,
               const std::string &name,
               const Dims &dims,
               int64_t seed) {
  constexpr int64_t kLanes = 16;
  const std::vector<float> plain = Scattered(Elements(dims), seed);
  const int64_t inner = Elements(dims) / dims[0];
  const int64_t blocks = (dims[0] + kLanes - 1) / kLanes;
  std::vector<float> packed(static_cast<size_t>(blocks * inner * kLanes));
  for (int64_t o = 0; o < dims[0]; ++o) {
    for (int64_t k = 0; k < inner; ++k) {
      packed[static_cast<size_t>((o / kLanes * inner + k) * kLanes +
                                 o % kLanes)] =
          plain[static_cast<size_t>(o * inner + k)];
    }
  }
  const size_t bytes = packed.size() * sizeof(float);
  const uint64_t offset = model->AppendWeights(packed.data(), bytes);
  model->RawConstant(name, dims, DataType::kFloat32, ConstantLayout::kPackedO16,
                     1, offset, bytes);
}

// For each output channel, or one for all.
std::vector<float> ScalesOf(int64_t channels, bool one_scale) {
  if (one_scale) return {0.01f};
  std::vector<float> scales;
  for (int64_t i = 0; i < channels; ++i) {
    scales.push_back(0.008f + 0.001f * static_cast<float>(i));
  }
  return scales;
}

// Int8 numbers.
void AddFilter(ModelBuilder *model,
               const std::string &name,
               const Dims &dims,
               int64_t axis,
               int64_t seed,
               bool one_scale) {
  std::vector<int8_t> values;
  for (float value : Scattered(Elements(dims), seed)) {
    values.push_back(static_cast<int8_t>(std::lround(value * 120)));
  }
  const std::vector<float> scales =
      ScalesOf(dims[static_cast<size_t>(axis)], one_scale);
  const uint64_t offset = model->AppendWeights(values.data(), values.size());
  model->Quantized({QuantizationMessage(scales, {}, one_scale ? 0 : axis)})
      .RawConstant(name, dims, DataType::kInt8, ConstantLayout::kPlain, 1,
                   offset, values.size());
}

// For Quantize and Dequantize.
void AddScaling(ModelBuilder *model,
                const std::string &name,
                float scale,
                int64_t zero,
                DataType type) {
  const auto byte = static_cast<uint8_t>(zero);
  const uint64_t offset = model->AppendWeights(&byte, 1);
  model->Constant(name + "_scale", {1}, std::vector<float>{scale})
      .RawConstant(name + "_zero", {1}, type, ConstantLayout::kPlain, 1, offset,
                   1);
}

// Its scales are those of the input times the filter's.
void AddBias(ModelBuilder *model,
             const std::string &name,
             int64_t count,
             float input_scale,
             bool one_scale) {
  std::vector<int32_t> values;
  std::vector<float> scales = ScalesOf(count, one_scale);
  for (float &scale : scales) scale *= input_scale;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<int32_t>(i * 300 - 500));
  }
  model->Quantized({QuantizationMessage(scales, {}, 0)})
      .Constant(name, {count}, values);
}

ModelBuilder QuantizedOpenNetwork() {
  constexpr float kScale = 0.0078125f;
  constexpr float kResultScale = 0.05f;
  ModelBuilder model;
  model.Version(7).Input("x", {1, -1, -1, 3});
  AddFilter(&model, "f", {8, 3, 3, 3}, 0, 1, true);
  AddScaling(&model, "x", kScale, 0, DataType::kInt8);
  AddScaling(&model, "y", kResultScale, 0, DataType::kInt8);
  model.Quantized({QuantizationMessage({kScale}, {0})})
      .Operator("quantize", "Quantize", {"x", "x_scale", "x_zero"}, {"q"},
                {Named("to", "INT8")})
      .Quantized({QuantizationMessage({kResultScale}, {0}, 0, DataType::kInt8)})
      .Operator("conv", "Conv2D", {"q", "f"}, {"c"}, {Named("padding", "SAME")})
      .Quantized({QuantizationMessage({kResultScale}, {0}, 0, DataType::kInt8)})
      .Operator("pool", "Pooling", {"c"}, {"p"},
                {Named("mode", "MAX"), Named("padding", "SAME"),
                 IntsAttribute("kernels", {3, 3})})
      .Operator("dequantize", "Dequantize", {"p", "y_scale", "y_zero"}, {"y"})
      .Output("y");
  return model;
}

void AddFloatConstants(ModelBuilder *model) {
  AddPacked(model, "f", {8, 3, 3, 3}, 1);
  AddFloats(model, "b", {8}, 2);
  AddFloats(model, "df", {3, 3, 8, 1}, 3);
  AddPacked(model, "w", {4, 8}, 4);
  AddFloats(model, "wb", {4}, 5);
}

}  // namespace

Environment::Environment(const std::string &name, const std::string &value)
    : name_(name) {
  const char *before = std::getenv(name.c_str());
  if (before != nullptr) before_ = before;
  setenv(name.c_str(), value.c_str(), 1);
}
Environment::~Environment() {
  if (before_) {
    setenv(name_.c_str(), before_->c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
}

std::string LibraryPath(const std::string &file) {
  return "test/delegates/" + file;
}

int64_t Count(const std::string &library, const char *name) {
  void *handle = dlopen(LibraryPath(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  if (handle == nullptr) return -1;
  using Function = int64_t (*)(const char *);
  const auto count = reinterpret_cast<Function>(dlsym(handle, "StandInCount"));
  const int64_t result = count(name);
  dlclose(handle);
  return result;
}

ModelBuilder FloatNetwork() {
  ModelBuilder model;
  model.DataTypes("fp16_fp32").Input("x", {1, 6, 6, 3});
  AddFloatConstants(&model);
  model
      .Operator("conv", "Conv2D", {"x", "f", "b"}, {"c"},
                {Named("padding", "SAME"), Named("activation", "RELU")})
      .Operator("depthwise", "DepthwiseConv2d", {"c", "df"}, {"d"},
                {Named("padding", "SAME"), Named("activation", "RELUX"),
                 FloatAttribute("activation_limit", 6)})
      .Operator("add", "Eltwise", {"c", "d"}, {"s"}, {Named("mode", "ADD")})
      .Operator("pool", "Pooling", {"s"}, {"p"},
                {Named("mode", "MAX"), IntsAttribute("kernels", {2, 2}),
                 IntsAttribute("strides", {2, 2})})
      .Operator("mean", "Reduce", {"p"}, {"m"},
                {Named("mode", "MEAN"), IntsAttribute("axes", {1, 2}),
                 IntAttribute("keep_dims", 0)})
      .Operator("product", "FullyConnected", {"m", "w", "wb"}, {"l"})
      .Operator("softmax", "Softmax", {"l"}, {"y"})
      .Output("y");
  return model;
}

ModelBuilder InterruptedNetwork() {
  ModelBuilder model;
  model.DataTypes("fp16_fp32").Input("x", {1, 6, 6, 3});
  AddFloatConstants(&model);
  model
      .Operator("conv", "Conv2D", {"x", "f", "b"}, {"c"},
                {Named("padding", "SAME"), Named("activation", "RELU")})
      .Operator("normalize", "LocalResponseNorm", {"c"}, {"d"},
                {IntAttribute("before", 1), IntAttribute("after", 1),
                 FloatAttribute("alpha", 0.1f), FloatAttribute("beta", 0.75f)})
      .Operator("add", "Eltwise", {"c", "d"}, {"s"}, {Named("mode", "ADD")})
      .Operator("mean", "Reduce", {"s"}, {"m"},
                {Named("mode", "MEAN"), IntsAttribute("axes", {1, 2}),
                 IntAttribute("keep_dims", 0)})
      .Operator("product", "FullyConnected", {"m", "w", "wb"}, {"y"})
      .Output("y");
  return model;
}

ModelBuilder OpenNetwork(bool quantized) {
  if (quantized) return QuantizedOpenNetwork();
  ModelBuilder model;
  model.DataTypes("fp16_fp32").Input("x", {1, -1, -1, 3});
  AddPacked(&model, "f", {8, 3, 3, 3}, 1);
  model
      .Operator("conv", "Conv2D", {"x", "f"}, {"c"}, {Named("padding", "SAME")})
      .Operator("relu", "Activation", {"c"}, {"y"},
                {Named("activation", "RELU")})
      .Output("y");
  return model;
}

ModelBuilder QuantizedNetwork(DataType type, bool one_scale) {
  const int64_t zero = type == DataType::kUint8 ? 128 : 0;
  const auto scaled = [type, zero](float scale) {
    return QuantizationMessage({scale}, {zero}, 0, type);
  };
  ModelBuilder model;
  model.Version(7).Input("x", {1, 6, 6, 3});
  AddFilter(&model, "f", {8, 3, 3, 3}, 0, 1, one_scale);
  AddBias(&model, "b", 8, 0.0078125f, one_scale);
  AddFilter(&model, "df", {3, 3, 8, 1}, 2, 3, one_scale);
  AddFilter(&model, "w", {4, 8}, 0, 4, one_scale);
  AddScaling(&model, "x", 0.0078125f, zero, type);
  AddScaling(&model, "y", 0.06f, zero, type);
  model.Quantized({QuantizationMessage({0.0078125f}, {zero})})
      .Operator("quantize", "Quantize", {"x", "x_scale", "x_zero"}, {"q"},
                {Named("to", type == DataType::kUint8 ? "UINT8" : "INT8")})
      .Quantized({scaled(0.05f)})
      .Operator("conv", "Conv2D", {"q", "f", "b"}, {"c"},
                {Named("padding", "SAME"), Named("activation", "RELU")})
      .Quantized({scaled(0.07f)})
      .Operator("depthwise", "DepthwiseConv2d", {"c", "df"}, {"d"},
                {Named("padding", "SAME")})
      .Quantized({scaled(0.08f)})
      .Operator("add", "Eltwise", {"c", "d"}, {"s"}, {Named("mode", "ADD")})
      .Quantized({scaled(0.08f)})
      .Operator("pool", "Pooling", {"s"}, {"p"},
                {Named("mode", "MAX"), IntsAttribute("kernels", {2, 2}),
                 IntsAttribute("strides", {2, 2})})
      .Quantized({scaled(0.08f)})
      .Operator("mean", "Reduce", {"p"}, {"m"},
                {Named("mode", "MEAN"), IntsAttribute("axes", {1, 2}),
                 IntAttribute("keep_dims", 0)})
      .Quantized({scaled(0.06f)})
      .Operator("product", "FullyConnected", {"m", "w"}, {"l"})
      .Operator("dequantize", "Dequantize", {"l", "y_scale", "y_zero"}, {"y"})
      .Output("y");
  return model;
}

MadeEngine MakeOn(RuntimeType runtime,
                  const ModelBuilder &model,
                  const MaceEngineConfig &config) {
  core_test::MakeOptions options;
  options.config = config;
  EXPECT_CODE(options.config.SetRuntimeTypes({runtime, RT_CPU}), MACE_SUCCESS);
  EXPECT_CODE(options.config.SetCPUThreadPolicy(1, AFFINITY_NONE),
              MACE_SUCCESS);
  return core_test::Make(model, options);
}

std::vector<float> RunNetwork(const MadeEngine &made,
                              const Dims &shape,
                              int64_t elements,
                              MaceStatus *status) {
  EXPECT_CODE(made.status, MACE_SUCCESS);
  if (made.engine == nullptr) return {};
  core_test::Tensors outputs = {{"y", core_test::Room(elements)}};
  const MaceStatus ran = made.engine->Run(
      {{"x", core_test::Floats(shape, Scattered(Elements(shape), 9))}},
      &outputs);
  if (status != nullptr) {
    *status = ran;
  } else {
    EXPECT_CODE(ran, MACE_SUCCESS);
  }
  return core_test::Values(outputs["y"]);
}

std::vector<float> OnCpu(const ModelBuilder &model,
                         const Dims &shape,
                         int64_t elements) {
  return RunNetwork(MakeOn(RT_CPU, model), shape, elements);
}

int OperatorsOn(const MadeEngine &made, DeviceType device) {
  int count = 0;
  if (made.engine == nullptr) return -1;
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    count += op.device == device ? 1 : 0;
  }
  return count;
}

void ExpectClose(const std::vector<float> &actual,
                 const std::vector<float> &expected,
                 float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
  }
}

}  // namespace mace::delegate_testing
