// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/model_source.h"

#include <memory>
#include <string>
#include <vector>

namespace mace {
namespace tools {

MaceStatus MapWeights(const Options &options,
                      std::unique_ptr<port::ReadOnlyMemoryRegion> *weights) {
  weights->reset();
  if (options.model_data_file.empty()) return MaceStatus::MACE_SUCCESS;
  return GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
      options.model_data_file.c_str(), weights);
}

std::vector<std::string> Names(const std::vector<TensorSpec> &specs) {
  std::vector<std::string> names;
  for (const TensorSpec &spec : specs) names.push_back(spec.name);
  return names;
}

}  // namespace tools
}  // namespace mace
