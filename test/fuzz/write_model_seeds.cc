// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Writes small models that between them use every construct of the format and
// the common operators, as a first corpus: write_model_seeds FOLDER

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::FloatAttribute;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::ModelBuilder;
using core_test::StringAttribute;

// A packed filter of one block, at the start of 16 KiB of data.
void AddFilter(ModelBuilder *model,
               const std::string &name,
               const std::vector<int64_t> &dims,
               DataType type) {
  uint64_t depth = 1;
  for (size_t i = 1; i < dims.size(); ++i) {
    depth *= static_cast<uint64_t>(dims[i]);
  }
  model->RawConstant(name, dims, type, ConstantLayout::kPackedO16, 1, 0,
                     16 * depth * DataTypeSize(type));
}

// The same of int8, with its scales and offsets.
void AddScaledFilter(ModelBuilder *model,
                     const std::string &name,
                     const std::vector<int64_t> &dims) {
  uint64_t depth = 1;
  for (size_t i = 1; i < dims.size(); ++i) {
    depth *= static_cast<uint64_t>(dims[i]);
  }
  model->RawConstant(name, dims, DataType::kInt8,
                     ConstantLayout::kPackedO16Scaled, 1, 0,
                     16 * (2 * sizeof(float) + depth));
}

ModelBuilder Convolutions() {
  ModelBuilder model;
  model.Input("x", {1, 3, 8, 8}, DataType::kFloat32, DataFormat::NCHW, "in")
      .Constant("data", {4096}, std::vector<float>(4096, 0.25f))
      .Constant("bias", {8}, std::vector<float>(8, 0.5f))
      .Constant("depthwise", {3, 3, 8, 1}, std::vector<float>(72, 0.1f));
  AddFilter(&model, "filter", {8, 3, 3, 3}, DataType::kFloat32);
  AddFilter(&model, "pointwise", {8, 1, 1, 8}, DataType::kFloat16);
  AddScaledFilter(&model, "wide", {8, 3, 3, 8});
  model
      .Operator("conv", "Conv2D", {"x", "filter", "bias"}, {"a"},
                {IntsAttribute("strides", {1, 2}),
                 StringAttribute("padding", "EXPLICIT"),
                 IntsAttribute("pads", {1, 0, 1, 2}),
                 StringAttribute("activation", "RELUX"),
                 FloatAttribute("activation_limit", 6)})
      .Operator("dw", "DepthwiseConv2d", {"a", "depthwise"}, {"b"},
                {StringAttribute("padding", "SAME")})
      .Operator("pw", "Conv2D", {"b", "pointwise", "", "b"}, {"c"})
      .Operator(
          "pool", "Pooling", {"c"}, {"p"},
          {IntsAttribute("kernels", {2, 2}), StringAttribute("mode", "AVG")})
      .Operator("eight", "Conv2D", {"p", "wide", "bias"}, {"d"},
                {StringAttribute("padding", "SAME")})
      .Output("d", DataFormat::NCHW, "result");
  return model;
}

ModelBuilder Classifier() {
  ModelBuilder model;
  model.Input("x", {2, 16})
      .Constant("data", {4096}, std::vector<float>(4096, 0.25f));
  AddFilter(&model, "weights", {16, 16}, DataType::kBfloat16);
  AddScaledFilter(&model, "scaled", {10, 16});
  model.Operator("hidden", "FullyConnected", {"x", "weights"}, {"h"})
      .Operator("fc", "FullyConnected", {"h", "scaled"}, {"a"})
      .Operator("softmax", "Softmax", {"a"}, {"b"}, {IntAttribute("axis", -1)})
      .Operator("mean", "Reduce", {"b"}, {"c"},
                {StringAttribute("mode", "MEAN"), IntsAttribute("axes", {0})})
      .Output("b")
      .Output("c", DataFormat::NONE);
  return model;
}

ModelBuilder ShapeArithmetic() {
  ModelBuilder model;
  model.Input("x", {2, 3, 4})
      .Constant("tail", {1}, std::vector<int32_t>{-1})
      .Operator("shape", "Shape", {"x"}, {"s"})
      .Operator("first", "StridedSlice", {"s"}, {"f"},
                {IntsAttribute("axes", {0}), IntsAttribute("begins", {0}),
                 IntsAttribute("ends", {1}), IntsAttribute("strides", {1})})
      .Operator("join", "Concat", {"f", "tail"}, {"t"},
                {IntAttribute("axis", 0)})
      .Operator("reshape", "Reshape", {"x", "t"}, {"y"})
      .Operator("transpose", "Transpose", {"y"}, {"z"},
                {IntsAttribute("perm", {1, 0})})
      .Output("z");
  return model;
}

