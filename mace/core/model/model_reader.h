// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_MODEL_MODEL_READER_H_
#define MACE_CORE_MODEL_MODEL_READER_H_

#include <cstddef>

#include "mace/core/base/status.h"
#include "mace/core/model/model.h"

namespace mace {

// Parses a mace.Model message. Any bytes are safe to pass. The result is
// well-formed (its ranks, element types and layouts are valid), but its names,
// sizes and operators are not checked yet: see model_check.h.
//
// MACE_INVALID_ARGS if the bytes are not a model or a damaged one,
// MACE_UNSUPPORTED if a newer converter wrote them.
Result<Model> ReadModel(const void *data, size_t size);

// MACE_INVALID_ARGS for a size that no model can have. ReadModel checks the
// size, too.
MaceStatus CheckModelSize(size_t size);

}  // namespace mace

#endif  // MACE_CORE_MODEL_MODEL_READER_H_
