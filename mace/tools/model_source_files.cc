// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "mace/tools/model_source.h"

namespace mace {
namespace tools {
namespace {

MaceStatus ReadWholeFile(const std::string &path,
                         std::vector<unsigned char> *bytes) {
  std::ifstream file(path, std::ios::binary);
  if (file) {
    bytes->assign(std::istreambuf_iterator<char>(file),
                  std::istreambuf_iterator<char>());
  }
  if (!file || bytes->empty()) {
    return MaceStatus(
        MaceStatus::MACE_INVALID_ARGS,
        "cannot read --model_file " + path + (file ? ": it is empty" : ""));
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace

MaceStatus ModelSource::Load() {
  if (options_.model_file.empty()) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                      "--model_file is required: no model is part of this "
                      "program");
  }
  MaceStatus status = ReadWholeFile(options_.model_file, &graph_);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  return MapWeights(options_, &weights_);
}

MaceStatus ModelSource::CreateEngine(
    const MaceEngineConfig &config, std::shared_ptr<MaceEngine> *engine) const {
  const void *weights = weights_ == nullptr ? nullptr : weights_->data();
  const size_t size =
      weights_ == nullptr ? 0 : static_cast<size_t>(weights_->length());
  return CreateMaceEngineFromProto(
      graph_.data(), graph_.size(), static_cast<const unsigned char *>(weights),
      size, Names(options_.inputs), Names(options_.outputs), config, engine,
      nullptr, nullptr, options_.fake_warmup || options_.plan_only);
}

}  // namespace tools
}  // namespace mace
