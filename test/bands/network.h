// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_BANDS_NETWORK_H_
#define TEST_BANDS_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"

namespace mace::bands_test {

// A chain of convolutions, from tensor "x" on.
class Network {
 public:
  Network(const core_test::Dims &input,
          const std::string &data_types,
          DataType filters)
      : input_(input), filters_(filters), channels_(input[3]), random_(31) {
    model_.Input("x", input);
    if (!data_types.empty()) model_.DataTypes(data_types);
  }

  // `residual`: a tensor to add, or "".
  Network &Conv(int64_t kernel,
                int64_t stride,
                int64_t outputs,
                const std::string &residual = "",
                const std::string &activation = "RELUX",
                int64_t groups = 1) {
    const std::string name = Next();
    const op_test::Value plain =
        random_.Floats({outputs, kernel, kernel, channels_ / groups});
    Packed(name + "/filter", plain, groups);
    model_.Constant(name + "/bias", {outputs},
                    random_.Floats({outputs}).floats());
    std::vector<std::string> inputs = {last_, name + "/filter", name + "/bias"};
    if (!residual.empty()) inputs.push_back(residual);
    Add(name, "Conv2D", inputs, stride, 1, activation, groups);
    channels_ = outputs;
    return *this;
  }

  Network &Depthwise(int64_t kernel,
                     int64_t stride,
                     int64_t dilation = 1,
                     const std::string &activation = "RELUX") {
    const std::string name = Next();
    model_
        .Constant(name + "/filter", {kernel, kernel, channels_, 1},
                  random_.Floats({kernel, kernel, channels_, 1}).floats())
        .Constant(name + "/bias", {channels_},
                  random_.Floats({channels_}).floats());
    Add(name, "DepthwiseConv2d", {last_, name + "/filter", name + "/bias"},
        stride, dilation, activation);
    return *this;
  }

  Network &BatchNorm() {
    const std::string name = Next();
    model_
        .Constant(name + "/scale", {channels_},
                  random_.Floats({channels_}).floats())
        .Constant(name + "/offset", {channels_},
                  random_.Floats({channels_}).floats())
        .Operator(name, "BatchNorm", {last_, name + "/scale", name + "/offset"},
                  {name}, {core_test::StringAttribute("activation", "RELU")});
    last_ = name;
    return *this;
  }

  // The last tensor behind another one of `channels`.
  Network &Behind(const std::string &other, int64_t channels) {
    const std::string name = Next();
    model_.Operator(name, "Concat", {other, last_}, {name},
                    {core_test::IntAttribute("axis", 3)});
    channels_ += channels;
    last_ = name;
    return *this;
  }

  const std::string &last() const { return last_; }
  const core_test::Dims &input() const { return input_; }
  core_test::ModelBuilder &model() { return model_; }

 private:
  std::string Next() { return "t" + std::to_string(++count_); }

  void Packed(const std::string &name,
              const op_test::Value &plain,
              int64_t groups) {
    op_test::OpCase packed("");
    if (filters_ == DataType::kBfloat16) {
      packed.PackedPairs(plain, groups);  // the layout for arithmetic of bf16
    } else {
      packed.Packed(plain, groups, filters_);
    }
    const op_test::CaseInput &input = packed.inputs[0];
    std::vector<int64_t> dims;
    for (size_t i = 0; i < input.value.shape.rank(); ++i) {
      dims.push_back(input.value.shape[i]);
    }
    const uint64_t offset = model_.AppendWeights(input.value.bytes.data(),
                                                 input.value.bytes.size());
    model_.RawConstant(name, dims, input.value.data_type, input.layout,
                       static_cast<uint64_t>(groups), offset,
                       input.value.bytes.size());
  }

  void Add(const std::string &name,
           const std::string &type,
           const std::vector<std::string> &inputs,
           int64_t stride,
           int64_t dilation,
           const std::string &activation,
           int64_t groups = 0) {
    std::vector<std::string> attributes = {
        core_test::StringAttribute("padding", "SAME"),
        core_test::IntsAttribute("strides", {stride, stride}),
        core_test::IntsAttribute("dilations", {dilation, dilation}),
        core_test::StringAttribute("activation", activation)};
    if (activation == "RELUX") {
      attributes.push_back(core_test::FloatAttribute("activation_limit", 6));
    }
    if (groups > 0) {
      attributes.push_back(core_test::IntAttribute("groups", groups));
    }
    model_.Operator(name, type, inputs, {name}, attributes);
    last_ = name;
  }

  core_test::Dims input_;
  DataType filters_;
  int64_t channels_;
  op_test::Random random_;
  core_test::ModelBuilder model_;
  std::string last_ = "x";
  int count_ = 0;
};

}  // namespace mace::bands_test

#endif  // TEST_BANDS_NETWORK_H_
