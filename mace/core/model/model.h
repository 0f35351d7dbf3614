// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A model file in memory, as the reader found it; see mace/proto/README.md.

#ifndef MACE_CORE_MODEL_MODEL_H_
#define MACE_CORE_MODEL_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/model/op.h"
#include "mace/core/model/quantization.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace_tensor.h"

namespace mace {

// The newest format_version that this library reads.
constexpr uint32_t kModelFormatVersion = 7;

struct ValueInfo {
  std::string name;
  Shape shape;  // as the user sees it; -1: dimension not known; may be []
  DataType data_type = DataType::kUnknown;
  DataFormat data_format = DataFormat::NONE;
  std::string alias;
  Quantization quantization;
  Shape largest_shape;  // the same with upper limits; [] if there are none
};

struct ConstantInfo {
  std::string name;
  Shape dims;
  DataType data_type = DataType::kUnknown;
  ConstantLayout layout = ConstantLayout::kPlain;
  int64_t groups = 1;
  uint64_t offset = 0;
  uint64_t size = 0;
  Quantization quantization;
};

// A value that is kept from one run to the next: the output of one run is the
// input of the next.
struct StateInfo {
  std::string input;
  std::string output;
};

struct Model {
  uint32_t format_version = 0;
  std::string name;
  std::string producer;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<OperatorDef> operators;
  std::vector<ConstantInfo> constants;
  std::vector<StateInfo> states;
  // Names; empty where all of the model is one, which has the model's name.
  std::vector<std::string> subgraphs;
  uint64_t data_size = 0;
  uint32_t data_crc32 = 0;
  DeploymentHints hints;
};

// Whether constants of that type may have that layout.
bool LayoutTakes(ConstantLayout layout, DataType type);

// Bytes that a constant takes in the data file; -1 if its dims are negative,
// overflow, or do not suit its layout and groups. LayoutTakes must be true for
// its layout and type.
int64_t StoredBytes(const ConstantInfo &constant);

}  // namespace mace

#endif  // MACE_CORE_MODEL_MODEL_H_
