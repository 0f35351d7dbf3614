// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Small networks in integers, and engines that run them.

#ifndef TEST_HEXAGON_QUANTIZED_NETWORK_H_
#define TEST_HEXAGON_QUANTIZED_NETWORK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace test_hexagon {

using core_test::Dims;
using core_test::MadeEngine;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::QuantizationMessage;
using core_test::Tensors;

inline constexpr int64_t kHeight = 19;
inline constexpr int64_t kWidth = 23;
inline constexpr int64_t kClasses = 10;

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed) {}
  uint8_t Byte() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<uint8_t>(state_ >> 24);
  }
  std::vector<uint8_t> Bytes(int64_t count) {
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    for (uint8_t &byte : bytes) byte = Byte();
    return bytes;
  }

 private:
  uint32_t state_;
};

// Layers whose weights are random, one after the other.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(DataType type) : type_(type) {
    model_.Quantized({Message("x")}).Input("x", {1, kHeight, kWidth, 3}, type);
  }
  NetworkBuilder &Input(const Dims &dims) {
    model_ = ModelBuilder();
    model_.Quantized({Message("x")}).Input("x", dims, type_);
    return *this;
  }

  NetworkBuilder &Conv(const std::string &from,
                       const std::string &to,
                       Dims filter,
                       std::vector<std::string> attributes = {}) {
    return Layer("Conv2D", from, to, std::move(filter), 0,
                 std::move(attributes));
  }
  NetworkBuilder &Depthwise(const std::string &from,
                            const std::string &to,
                            Dims filter,
                            std::vector<std::string> attributes = {}) {
    return Layer("DepthwiseConv2d", from, to, std::move(filter), 2,
                 std::move(attributes));
  }
  NetworkBuilder &Dense(const std::string &from,
                        const std::string &to,
                        Dims weights) {
    return Layer("FullyConnected", from, to, std::move(weights), 0, {});
  }
  // Selects elements along an axis, which the DSP does not do.
  NetworkBuilder &Gather(const std::string &from,
                         const std::string &to,
                         int64_t axis,
                         const std::vector<int32_t> &indices) {
    const std::string name = "indices of " + to;
    model_.Constant(name, {static_cast<int64_t>(indices.size())}, indices);
    model_.Quantized({Message(to)})
        .Operator(to, "Gather", {from, name}, {to},
                  {core_test::IntAttribute("axis", axis)});
    return *this;
  }
  // An operator that moves integers.
  NetworkBuilder &Move(const std::string &type,
                       const std::string &from,
                       const std::string &to,
                       const std::vector<std::string> &attributes) {
    model_.Quantized({Message(from)})
        .Operator(to, type, {from}, {to}, attributes);
    return *this;
  }
  NetworkBuilder &Output(const std::string &name) {
    model_.Quantized({Message(name)}).Output(name);
    return *this;
  }
  const ModelBuilder &model() const { return model_; }

 private:
  // Every tensor has the same numbers; the type of results is stated.
  std::string Message(const std::string & /*tensor*/,
                      DataType type = DataType::kUnknown) const {
    const int64_t zero = type_ == DataType::kUint8 ? 121 : -7;
    return QuantizationMessage({0.03f}, {zero}, 0, type);
  }

  NetworkBuilder &Layer(const std::string &op,
                        const std::string &from,
                        const std::string &to,
                        Dims filter,
                        size_t channel_axis,
                        std::vector<std::string> attributes) {
    int64_t count = 1;
    for (int64_t dim : filter) count *= dim;
    const int64_t channels = filter[channel_axis];
    std::vector<float> scales;
    std::vector<float> bias_scales;
    std::vector<int32_t> bias;
    for (int64_t i = 0; i < channels; ++i) {
      const float spread = 0.4f / static_cast<float>(count / channels);
      scales.push_back(spread * (1 + static_cast<float>(numbers_.Byte()) / 64) /
                       32);
      bias_scales.push_back(0.03f * scales.back());
      bias.push_back(static_cast<int32_t>(numbers_.Byte()) * 16 - 2048);
    }
    const std::vector<uint8_t> bytes = numbers_.Bytes(count);
    const uint64_t offset = model_.AppendWeights(bytes.data(), bytes.size());
    const std::string weights = "weights of " + to;
    model_
        .Quantized({QuantizationMessage(scales, {},
                                        static_cast<int64_t>(channel_axis))})
        .RawConstant(weights, filter, DataType::kInt8, ConstantLayout::kPlain,
                     1, offset, bytes.size());
    model_.Quantized({QuantizationMessage(bias_scales)})
        .Constant("bias of " + to, {channels}, bias);
    if (op != "FullyConnected") {
      attributes.push_back(core_test::StringAttribute("padding", "SAME"));
    }
    model_.Quantized({Message(to, type_)})
        .Operator(to, op, {from, weights, "bias of " + to}, {to}, attributes);
    return *this;
  }

  DataType type_;
  Numbers numbers_{7};
  ModelBuilder model_;
};

