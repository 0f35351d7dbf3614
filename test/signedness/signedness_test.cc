// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Models with int8 and with uint8 give the same bits: the CPU stores either as
// its kernels read it, except for what the application and operators see that
// compute with the model's integers.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::FloatAttribute;
using core_test::IntAttribute;
using core_test::IntsAttribute;
using core_test::MadeEngine;
using core_test::Make;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::QuantizationMessage;
using core_test::StringAttribute;
using core_test::Tensors;
using op_test::LeastByte;
using op_test::Random;

constexpr DataType kU8 = DataType::kUint8;
constexpr DataType kS8 = DataType::kInt8;
// What kernels do not read.
constexpr DataType kOther = kUnsignedBytes ? kS8 : kU8;

constexpr int64_t kSide = 10;
constexpr int64_t kChannels = 8;
const Dims kImage = {1, kSide, kSide, kChannels};

// Zero points are above the least number of the type.
class Network {
 public:
  Network() { model_.Input("x", kImage); }

  ModelBuilder &model() { return model_; }

  void Quantize(const std::string &to, DataType type, int64_t zero) {
    Moved("Quantize", {"x", One(), Zero(type, zero)}, to, type, zero,
          {StringAttribute("to", type == kU8 ? "UINT8" : "INT8")});
  }
  void Output(const std::string &name, DataType type, int64_t zero) {
    model_.Quantized({Scale(type, zero)}).Output(name, DataFormat::NONE);
  }
  void Dequantize(const std::string &from, DataType type, int64_t zero) {
    model_.Operator("y", "Dequantize", {from, One(), Zero(type, zero)}, {"y"});
  }
  void Conv2D(const std::string &from,
              const std::string &to,
              DataType type,
              int64_t zero) {
    const Dims dims = {kChannels, 3, 3, kChannels};
    const std::vector<int32_t> w =
        Random(2, Random::Quiet()).Ints({8, 3, 3, 8}, -127, 127).ints();
    model_.Quantized({QuantizationMessage({0.003f})});
    Bytes("w", dims, kS8, w);
    Quantized("Conv2D", {from, "w"}, to, type, zero,
              {StringAttribute("padding", "SAME")});
  }
  void Quantized(const std::string &op,
                 const std::vector<std::string> &from,
                 const std::string &to,
                 DataType type,
                 int64_t zero,
                 const std::vector<std::string> &attributes) {
    model_
        .Quantized(
            {QuantizationMessage({kScale}, {LeastByte(type) + zero}, 0, type)})
        .Operator(to, op, from, {to}, attributes);
  }
  // Each of `tables`: another one.
  void LookupTable(const std::string &from,
                   const std::string &to,
                   std::pair<DataType, DataType> types,
                   int64_t zero,
                   int64_t tables) {
    Random random(3, Random::Quiet());
    const std::vector<int32_t> numbers =
        random.Ints({tables * 256}, 0, 255).ints();
    std::vector<int32_t> table;
    for (int64_t i = 0; i < tables * 256; ++i) {
      const int64_t number = types.first == kU8 ? i : i ^ 128;
      table.push_back(numbers[static_cast<size_t>(number)] +
                      LeastByte(types.second));
    }
    Bytes(to + "/table", tables == 1 ? Dims{256} : Dims{tables, 256},
          types.second, table);
    Moved("LookupTable", {from, to + "/table"}, to, types.second, zero, {});
  }
  void Moved(const std::string &op,
             const std::vector<std::string> &from,
             const std::string &to,
             DataType type,
             int64_t zero,
             const std::vector<std::string> &attributes) {
    model_.Quantized({Scale(type, zero)})
        .Operator(to, op, from, {to}, attributes);
  }

 private:
  static constexpr float kScale = 0.03f;

  static std::string Scale(DataType type, int64_t zero) {
    return QuantizationMessage({kScale}, {LeastByte(type) + zero});
  }
  std::string Name() { return "c" + std::to_string(count_++); }
  std::string One() {
    const std::string name = Name();
    model_.Constant(name, {1}, std::vector<float>{kScale});
    return name;
  }
  // Absent where it is 0.
  std::string Zero(DataType type, int64_t zero) {
    const auto number = static_cast<int32_t>(LeastByte(type) + zero);
    if (number == 0) return "";
    const std::string name = Name();
    Bytes(name, {1}, type, {number});
    return name;
  }
  void Bytes(const std::string &name,
             const Dims &dims,
             DataType type,
             const std::vector<int32_t> &numbers) {
    const std::vector<uint8_t> bytes(numbers.begin(), numbers.end());
    const uint64_t offset = model_.AppendWeights(bytes.data(), bytes.size());
    model_.RawConstant(name, dims, type, ConstantLayout::kPlain, 1, offset,
                       bytes.size());
  }

  ModelBuilder model_;
  int count_ = 0;
};

