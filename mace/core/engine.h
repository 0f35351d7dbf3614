// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A model made ready to run: load ▶ place ▶ plan ▶ run.
//
//   load   read and check the model, make and initialise its operators;
//   place  start the device that was asked for (one per engine so far);
//   plan   infer shapes, give every tensor its place in the arena; done again
//          when an input shape changes, with the last few plans kept;
//   run    bring inputs in, run the operators, hand outputs out.

#ifndef MACE_CORE_ENGINE_H_
#define MACE_CORE_ENGINE_H_

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/arena.h"
#include "mace/core/arena_layout.h"
#include "mace/core/engine_options.h"
#include "mace/core/memory_plan.h"
#include "mace/core/model.h"
#include "mace/core/program.h"
#include "mace/core/status.h"
#include "mace/core/thread_pool.h"
#include "mace/core/visibility.h"
#include "mace/public/mace.h"

namespace mace {

// A user's tensor, checked and in the engine's terms.
struct UserTensor {
  void *data = nullptr;
  DataType data_type = DataType::kUnknown;
  bool nchw = false;
  int64_t capacity_bytes = 0;
  Shape shape;  // of an input: as the graph sees it
};

// Whether a caller's name is that of a port: its tensor's, or its alias. `info`
// may be null.
bool Means(const ValueInfo *info,
           const std::string &tensor_name,
           const std::string &name);

struct EngineRequest {
  const void *graph = nullptr;
  size_t graph_size = 0;
  const void *weights = nullptr;
  size_t weights_size = 0;
  // Empty lists mean all inputs and outputs of the model.
  std::vector<std::string> input_nodes;
  std::vector<std::string> output_nodes;
  EngineOptions options;
  std::shared_ptr<Arena> arena;  // a tutor's, or null
  bool fake_warmup = false;
};

class MACE_HIDDEN MaceEngine::Impl {
 public:
  using Inputs = std::map<std::string, MaceTensor>;

  static Result<std::unique_ptr<Impl>> Create(const EngineRequest &request);

  MaceStatus Run(const Inputs &inputs,
                 Inputs *outputs,
                 RunMetadata *run_metadata);
  MaceStatus ReleaseIntermediateBuffer();
  EngineStats GetStats() const;
  std::string Explain() const;

  const std::shared_ptr<Arena> &arena() const { return arena_; }
  // True if the caller's weights are not needed any more.
  bool weights_unused() const { return weights_unused_; }
  // Keeps a mapped file for the engine's life.
  void KeepRegion(std::unique_ptr<port::ReadOnlyMemoryRegion> region) {
    region_ = std::move(region);
  }

 private:
  struct OutputPort {
    int tensor = -1;
    const ValueInfo *info = nullptr;  // null for an intermediate tensor
  };
  struct InputPort {
    const ValueInfo *info = nullptr;
    int tensor = -1;
  };
  struct CachedPlan {
    std::vector<PlanRequest> requests;
    MemoryPlan plan;
  };

  Impl() = default;
  MaceStatus Load(const EngineRequest &request);
  MaceStatus StartDevice(const EngineOptions &options);
  MaceStatus StartThreads(const EngineOptions &options);
  MaceStatus PlaceWeights(const EngineRequest &request, const void **weights);
  MaceStatus MakeInputPorts(const std::vector<std::string> &input_nodes);
  void MakeOutputPorts();
  MaceStatus PrepareDeclaredShapes(bool fake_warmup);

  MaceStatus RunLocked(const Inputs &inputs,
                       Inputs *outputs,
                       RunMetadata *run_metadata);
  MaceStatus MatchInputs(const Inputs &inputs, std::vector<UserTensor> *users);
  MaceStatus MatchInput(const InputPort &port,
                        const MaceTensor &given,
                        UserTensor *user) const;
  MaceStatus MatchOutputs(Inputs *outputs, std::vector<UserTensor> *users);
  MaceStatus MatchOutput(const OutputPort &port,
                         const MaceTensor &given,
                         UserTensor *user) const;
  // Infers shapes anew if those of the inputs changed.
  MaceStatus ReshapeFor(const std::vector<UserTensor> &inputs);
  // Decides which tensors lie in the users' own buffers.
  void ChooseExternal(const std::vector<UserTensor> &inputs,
                      const std::vector<UserTensor> &outputs);
  MaceStatus UpdatePlan();
  // What the plan is made of, for the shapes of the last Reshape.
  ArenaLayout MakeLayout() const;
  MaceStatus FindPlan(const std::vector<PlanRequest> &requests);
  MaceStatus TakeArena();
  void Bind(const std::vector<UserTensor> &inputs,
            const std::vector<UserTensor> &outputs);
  void BringIn(const std::vector<UserTensor> &users);
  MaceStatus RunNodes(RunMetadata *run_metadata);
  void HandOut(const std::vector<UserTensor> &users, Inputs *outputs);
  MaceStatus CheckInputNumerics() const;
  MaceStatus CheckNumerics(const ProgramNode &node) const;
  // Reports that an operator took that long; `run_metadata` may be null.
  void NoteTime(const ProgramNode &node,
                int64_t start_nanos,
                int64_t end_nanos,
                RunMetadata *run_metadata) const;
  // The same for the operators of a chain, which share the time by `nanos`, see
  // Program::RunChain.
  void NoteTimes(const BandChain &chain,
                 const std::vector<int64_t> &nanos,
                 int64_t start_nanos,
                 int64_t end_nanos,
                 RunMetadata *run_metadata) const;
  OperatorStats StatsOf(const ProgramNode &node,
                        int64_t start_nanos,
                        int64_t end_nanos) const;

  Model model_;
  std::unique_ptr<port::ReadOnlyMemoryRegion> region_;
  AlignedMemory weights_copy_;
  bool weights_unused_ = false;
  bool check_numerics_ = false;
  bool row_bands_ = true;
  std::unique_ptr<Device> device_;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Program> program_;
  std::vector<InputPort> inputs_;  // in the order of program_->inputs()
  // Inputs of the model that no wanted output needs: allowed, not read.
  std::vector<std::string> unneeded_inputs_;
  std::vector<OutputPort> outputs_;  // in the order of program_->outputs()

  std::shared_ptr<Arena> arena_;
  bool shapes_valid_ = false;  // of the last Reshape, for these input shapes:
  std::vector<Shape> shapes_;
  std::vector<char> external_;  // per tensor
  bool layout_valid_ = false;   // of layout_, for shapes_ and external_
  ArenaLayout layout_;
  std::list<CachedPlan> plans_;  // most recently used first
};

}  // namespace mace

#endif  // MACE_CORE_ENGINE_H_
