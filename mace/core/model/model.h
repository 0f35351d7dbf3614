// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A model file in memory; see mace/proto/README.md. ReadModel finds what is in
// it, and the checks say what it must satisfy before anything is built from it.
// One message reports all problems, so that they can be corrected together.

#ifndef MACE_CORE_MODEL_MODEL_H_
#define MACE_CORE_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
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

// Parses a mace.Model message. Any bytes are safe to pass. The result is
// well-formed (its ranks, element types and layouts are valid), but its names,
// sizes and operators are not checked yet.
//
// MACE_INVALID_ARGS if the bytes are not a model or a damaged one,
// MACE_UNSUPPORTED if a newer converter wrote them.
Result<Model> ReadModel(const void *data, size_t size);

// MACE_INVALID_ARGS for a size that no model can have. ReadModel checks the
// size, too.
MaceStatus CheckModelSize(size_t size);

// Names, order, constants and their byte ranges. `data_size` is the size of
// the weights that came with the model.
MaceStatus CheckModelStructure(const Model &model, size_t data_size);

// Checks every operator against the schema registered for its type on the CPU,
// which has every operator: type, ports, constants, attributes.
// MACE_UNSUPPORTED if the only problems are operators and attributes that this
// library does not know, else MACE_INVALID_ARGS. The structure must have been
// checked before.
MaceStatus CheckOperators(const Model &model);

// "float32, int32" for a set of DataTypeBit.
std::string DataTypeNames(uint32_t bits);

}  // namespace mace

#endif  // MACE_CORE_MODEL_MODEL_H_
