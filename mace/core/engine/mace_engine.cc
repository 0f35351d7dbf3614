// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The public entry points: only a MaceStatus leaves them, never an exception.

#include <utility>

#include "mace/core/base/status.h"
#include "mace/core/engine/engine.h"
#include "mace/core/engine/version.h"
#include "mace/core/graph/engine_options.h"

namespace mace {
namespace {

MaceStatus Create(const EngineRequest &request,
                  std::unique_ptr<port::ReadOnlyMemoryRegion> region,
                  std::shared_ptr<MaceEngine> *engine,
                  bool *weights_unused) {
  MACE_ASSIGN_OR_RETURN(std::unique_ptr<MaceEngine::Impl> impl,
                        MaceEngine::Impl::Create(request));
  if (region != nullptr) impl->KeepRegion(std::move(region));
  if (weights_unused != nullptr) *weights_unused = impl->weights_unused();
  *engine = std::make_shared<MaceEngine>(std::move(impl));
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace

const char *MaceVersion() { return MACE_VERSION; }

MaceEngine::MaceEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MaceEngine::~MaceEngine() = default;

MaceEngine::Impl *MaceEngine::impl() { return impl_.get(); }

MaceStatus MaceEngine::Run(const std::map<std::string, MaceTensor> &inputs,
                           std::map<std::string, MaceTensor> *outputs,
                           RunMetadata *run_metadata) {
  try {
    return impl_->Run(inputs, outputs, run_metadata);
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

MaceStatus MaceEngine::ReleaseIntermediateBuffer() {
  try {
    return impl_->ReleaseIntermediateBuffer();
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

MaceStatus MaceEngine::ResetStates() {
  try {
    return impl_->ResetStates();
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

EngineStats MaceEngine::GetStats() const { return impl_->GetStats(); }

EnginePlacement MaceEngine::GetPlacement() const {
  try {
    return impl_->GetPlacement();
  } catch (...) {
    return EnginePlacement();  // no memory for the answer
  }
}

std::string MaceEngine::Explain() const {
  try {
    return impl_->Explain();
  } catch (...) {
    return std::string();  // no memory for the text
  }
}

MaceStatus CreateMaceEngineFromProto(
    const unsigned char *model_graph_proto,
    size_t model_graph_proto_size,
    const unsigned char *model_weights_data,
    size_t model_weights_data_size,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine,
    bool *model_data_unused,
    MaceEngine *tutor,
    bool fake_warmup) {
  try {
    if (engine == nullptr) return InvalidArgs("`engine` is null");
    EngineRequest request;
    request.graph = model_graph_proto;
    request.graph_size = model_graph_proto_size;
    request.weights = model_weights_data;
    request.weights_size = model_weights_data_size;
    request.input_nodes = input_nodes;
    request.output_nodes = output_nodes;
    if (config.impl() == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
    request.options = &config.impl()->options;
    request.fake_warmup = fake_warmup;
    if (tutor != nullptr) request.arena = tutor->impl()->arena();
    return Create(request, nullptr, engine, model_data_unused);
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

MaceStatus CreateMaceEngineFromProto(
    const std::vector<unsigned char> &model_pb,
    const std::string &model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine) {
  try {
    if (engine == nullptr) return InvalidArgs("`engine` is null");
    EngineRequest request;
    request.graph = model_pb.data();
    request.graph_size = model_pb.size();
    request.input_nodes = input_nodes;
    request.output_nodes = output_nodes;
    if (config.impl() == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
    request.options = &config.impl()->options;
    std::unique_ptr<port::ReadOnlyMemoryRegion> region;
    // A model without constants needs no file.
    if (!model_data_file.empty()) {
      MACE_RETURN_IF_ERROR(GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
          model_data_file.c_str(), &region));
      request.weights = region->data();
      request.weights_size = static_cast<size_t>(region->length());
    }
    return Create(request, std::move(region), engine, nullptr);
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

MaceStatus CreateMaceEngineFromProto(
    const std::vector<unsigned char> &model_pb,
    const std::string &model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    DeviceType device_type,
    std::shared_ptr<MaceEngine> *engine) {
  try {
    return CreateMaceEngineFromProto(model_pb, model_data_file, input_nodes,
                                     output_nodes,
                                     MaceEngineConfig(device_type), engine);
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

}  // namespace mace
