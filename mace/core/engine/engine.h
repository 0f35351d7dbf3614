// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The engine: load, place, prepare and run a model.
//
//   load     read and check the model, keep what the wanted outputs need
//   place    decide which device runs which operator (placement.h)
//   prepare  compute everything that depends on the input shapes; the results
//            for the last few sets of shapes are kept (placed_graph.h)
//   run      match the caller's tensors (ports.h), run the segments
//
// A device that fails is removed: the graph is placed again on the others, and
// the run is repeated there.

#ifndef MACE_CORE_ENGINE_ENGINE_H_
#define MACE_CORE_ENGINE_ENGINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/status.h"
#include "mace/core/base/visibility.h"
#include "mace/core/engine/placed_graph.h"
#include "mace/core/engine/ports.h"
#include "mace/core/engine/states.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/engine_options.h"
#include "mace/core/graph/graph.h"
#include "mace/core/memory/arena.h"
#include "mace/core/model/model.h"
#include "mace/public/mace.h"

namespace mace {

struct EngineRequest {
  const void *graph = nullptr;
  size_t graph_size = 0;
  const void *weights = nullptr;
  size_t weights_size = 0;
  // Empty lists mean all inputs and outputs of the model.
  std::vector<std::string> input_nodes;
  std::vector<std::string> output_nodes;
  const EngineOptions *options = nullptr;
  std::shared_ptr<Arena> arena;  // a tutor's, or null
  bool fake_warmup = false;
};

class MACE_HIDDEN MaceEngine::Impl {
 public:
  static Result<std::unique_ptr<Impl>> Create(const EngineRequest &request);

  // Prepares a run and describes it instead if the metadata has a visitor.
  MaceStatus Run(const CallerTensors &inputs,
                 CallerTensors *outputs,
                 RunMetadata *run_metadata);
  MaceStatus ReleaseIntermediateBuffer();
  MaceStatus ResetStates();
  EngineStats GetStats() const;
  EnginePlacement GetPlacement() const;
  std::string Explain() const;

  const std::shared_ptr<Arena> &arena() const { return arena_; }
  // True if the caller's weights are no longer needed.
  bool weights_unused() const { return weights_unused_; }
  // Keeps a mapped file as long as the engine lives.
  void KeepRegion(std::unique_ptr<port::ReadOnlyMemoryRegion> region) {
    region_ = std::move(region);
  }

 private:
  Impl() = default;
  MaceStatus Load(const EngineRequest &request);
  MaceStatus ReadWishes(const EngineOptions &options);
  MaceStatus MakeDevices(const EngineOptions &options);
  MaceStatus StartDevices();
  // Notes why a device is not used; its status if nothing may take its place.
  MaceStatus LeaveOut(DeviceType type, const MaceStatus &status);
  MaceStatus PlaceWeights(const EngineRequest &request, const void **weights);
  // Places the graph, for inputs of these shapes (none: they are not known), on
  // all devices except `failed` (null: none), which failed with `status`, and
  // except those that fail during placement. Changes nothing unless it
  // succeeds. The arena is locked if `failed` is not null.
  MaceStatus PlaceGraph(const std::vector<Shape> &shapes,
                        Device *failed,
                        MaceStatus status);
  // Shapes of graph_->inputs() as the model declares them, the largest where it
  // has limits; empty if some are open.
  std::vector<Shape> DeclaredShapes() const;
  // Sets what the arena may hold beside weights and states, for the prepared
  // run. The arena is locked.
  MaceStatus LimitArena();
  EngineStats StatsLocked() const;
  MaceStatus WarmUp();
  MaceStatus RunOnce(const CallerTensors &inputs,
                     CallerTensors *outputs,
                     RunMetadata *run_metadata);
  // Called after a run with inputs of `shapes` failed with `status`. True if
  // the failure was that of a device that the engine does not need; the graph
  // is then placed on the others. A device that does not support these shapes,
  // for which the graph was not placed, only loses the operators in question.
  bool PlaceElsewhere(const std::vector<Shape> &shapes,
                      const MaceStatus &status);
  EnginePlacement PlacementLocked() const;

  Model model_;
  std::unique_ptr<port::ReadOnlyMemoryRegion> region_;
  AlignedMemory weights_copy_;
  bool weights_unused_ = false;
  size_t memory_limit_ = 0;  // in bytes; 0: none
  // A failure of a device ends the run.
  bool check_numerics_ = false;
  // Of each subgraph of the model.
  DeviceWishes wishes_;
  // Those that the caller named and that started; the host is the last.
  std::vector<std::unique_ptr<Device>> devices_;
  HostDevice *host_ = nullptr;
  // Devices that the caller named and that are not in devices_.
  std::vector<DeviceRefusal> left_out_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<States> states_;
  std::unique_ptr<PlacedGraph> placed_;
  std::shared_ptr<Arena> arena_;
  // Of the current run; kept between runs, so that a run allocates nothing.
  std::vector<CallerTensor> callers_;
  std::vector<Shape> shapes_;
};

}  // namespace mace

#endif  // MACE_CORE_ENGINE_ENGINE_H_