ModelBuilder Elementwise() {
  ModelBuilder model;
  model.Input("x", {1, 2, 2, 4})
      .Input("y", {4})
      .Constant("slope", {4}, std::vector<float>{0, 1, 2, 3})
      .Operator("add", "Eltwise", {"x", "y"}, {"a"},
                {StringAttribute("mode", "ADD")})
      .Operator("prelu", "Activation", {"a", "slope"}, {"b"},
                {StringAttribute("activation", "PRELU")})
      .Operator("split", "Split", {"b"}, {"c", "d"}, {IntAttribute("axis", 3)})
      .Operator("pad", "Pad", {"c"}, {"e"},
                {IntsAttribute("pads", {0, 0, 1, 1, 1, 1, 0, 0})})
      .Operator("matmul", "MatMul", {"c", "d"}, {"f"},
                {IntAttribute("transpose_b", 1)})
      .Output("e")
      .Output("f");
  return model;
}

ModelBuilder QuantizedConv() {
  using core_test::QuantizationMessage;
  const std::string image = QuantizationMessage({0.5f}, {3});
  const std::string result =
      QuantizationMessage({0.5f}, {3}, 0, DataType::kInt8);
  ModelBuilder model;
  const std::vector<int8_t> filter(16 * 4, 1);
  const uint64_t offset = model.AppendWeights(filter.data(), filter.size());
  model.Quantized({image})
      .Input("x", {1, 2, 2, 4}, DataType::kInt8)
      .Quantized({QuantizationMessage({0.25f})})
      .RawConstant("w", {5, 1, 1, 4}, DataType::kInt8,
                   ConstantLayout::kPackedO16Fours, 1, offset, filter.size())
      .Quantized({result})
      .Operator("conv", "Conv2D", {"x", "w"}, {"y"})
      .Quantized({image})
      .Output("y");
  return model;
}

ModelBuilder Quantized() {
  using core_test::QuantizationMessage;
  const std::string whole = QuantizationMessage({0.5f}, {3});
  const std::string by_channel =
      QuantizationMessage({0.25f, 0.5f, 1}, {0, -1, 1}, 1);
  const std::vector<int8_t> weights = {1, 2, 3, 4, 5, 6};
  ModelBuilder model;
  const uint64_t offset = model.AppendWeights(weights.data(), weights.size());
  // A block of 16 columns and 4 rows, and its sums.
  const std::vector<int8_t> block(16 * (4 + sizeof(int32_t)), 0);
  const uint64_t packed = model.AppendWeights(block.data(), block.size());
  model.Quantized({whole})
      .Input("x", {4, 2}, DataType::kInt8, DataFormat::NONE)
      .Quantized({by_channel})
      .RawConstant("w", {2, 3}, DataType::kInt8, ConstantLayout::kPlain, 0,
                   offset, weights.size())
      .Quantized({by_channel})
      .RawConstant("p", {2, 3}, DataType::kInt8,
                   ConstantLayout::kPackedN16Fours, 0, packed, block.size())
      .Quantized({whole})
      .Operator("identity", "Identity", {"x"}, {"i"})
      .Operator("matmul", "MatMulInteger", {"i", "w"}, {"y"})
      .Operator("packed", "MatMulInteger", {"i", "p"}, {"z"})
      .Quantized({whole})
      .Output("i", DataFormat::NONE)
      .Output("y", DataFormat::NONE)
      .Output("z", DataFormat::NONE);
  return model;
}

// A seed that no engine accepts explores little: it would be a mistake here.
bool Loads(const std::string &path, const ModelBuilder &model) {
  const std::string graph = model.graph();
  const std::string &weights = model.weights();
  std::shared_ptr<MaceEngine> engine;
  const MaceStatus status = CreateMaceEngineFromProto(
      reinterpret_cast<const unsigned char *>(graph.data()), graph.size(),
      reinterpret_cast<const unsigned char *>(weights.data()), weights.size(),
      {}, {}, MaceEngineConfig(), &engine);
  if (status == MaceStatus::MACE_SUCCESS) return true;
  std::fprintf(stderr, "%s: %s\n", path.c_str(), status.information().c_str());
  return false;
}

bool Write(const std::string &path, const ModelBuilder &model) {
  if (!Loads(path, model)) return false;
  const std::string graph = model.graph();
  std::ofstream file(path, std::ios::binary);
  file << graph;
  return static_cast<bool>(file.flush());
}

}  // namespace
}  // namespace mace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];
  bool good = mace::Write(folder + "/convolutions", mace::Convolutions());
  good &= mace::Write(folder + "/classifier", mace::Classifier());
  good &= mace::Write(folder + "/shapes", mace::ShapeArithmetic());
  good &= mace::Write(folder + "/elementwise", mace::Elementwise());
  good &= mace::Write(folder + "/quantized", mace::Quantized());
  good &= mace::Write(folder + "/quantized_conv", mace::QuantizedConv());
  if (!good) std::fprintf(stderr, "no seeds in %s\n", folder.c_str());
  return good ? 0 : 2;
}