template <typename T>
std::vector<T> ResultOf(const MadeEngine &made,
                        const std::string &output,
                        IDataType type) {
  EXPECT_EQ(made.status.code(), MaceStatus::MACE_SUCCESS)
      << made.status.information();
  if (made.engine == nullptr) return {};
  const int64_t room = 1 << 16;
  const auto count = static_cast<size_t>(kSide * kSide * kChannels);
  const std::vector<float> x =
      Random(7, Random::Quiet())
          .Floats({static_cast<int64_t>(count)}, -4.0f, 4.0f)
          .floats();
  std::shared_ptr<T> y(new T[room], std::default_delete<T[]>());
  Tensors outputs = {{output, MaceTensor({room}, y, DataFormat::NONE, type)}};
  const MaceStatus status =
      made.engine->Run({{"x", core_test::Floats(kImage, x)}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  int64_t size = 1;
  for (int64_t dim : outputs.at(output).shape()) size *= dim;
  return std::vector<T>(y.get(), y.get() + size);
}

// Of each kind of operators that know what bytes stand for. Integers have type
// `first` up to a table, and `second` behind it.
ModelBuilder Everything(DataType first, DataType second) {
  Network network;
  network.Quantize("q", first, 128);
  network.Conv2D("q", "conv", first, 117);
  network.LookupTable("conv", "table", {first, second}, 7, kChannels);
  const Dims pads = {0, 0, 1, 1, 1, 1, 0, 0};
  network.Moved(
      "Pad", {"table"}, "pad", second, 7,
      {IntsAttribute("pads", pads),
       FloatAttribute("value", static_cast<float>(LeastByte(second) + 30))});
  network.Quantized(
      "Pooling", {"pad"}, "pool", second, 7,
      {StringAttribute("mode", "MAX"), IntsAttribute("kernels", {2, 2}),
       IntsAttribute("strides", {2, 2})});
  network.Quantized("Resize", {"pool"}, "resize", second, 7,
                    {StringAttribute("mode", "NEAREST"),
                     IntsAttribute("size", {kSide + 2, kSide + 2})});
  network.Moved("Concat", {"pad", "resize"}, "joined", second, 7,
                {IntAttribute("axis", 3)});
  network.Moved("Transpose", {"joined"}, "turned", second, 7,
                {IntsAttribute("perm", {0, 2, 1, 3})});
  network.Quantized("Eltwise", {"joined", "turned"}, "sum", first, 90,
                    {StringAttribute("mode", "ADD")});
  network.Moved("Reshape", {"sum"}, "flat", first, 90,
                {IntsAttribute("shape", {144, 16})});
  network.Quantized("MatMul", {"flat", "flat"}, "product", second, 128,
                    {IntAttribute("transpose_b", 1)});
  network.Quantized("Softmax", {"product"}, "softmax", second, 0, {});
  network.Quantized(
      "Reduce", {"softmax"}, "mean", first, 2,
      {StringAttribute("mode", "SUM"), IntsAttribute("axes", {0})});
  network.Quantized("Eltwise", {"softmax", "mean"}, "last", first, 128,
                    {StringAttribute("mode", "SUB")});
  network.Dequantize("last", first, 128);
  network.model().Output("y", DataFormat::NONE);
  return network.model();
}

TEST(SignednessTest, BothGiveTheSameBits) {
  const MadeEngine expected = Make(Everything(kU8, kU8));
  const std::vector<float> y =
      ResultOf<float>(expected, "y", IDataType::IDT_FLOAT);
  ASSERT_EQ(y.size(), 144u * 144u);
  for (const auto &[first, second] :
       {std::pair(kS8, kS8), std::pair(kS8, kU8), std::pair(kU8, kS8)}) {
    const MadeEngine made = Make(Everything(first, second));
    EXPECT_EQ(ResultOf<float>(made, "y", IDataType::IDT_FLOAT), y);
    // Also in the plan, nothing tells them apart.
    EXPECT_EQ(made.engine->Explain(), expected.engine->Explain());
  }
}

// The sign is of the model where the application reads integers, and in front
// of an operator that computes with them.
TEST(SignednessTest, IntegersThatAreReadAsSuchStay) {
  Network network;
  network.Quantize("q", kOther, 128);
  network.Moved("Transpose", {"q"}, "turned", kOther, 128,
                {IntsAttribute("perm", {0, 2, 1, 3})});
  network.model()
      .Operator("cast", "Cast", {"turned"}, {"y"},
                {StringAttribute("to", "FLOAT32")})
      .Output("y", DataFormat::NONE);
  const std::vector<float> numbers =
      ResultOf<float>(Make(network.model()), "y", IDataType::IDT_FLOAT);
  network.Output("turned", kOther, 128);
  MakeOptions options;
  options.outputs = {"turned"};
  const MadeEngine made = Make(network.model(), options);
  const IDataType type =
      kOther == kS8 ? IDataType::IDT_INT8 : IDataType::IDT_UINT8;
  const std::vector<uint8_t> bytes = ResultOf<uint8_t>(made, "turned", type);
  ASSERT_EQ(numbers.size(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int number = kOther == kS8 ? static_cast<int8_t>(bytes[i]) : bytes[i];
    ASSERT_EQ(numbers[i], static_cast<float>(number)) << i;
  }
  EXPECT_NE(made.engine->Explain().find(kOther == kS8 ? " int8[" : " uint8["),
            std::string::npos)
      << made.engine->Explain();
}

}  // namespace
}  // namespace mace
