// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_GRAPH_ENGINE_CONFIG_H_
#define MACE_CORE_GRAPH_ENGINE_CONFIG_H_

#include "mace/core/base/visibility.h"
#include "mace/core/graph/engine_options.h"
#include "mace/public/mace_config.h"

namespace mace {

class MACE_HIDDEN MaceEngineConfig::Impl {
 public:
  EngineOptions options;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_ENGINE_CONFIG_H_
