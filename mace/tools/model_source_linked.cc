// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace_engine_factory.h"
#include "mace/tools/model_source.h"

namespace mace {
namespace tools {

MaceStatus ModelSource::Load() {
  if (!options_.model_file.empty()) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                      "--model_file: the models are part of this program; "
                      "leave it out and choose one by --model_name");
  }
  return MapWeights(options_, &weights_);
}

MaceStatus ModelSource::CreateEngine(
    const MaceEngineConfig &config, std::shared_ptr<MaceEngine> *engine) const {
  const void *weights = weights_ == nullptr ? nullptr : weights_->data();
  const size_t size =
      weights_ == nullptr ? 0 : static_cast<size_t>(weights_->length());
  return CreateMaceEngineFromCode(
      options_.model_name, static_cast<const unsigned char *>(weights), size,
      Names(options_.inputs), Names(options_.outputs), config, engine, nullptr,
      nullptr, options_.fake_warmup || options_.plan_only);
}

}  // namespace tools
}  // namespace mace
