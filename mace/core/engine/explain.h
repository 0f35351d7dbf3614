// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_ENGINE_EXPLAIN_H_
#define MACE_CORE_ENGINE_EXPLAIN_H_

#include <string>

#include "mace/public/mace_statistics.h"

namespace mace {

// A placement as text. `shapes_known`: the model or a run has given the input
// shapes.
std::string ExplainText(const std::string &model,
                        bool shapes_known,
                        int threads,
                        const EnginePlacement &placement);

}  // namespace mace

#endif  // MACE_CORE_ENGINE_EXPLAIN_H_
