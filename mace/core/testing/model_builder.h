// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Writes model files for tests. It has its own protobuf writer, so that reader
// and writer do not share mistakes.

#ifndef MACE_CORE_TESTING_MODEL_BUILDER_H_
#define MACE_CORE_TESTING_MODEL_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace.h"

namespace mace {
namespace core_test {

using Dims = std::vector<int64_t>;

// Fields of a protobuf message, in the order they are added.
class Message {
 public:
  Message &Varint(uint32_t field, uint64_t value);
  Message &Float(uint32_t field, float value);
  Message &Bytes(uint32_t field, const std::string &value);
  Message &PackedVarints(uint32_t field, const std::vector<uint64_t> &values);
  const std::string &data() const { return data_; }

 private:
  void Raw(uint64_t varint);
  std::string data_;
};

// Attributes of an operator, as encoded messages.
std::string IntAttribute(const std::string &name, int64_t value);
std::string FloatAttribute(const std::string &name, float value);
std::string StringAttribute(const std::string &name, const std::string &value);
std::string IntsAttribute(const std::string &name, const Dims &values);
std::string FloatsAttribute(const std::string &name,
                            const std::vector<float> &values);

// The message that says what integers stand for. `type`: of a quantized
// operator's result.
std::string QuantizationMessage(const std::vector<float> &scales,
                                const Dims &zero_points = {},
                                int64_t axis = 0,
                                DataType type = DataType::kUnknown);

class ModelBuilder {
 public:
  // Of what the next call adds: an input, an output, a constant, or each output
  // of an operator. Messages as above; an empty one for what is not quantized.
  ModelBuilder &Quantized(const std::vector<std::string> &messages);
  // Of the next input.
  ModelBuilder &LargestShape(const Dims &dims);
  ModelBuilder &Input(const std::string &name,
                      const Dims &dims,
                      DataType type = DataType::kFloat32,
                      DataFormat format = DataFormat::NHWC,
                      const std::string &alias = "");
  ModelBuilder &Output(const std::string &name,
                       DataFormat format = DataFormat::NHWC,
                       const std::string &alias = "");
  ModelBuilder &Operator(const std::string &name,
                         const std::string &type,
                         const std::vector<std::string> &inputs,
                         const std::vector<std::string> &outputs,
                         const std::vector<std::string> &attributes = {});
  // Appends the bytes to the data, at a multiple of 64.
  ModelBuilder &Constant(const std::string &name,
                         const Dims &dims,
                         const std::vector<float> &values);
  ModelBuilder &Constant(const std::string &name,
                         const Dims &dims,
                         const std::vector<int32_t> &values);
  // Appends bytes to the data, at a multiple of 64; returns where.
  uint64_t AppendWeights(const void *data, size_t size);
  // Writes the arguments unchecked, for packed constants and for models that
  // are wrong on purpose.
  ModelBuilder &RawConstant(const std::string &name,
                            const Dims &dims,
                            DataType type,
                            ConstantLayout layout,
                            uint64_t groups,
                            uint64_t offset,
                            uint64_t size);
  // The operators that are added from now on belong to it.
  ModelBuilder &Subgraph(const std::string &name);
  // `input` of the next run is `output` of this one.
  ModelBuilder &State(const std::string &input, const std::string &output);
  ModelBuilder &Version(uint64_t version);
  ModelBuilder &DataSize(uint64_t size);
  ModelBuilder &Crc32(uint32_t crc);
  // The hints with these names; not written unless set.
  ModelBuilder &Winograd(uint64_t tile);
  ModelBuilder &DataTypes(const std::string &weights_and_arithmetic);
  ModelBuilder &Opencl(bool limit_kernel_time,
                       uint64_t window_size,
                       const std::string &memory);

  std::string graph() const;
  const std::string &weights() const { return weights_; }

 private:
  // Appends what Quantized gave, and forgets it.
  void AddQuantization(uint32_t field, Message *message);

  uint64_t version_ = 1;
  uint64_t subgraphs_ = 0;
  bool has_data_size_ = false;
  uint64_t data_size_ = 0;
  uint32_t crc32_ = 0;
  bool has_opencl_ = false;
  bool limit_kernel_time_ = false;
  uint64_t window_size_ = 0;
  std::string opencl_memory_;
  bool has_winograd_ = false;
  uint64_t winograd_ = 0;
  std::string data_types_;
  Message body_;
  std::string weights_;
  std::vector<std::string> quantized_;
  Dims largest_shape_;
};

}  // namespace core_test
}  // namespace mace

#endif  // MACE_CORE_TESTING_MODEL_BUILDER_H_
