// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/testing/model_builder.h"

#include <cstring>
#include <utility>

namespace mace {
namespace core_test {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLength = 2;
constexpr uint32_t kFixed32 = 5;

std::vector<uint64_t> Unsigned(const Dims &values) {
  return std::vector<uint64_t>(values.begin(), values.end());
}

std::vector<uint64_t> ZigZag(const Dims &values) {
  std::vector<uint64_t> coded;
  for (int64_t value : values) {
    coded.push_back((static_cast<uint64_t>(value) << 1) ^
                    static_cast<uint64_t>(value >> 63));
  }
  return coded;
}

}  // namespace

void Message::Raw(uint64_t varint) {
  while (varint >= 0x80) {
    data_ += static_cast<char>(varint | 0x80);
    varint >>= 7;
  }
  data_ += static_cast<char>(varint);
}

Message &Message::Varint(uint32_t field, uint64_t value) {
  Raw(field << 3 | kVarint);
  Raw(value);
  return *this;
}

Message &Message::Float(uint32_t field, float value) {
  Raw(field << 3 | kFixed32);
  data_.append(reinterpret_cast<const char *>(&value), sizeof(value));
  return *this;
}

Message &Message::Bytes(uint32_t field, const std::string &value) {
  Raw(field << 3 | kLength);
  Raw(value.size());
  data_ += value;
  return *this;
}

Message &Message::PackedVarints(uint32_t field,
                                const std::vector<uint64_t> &values) {
  Message packed;
  for (uint64_t value : values) packed.Raw(value);
  return Bytes(field, packed.data());
}

std::string IntAttribute(const std::string &name, int64_t value) {
  return Message()
      .Bytes(1, name)
      .Varint(2, static_cast<uint64_t>(value))
      .data();
}

std::string FloatAttribute(const std::string &name, float value) {
  return Message().Bytes(1, name).Float(3, value).data();
}

std::string StringAttribute(const std::string &name, const std::string &value) {
  return Message().Bytes(1, name).Bytes(4, value).data();
}

std::string IntsAttribute(const std::string &name, const Dims &values) {
  return Message()
      .Bytes(1, name)
      .Bytes(5, Message().PackedVarints(1, ZigZag(values)).data())
      .data();
}

std::string FloatsAttribute(const std::string &name,
                            const std::vector<float> &values) {
  const std::string packed(reinterpret_cast<const char *>(values.data()),
                           values.size() * sizeof(float));
  return Message()
      .Bytes(1, name)
      .Bytes(6, Message().Bytes(1, packed).data())
      .data();
}

std::string QuantizationMessage(const std::vector<float> &scales,
                                const Dims &zero_points,
                                int64_t axis,
                                DataType type) {
  const std::string packed(reinterpret_cast<const char *>(scales.data()),
                           scales.size() * sizeof(float));
  Message message;
  message.Bytes(1, packed);
  if (!zero_points.empty()) message.PackedVarints(2, ZigZag(zero_points));
  if (axis != 0) message.Varint(3, static_cast<uint64_t>(axis));
  if (type != DataType::kUnknown) {
    message.Varint(4, static_cast<uint64_t>(type));
  }
  return message.data();
}

ModelBuilder &ModelBuilder::Quantized(
    const std::vector<std::string> &messages) {
  quantized_ = messages;
  return *this;
}

void ModelBuilder::AddQuantization(uint32_t field, Message *message) {
  for (const std::string &quantization : quantized_) {
    message->Bytes(field, quantization);
  }
  quantized_.clear();
}

ModelBuilder &ModelBuilder::LargestShape(const Dims &dims) {
  largest_shape_ = dims;
  return *this;
}

ModelBuilder &ModelBuilder::Input(const std::string &name,
                                  const Dims &dims,
                                  DataType type,
                                  DataFormat format,
                                  const std::string &alias) {
  Message info;
  info.Bytes(1, name).PackedVarints(2, Unsigned(dims));
  info.Varint(3, static_cast<uint64_t>(type));
  info.Varint(4, static_cast<uint64_t>(format)).Bytes(5, alias);
  AddQuantization(7, &info);
  if (!largest_shape_.empty()) {
    info.PackedVarints(8, Unsigned(std::exchange(largest_shape_, {})));
  }
  body_.Bytes(4, info.data());
  return *this;
}

ModelBuilder &ModelBuilder::Output(const std::string &name,
                                   DataFormat format,
                                   const std::string &alias) {
  Message info;
  info.Bytes(1, name).Varint(4, static_cast<uint64_t>(format)).Bytes(5, alias);
  AddQuantization(7, &info);
  body_.Bytes(5, info.data());
  return *this;
}

ModelBuilder &ModelBuilder::Operator(
    const std::string &name,
    const std::string &type,
    const std::vector<std::string> &inputs,
    const std::vector<std::string> &outputs,
    const std::vector<std::string> &attributes) {
  Message def;
  def.Bytes(1, name).Bytes(2, type);
  for (const std::string &input : inputs) def.Bytes(3, input);
  for (const std::string &output : outputs) def.Bytes(4, output);
  for (const std::string &attribute : attributes) def.Bytes(5, attribute);
  AddQuantization(9, &def);
  if (subgraphs_ > 1) def.Varint(10, subgraphs_ - 1);
  body_.Bytes(6, def.data());
  return *this;
}

uint64_t ModelBuilder::AppendWeights(const void *data, size_t size) {
  weights_.resize((weights_.size() + 63) / 64 * 64);
  const uint64_t offset = weights_.size();
  weights_.append(static_cast<const char *>(data), size);
  return offset;
}

ModelBuilder &ModelBuilder::Constant(const std::string &name,
                                     const Dims &dims,
                                     const std::vector<float> &values) {
  const size_t bytes = values.size() * sizeof(float);
  const uint64_t offset = AppendWeights(values.data(), bytes);
  return RawConstant(name, dims, DataType::kFloat32, ConstantLayout::kPlain, 0,
                     offset, bytes);
}

ModelBuilder &ModelBuilder::Constant(const std::string &name,
                                     const Dims &dims,
                                     const std::vector<int32_t> &values) {
  const size_t bytes = values.size() * sizeof(int32_t);
  const uint64_t offset = AppendWeights(values.data(), bytes);
  return RawConstant(name, dims, DataType::kInt32, ConstantLayout::kPlain, 0,
                     offset, bytes);
}

ModelBuilder &ModelBuilder::RawConstant(const std::string &name,
                                        const Dims &dims,
                                        DataType type,
                                        ConstantLayout layout,
                                        uint64_t groups,
                                        uint64_t offset,
                                        uint64_t size) {
  Message constant;
  constant.Bytes(1, name).PackedVarints(2, Unsigned(dims));
  constant.Varint(3, static_cast<uint64_t>(type));
  constant.Varint(4, static_cast<uint64_t>(layout));
  constant.Varint(5, groups).Varint(6, offset).Varint(7, size);
  AddQuantization(8, &constant);
  body_.Bytes(7, constant.data());
  return *this;
}

ModelBuilder &ModelBuilder::Subgraph(const std::string &name) {
  ++subgraphs_;
  body_.Bytes(14, Message().Bytes(1, name).data());
  return *this;
}

ModelBuilder &ModelBuilder::State(const std::string &input,
                                  const std::string &output) {
  version_ = 4;
  body_.Bytes(13, Message().Bytes(1, input).Bytes(2, output).data());
  return *this;
}

ModelBuilder &ModelBuilder::Version(uint64_t version) {
  version_ = version;
  return *this;
}

ModelBuilder &ModelBuilder::DataSize(uint64_t size) {
  has_data_size_ = true;
  data_size_ = size;
  return *this;
}

ModelBuilder &ModelBuilder::Crc32(uint32_t crc) {
  crc32_ = crc;
  return *this;
}

ModelBuilder &ModelBuilder::Winograd(uint64_t tile) {
  has_winograd_ = true;
  winograd_ = tile;
  return *this;
}

ModelBuilder &ModelBuilder::DataTypes(
    const std::string &weights_and_arithmetic) {
  data_types_ = weights_and_arithmetic;
  return *this;
}

ModelBuilder &ModelBuilder::Opencl(bool limit_kernel_time,
                                   uint64_t window_size,
                                   const std::string &memory) {
  has_opencl_ = true;
  opencl_memory_ = memory;
  limit_kernel_time_ = limit_kernel_time;
  window_size_ = window_size;
  return *this;
}

std::string ModelBuilder::graph() const {
  Message head;
  if (version_ != 0) head.Varint(1, version_);
  head.Bytes(2, "test_model").Bytes(3, "model_builder");
  Message tail;
  tail.Varint(8, has_data_size_ ? data_size_ : weights_.size());
  tail.Varint(9, crc32_);
  if (has_winograd_) {
    // Surrounded by hints that this reader ignores.
    tail.Bytes(10, Message()
                       .Bytes(1, "cpu")
                       .Varint(2, winograd_)
                       .Bytes(3, "fp16_fp32")
                       .data());
  }
  if (!data_types_.empty()) {
    tail.Bytes(10, Message().Bytes(3, data_types_).data());
  }
  if (has_opencl_) {
    tail.Bytes(10, Message()
                       .Varint(4, limit_kernel_time_ ? 1 : 0)
                       .Varint(5, window_size_)
                       .Bytes(8, opencl_memory_)
                       .data());
  }
  return head.data() + body_.data() + tail.data();
}

}  // namespace core_test
}  // namespace mace
