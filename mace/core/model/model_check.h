// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What a model must satisfy before anything is built from it: the rules of
// mace/proto/README.md, and the schema of every operator. One message reports
// all problems, so that they can be corrected together.

#ifndef MACE_CORE_MODEL_MODEL_CHECK_H_
#define MACE_CORE_MODEL_MODEL_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "mace/core/base/status.h"
#include "mace/core/model/model.h"

namespace mace {

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

#endif  // MACE_CORE_MODEL_MODEL_CHECK_H_
