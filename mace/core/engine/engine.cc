// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/engine/engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mace/core/base/crc32.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/pages.h"
#include "mace/core/engine/placed_graph.h"
#include "mace/core/memory/border.h"
#include "mace/core/model/model.h"

namespace mace {
namespace {

bool Contains(const std::vector<DeviceType> &types, DeviceType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

Result<std::unique_ptr<MaceEngine::Impl>> MaceEngine::Impl::Create(
    const EngineRequest &request) {
  std::unique_ptr<Impl> engine(new Impl());
  MACE_RETURN_IF_ERROR(engine->Load(request));
  return engine;
}

MaceStatus MaceEngine::Impl::Load(const EngineRequest &request) {
  MACE_ASSIGN_OR_RETURN(model_, ReadModel(request.graph, request.graph_size));
  MACE_RETURN_IF_ERROR(CheckModelStructure(model_, request.weights_size));
  MACE_RETURN_IF_ERROR(MakeDevices(*request.options));
  MACE_RETURN_IF_ERROR(CheckOperators(model_));
  for (const auto &device : devices_) {
    MACE_RETURN_IF_ERROR(device->CheckHints(model_.hints));
  }
  const void *weights = nullptr;
  MACE_RETURN_IF_ERROR(PlaceWeights(request, &weights));
  arena_ = request.arena != nullptr ? request.arena : std::make_shared<Arena>();

  std::vector<std::string> output_names = request.output_nodes;
  if (output_names.empty()) {
    for (const ValueInfo &info : model_.outputs) {
      output_names.push_back(info.name);
    }
  }
  if (output_names.empty()) {
    return InvalidArgs(
        "model '", model_.name,
        "' declares no outputs; name the tensors that you want as outputs");
  }
  MACE_ASSIGN_OR_RETURN(graph_,
                        Graph::Create(model_, weights, output_names, host_));
  MACE_ASSIGN_OR_RETURN(Ports ports,
                        Ports::Create(*graph_, request.input_nodes));
  ports_ = std::make_unique<Ports>(std::move(ports));
  MACE_ASSIGN_OR_RETURN(States states, States::Create(*graph_));
  states_ = std::make_unique<States>(std::move(states));
  callers_.resize(ports_->inputs().size() + ports_->outputs().size() +
                  2 * states_->count());
  shapes_.resize(graph_->inputs().size());
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const Shape *shape = states_->ShapeOf(graph_->inputs()[i]);
    if (shape != nullptr) shapes_[i] = *shape;
  }
  MACE_RETURN_IF_ERROR(StartDevices());
  MACE_RETURN_IF_ERROR(PlaceGraph(DeclaredShapes(), nullptr, MaceStatus()));
  memory_limit_ = request.options->memory_limit;
  {
    std::lock_guard<std::mutex> lock(arena_->mutex);
    MACE_RETURN_IF_ERROR(LimitArena());
  }
  if (request.fake_warmup) MACE_RETURN_IF_ERROR(WarmUp());
  VLOG(1) << "loaded model '" << model_.name
          << "': " << placed_->OperatorCount() << " operators, "
          << model_.data_size << " bytes of constants, "
          << placed_->PreparedBytes() + graph_->prepared()->bytes()
          << " bytes prepared";
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::ReadWishes(const EngineOptions &options) {
  std::vector<std::string> names = model_.subgraphs;
  if (names.empty()) names.push_back(model_.name);
  wishes_.assign(names.size(), options.devices);
  for (const auto &[subgraph, devices] : options.subgraph_devices) {
    const auto found = std::find(names.begin(), names.end(), subgraph);
    if (found == names.end()) {
      std::string known;
      for (const std::string &name : names) {
        known += (known.empty() ? "'" : ", '") + name + "'";
      }
      return InvalidArgs("a runtime is set for subgraph '", subgraph,
                         "', but the model has ", known);
    }
    wishes_[static_cast<size_t>(found - names.begin())] = devices;
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::LeaveOut(DeviceType type,
                                      const MaceStatus &status) {
  for (const std::vector<DeviceType> &wish : wishes_) {
    if (Contains(wish, type) && !Contains(wish, CPU)) return status;
  }
  left_out_.push_back({type, StatusMessage(status)});
  LOG(WARNING) << DeviceName(type)
               << " is left out: " << left_out_.back().reason;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::MakeDevices(const EngineOptions &options) {
  MACE_RETURN_IF_ERROR(ReadWishes(options));
  check_numerics_ = options.check_numerics;
  std::vector<DeviceType> asked = {CPU};  // always last, wherever it was named
  for (const std::vector<DeviceType> &wish : wishes_) {
    for (DeviceType type : wish) {
      if (Contains(asked, type)) continue;
      asked.push_back(type);
      auto device = DeviceRegistration::Create(type, options);
      if (device.ok()) {
        devices_.push_back(std::move(device.value()));
      } else {
        MACE_RETURN_IF_ERROR(LeaveOut(type, device.status()));
      }
    }
  }
  MACE_ASSIGN_OR_RETURN(std::unique_ptr<Device> host,
                        DeviceRegistration::Create(CPU, options));
  host_ = host->AsHost();
  if (host_ == nullptr) {
    return RuntimeError("the CPU runtime of this library is not a host device");
  }
  devices_.push_back(std::move(host));
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::StartDevices() {
  const std::vector<Shape> shapes = DeclaredShapes();
  for (size_t i = 0; i < devices_.size();) {
    const MaceStatus status =
        devices_[i]->Start(*graph_, shapes, wishes_, host_);
    if (IsOk(status)) {
      ++i;
      continue;
    }
    MACE_RETURN_IF_ERROR(LeaveOut(devices_[i]->type(), status));
    devices_.erase(devices_.begin() + static_cast<ptrdiff_t>(i));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::PlaceWeights(const EngineRequest &request,
                                          const void **weights) {
  *weights = request.weights;
  if (request.weights_size == 0) {
    weights_unused_ = true;
    return MaceStatus::MACE_SUCCESS;
  }
  if (request.weights == nullptr) {
    return InvalidArgs("the pointer to the weights is null, but their size is ",
                       request.weights_size, " bytes");
  }
  if (request.options->check_weights) {
    const uint32_t crc = Crc32(request.weights, request.weights_size);
    if (crc != model_.data_crc32) {
      return InvalidArgs("the weights of model '", model_.name,
                         "' are damaged: their checksum is ", crc,
                         ", the model expects ", model_.data_crc32,
                         "; copy or convert the model again");
    }
  }
  if (IsAligned(request.weights, kMemoryAlignment)) {
    return MaceStatus::MACE_SUCCESS;
  }
  LOG(WARNING) << "the weights do not start at a multiple of "
               << kMemoryAlignment << " bytes; " << request.weights_size
               << " bytes are copied";
  if (!weights_copy_.Allocate(request.weights_size)) {
    return OutOfResources("no memory to copy ", request.weights_size,
                          " bytes of weights, which do not start at a "
                          "multiple of ",
                          kMemoryAlignment, " bytes");
  }
  MapNewMemory(weights_copy_.data(), request.weights_size,
               host_->thread_pool());
  std::memcpy(weights_copy_.data(), request.weights, request.weights_size);
  *weights = weights_copy_.data();
  weights_unused_ = true;
  return MaceStatus::MACE_SUCCESS;
}

std::vector<Shape> MaceEngine::Impl::DeclaredShapes() const {
  std::vector<Shape> shapes;
  for (int id : graph_->inputs()) {
    const ValueInfo &info = model_.inputs[graph_->tensors()[id].input_index];
    const Shape &shape =
        info.largest_shape.rank() > 0 ? info.largest_shape : info.shape;
    if (shape.rank() == 0 || shape.CheckedElements() < 0) return {};
    shapes.push_back(info.data_format == DataFormat::NCHW ? NchwToNhwc(shape)
                                                          : shape);
  }
  return shapes;
}

// If the model declares its input shapes, everything is prepared here (with
// limits, for the largest shapes), so that a contradictory model is reported
// when it is loaded, not in its first run.
MaceStatus MaceEngine::Impl::PlaceGraph(const std::vector<Shape> &shapes,
                                        Device *failed,
                                        MaceStatus status) {
  const Device *const ran = failed;
  std::vector<Device *> devices;
  for (const auto &device : devices_) devices.push_back(device.get());
  std::vector<DeviceRefusal> left_out = left_out_;
  std::unique_ptr<PlacedGraph> placed;
  while (placed == nullptr) {
    if (failed != nullptr) {
      left_out.push_back({failed->type(), StatusMessage(status)});
      LOG(WARNING) << DeviceName(failed->type())
                   << " failed and is left out: " << left_out.back().reason;
      devices.erase(std::find(devices.begin(), devices.end(), failed));
      failed = nullptr;
    }
    auto made =
        PlacedGraph::Create(*graph_, devices, wishes_, host_, shapes, &failed);
    if (made.ok()) {
      placed = std::move(made.value());
    } else if (failed == nullptr) {
      return made.status();
    } else {
      status = made.status();
    }
  }
  // Objects that failed devices prepared must be destroyed before the devices.
  placed_ = std::move(placed);
  left_out_ = std::move(left_out);
  for (size_t i = devices_.size(); i-- > 0;) {
    if (std::find(devices.begin(), devices.end(), devices_[i].get()) !=
        devices.end()) {
      continue;
    }
    // One that failed before any run has no memory there, but a tutor's may.
    if (devices_[i].get() == ran) arena_->MemoryOf(ran->type()).reset();
    devices_.erase(devices_.begin() + static_cast<ptrdiff_t>(i));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::LimitArena() {
  arena_->limit = SIZE_MAX;
  if (memory_limit_ == 0) return MaceStatus::MACE_SUCCESS;
  const EngineStats stats = StatsLocked();
  const size_t fixed =
      stats.constant_bytes + stats.prepared_bytes + stats.state_bytes;
  if (fixed > memory_limit_) {
    return OutOfResources("no memory for the weights of model '", model_.name,
                          "' (", fixed, " bytes, over the limit)");
  }
  arena_->limit = memory_limit_ - fixed;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::WarmUp() {
  const std::vector<Shape> shapes = DeclaredShapes();
  if (shapes.size() != graph_->inputs().size()) {
    LOG(WARNING) << "the shapes of the inputs are not fixed, so the model is "
                    "prepared in the first run";
    return MaceStatus::MACE_SUCCESS;
  }
  std::lock_guard<std::mutex> lock(arena_->mutex);
  while (true) {
    auto run = placed_->Prepare(shapes);
    MACE_RETURN_IF_ERROR(LimitArena());
    const MaceStatus status =
        run.ok() ? placed_->TakeMemory(run.value(), arena_.get())
                 : run.status();
    if (IsOk(status) || !PlaceElsewhere(shapes, status)) return status;
  }
}

MaceStatus MaceEngine::Impl::Run(const CallerTensors &inputs,
                                 CallerTensors *outputs,
                                 RunMetadata *run_metadata) {
  const bool describes =
      run_metadata != nullptr && run_metadata->port_visitor != nullptr;
  if (!describes && (outputs == nullptr || outputs->empty())) {
    return InvalidArgs(
        "`outputs` is null or empty; request at least one output");
  }
  std::lock_guard<std::mutex> lock(arena_->mutex);
  while (true) {
    const MaceStatus status = RunOnce(inputs, outputs, run_metadata);
    if (IsOk(status) || check_numerics_ || !PlaceElsewhere(shapes_, status)) {
      return status;
    }
  }
}

MaceStatus MaceEngine::Impl::RunOnce(const CallerTensors &inputs,
                                     CallerTensors *outputs,
                                     RunMetadata *run_metadata) {
  const PortVisitor *visitor =
      run_metadata == nullptr ? nullptr : run_metadata->port_visitor;
  if (visitor != nullptr && visitor->of_inputs) {
    ports_->Visit(nullptr, *visitor);
    return MaceStatus::MACE_SUCCESS;
  }
  MACE_RETURN_IF_ERROR(ports_->MatchInputs(inputs, &callers_, &shapes_));
  MACE_ASSIGN_OR_RETURN(PreparedRun * run, placed_->Prepare(shapes_));
  MACE_RETURN_IF_ERROR(LimitArena());
  if (visitor != nullptr) {
    ports_->Visit(run->shapes.get(), *visitor);
    return MaceStatus::MACE_SUCCESS;
  }
  MACE_RETURN_IF_ERROR(ports_->MatchOutputs(outputs, *run->shapes, &callers_));
  MACE_RETURN_IF_ERROR(states_->Check(*run->shapes));
  states_->Fill(callers_.data() + callers_.size() - 2 * states_->count());
  MACE_RETURN_IF_ERROR(placed_->Run(run, callers_, arena_.get(), run_metadata));
  states_->Commit();
  ports_->SetOutputShapes(*run->shapes, callers_, outputs);
  return MaceStatus::MACE_SUCCESS;
}

bool MaceEngine::Impl::PlaceElsewhere(const std::vector<Shape> &shapes,
                                      const MaceStatus &status) {
  Device *failed = placed_->TakeFailedDevice();
  if (failed == nullptr) return false;
  const PreparedRun *last = placed_->last();
  const bool prepared = last != nullptr && last->inputs == shapes;
  if (status == MaceStatus::MACE_UNSUPPORTED && !prepared) failed = nullptr;
  return IsOk(PlaceGraph(shapes, failed, status));
}

MaceStatus MaceEngine::Impl::ReleaseIntermediateBuffer() {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  arena_->Release();
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::ResetStates() {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  states_->Reset();
  return MaceStatus::MACE_SUCCESS;
}

EngineStats MaceEngine::Impl::GetStats() const {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  return StatsLocked();
}

EngineStats MaceEngine::Impl::StatsLocked() const {
  EngineStats stats{};
  stats.arena_bytes = arena_->bytes();
  stats.state_bytes = states_->bytes();
  stats.operator_count = placed_->OperatorCount();
  stats.prepared_bytes = placed_->PreparedBytes() +
                         graph_->prepared()->bytes() + weights_copy_.bytes();
  if (weights_copy_.bytes() == 0) {
    for (const GraphTensor &entry : graph_->tensors()) {
      if (entry.source != TensorSource::kConstant) continue;
      stats.constant_bytes += static_cast<size_t>(entry.stored_bytes);
    }
  }
  if (const PreparedRun *run = placed_->last(); run != nullptr) {
    for (const auto &partition : run->partitions) {
      if (partition != nullptr) stats.tensor_bytes += partition->TensorBytes();
    }
  }
  return stats;
}

EnginePlacement MaceEngine::Impl::GetPlacement() const {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  return PlacementLocked();
}

EnginePlacement MaceEngine::Impl::PlacementLocked() const {
  EnginePlacement result = placed_->Explain();
  result.left_out = left_out_;
  return result;
}

std::string MaceEngine::Impl::Explain() const {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  return ExplainText(model_.name, placed_->last() != nullptr,
                     host_->thread_pool()->thread_count(), PlacementLocked());
}

}  // namespace mace
