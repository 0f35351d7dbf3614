// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_MODEL_READER_H_
#define MACE_CORE_MODEL_MODEL_READER_H_

#include <cstddef>

#include "mace/core/base/status.h"
#include "mace/core/model/model.h"

namespace mace {

// Parses a mace.Model message. Any bytes are safe to pass. What comes back is
// well-formed (ranks, element types and layouts that exist) but its names,
// sizes and operators are still to be checked: see model_check.h.
//
// MACE_INVALID_ARGS when the bytes are no model or a damaged one,
// MACE_UNSUPPORTED when a newer converter wrote them.
Result<Model> ReadModel(const void *data, size_t size);

// MACE_INVALID_ARGS for a size that no model has; ReadModel checks it, too.
MaceStatus CheckModelSize(size_t size);

}  // namespace mace

#endif  // MACE_CORE_MODEL_MODEL_READER_H_
