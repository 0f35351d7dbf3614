// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The source of mace_run's model. Two files implement this class, and a program
// links one of them: model_source_files.cc reads the files that the flags name;
// model_source_linked.cc uses models that are part of the program.

#ifndef MACE_TOOLS_MODEL_SOURCE_H_
#define MACE_TOOLS_MODEL_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "mace/tools/options.h"

namespace mace {
namespace tools {

class ModelSource {
 public:
  explicit ModelSource(const Options &options) : options_(options) {}

  // Reads or maps the files, again at each call.
  MaceStatus Load();
  // After Load.
  MaceStatus CreateEngine(const MaceEngineConfig &config,
                          std::shared_ptr<MaceEngine> *engine) const;

 private:
  const Options &options_;
  std::vector<unsigned char> graph_;
  std::unique_ptr<port::ReadOnlyMemoryRegion> weights_;
};

// Maps the weights, if the flags name a file with weights.
inline MaceStatus MapWeights(
    const Options &options,
    std::unique_ptr<port::ReadOnlyMemoryRegion> *weights) {
  weights->reset();
  if (options.model_data_file.empty()) return MaceStatus::MACE_SUCCESS;
  return GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
      options.model_data_file.c_str(), weights);
}

inline std::vector<std::string> Names(const std::vector<TensorSpec> &specs) {
  std::vector<std::string> names;
  for (const TensorSpec &spec : specs) names.push_back(spec.name);
  return names;
}

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_MODEL_SOURCE_H_