inline std::string Relu() {
  return core_test::StringAttribute("activation", "RELU");
}
inline std::string Strides(int64_t stride) {
  return core_test::IntsAttribute("strides", {stride, stride});
}

// All of it on the DSP: a branch, strides, dilations, odd channels.
inline ModelBuilder Network(DataType type,
                            const Dims &dims = {1, kHeight, kWidth, 3}) {
  NetworkBuilder network(type);
  network.Input(dims)
      .Conv("x", "a", {20, 3, 3, 3}, {Strides(2), Relu()})
      .Depthwise("a", "b", {3, 3, 20, 1},
                 {core_test::IntsAttribute("dilations", {2, 2})})
      .Conv("b", "c", {140, 1, 1, 20}, {Relu()})
      .Depthwise("c", "d", {5, 5, 140, 1}, {Strides(2)})
      .Conv("d", "e", {33, 1, 1, 140})
      .Conv("e", "f", {33, 3, 3, 33},
            {core_test::IntsAttribute("dilations", {1, 2})})
      .Dense("f", "y", {kClasses, 33})
      // A second result, of a tensor that others read.
      .Output("y")
      .Output("c");
  return network.model();
}

inline MakeOptions On(const std::vector<RuntimeType> &runtimes) {
  MakeOptions options;
  EXPECT_EQ(options.config.SetRuntimeTypes(runtimes), MaceStatus::MACE_SUCCESS);
  return options;
}

inline MaceTensor BytesOf(const Dims &dims, const std::vector<uint8_t> &bytes) {
  const std::shared_ptr<char> data(new char[bytes.size() + 1],
                                   std::default_delete<char[]>());
  std::memcpy(data.get(), bytes.data(), bytes.size());
  return MaceTensor(dims, data, DataFormat::NHWC, IDataType::IDT_NOT_SET);
}

inline std::vector<uint8_t> BytesOf(const MaceTensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.shape()) count *= dim;
  const auto *data = reinterpret_cast<const uint8_t *>(tensor.raw_data().get());
  return std::vector<uint8_t>(data, data + count);
}

// The results "y" and "c" of an image of that number.
using Results = std::vector<std::vector<uint8_t>>;
inline MaceStatus RunOnce(MaceEngine *engine,
                          uint32_t image,
                          Results *results,
                          const Dims &dims = {1, kHeight, kWidth, 3},
                          RunMetadata *metadata = nullptr) {
  constexpr int64_t kRoom = 1 << 17;
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  const std::vector<uint8_t> room(kRoom, 0xa5);
  Tensors outputs = {{"y", BytesOf({kRoom}, room)},
                     {"c", BytesOf({kRoom}, room)}};
  const MaceStatus status = engine->Run(
      {{"x", BytesOf(dims, Numbers(image).Bytes(count))}}, &outputs, metadata);
  *results = {BytesOf(outputs["y"]), BytesOf(outputs["c"])};
  return status;
}

// Of the CPU alone.
inline Results Wanted(const ModelBuilder &model,
                      uint32_t image,
                      const Dims &dims = {1, kHeight, kWidth, 3}) {
  Results wanted;
  const MadeEngine made = core_test::Make(model, On({RT_CPU}));
  EXPECT_CODE(made.status, MACE_SUCCESS);
  if (made.engine != nullptr) {
    EXPECT_CODE(RunOnce(made.engine.get(), image, &wanted, dims), MACE_SUCCESS);
  }
  return wanted;
}

inline size_t OnDsp(const MadeEngine &made) {
  size_t count = 0;
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    count += op.device == DeviceType::HEXAGON ? 1 : 0;
  }
  return count;
}

}  // namespace test_hexagon
}  // namespace mace

#endif  // TEST_HEXAGON_QUANTIZED_NETWORK_H_
