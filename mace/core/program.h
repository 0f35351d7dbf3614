// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of one model on one device, with their tensors: what is left
// of a model once it was checked, cut down to the wanted outputs, and its
// operators were made. It knows shapes and values; where tensors lie in memory
// is for the caller to say (see arena_layout.h).

#ifndef MACE_CORE_PROGRAM_H_
#define MACE_CORE_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/aligned_memory.h"
#include "mace/core/band_chains.h"
#include "mace/core/model.h"
#include "mace/core/op.h"
#include "mace/core/status.h"
#include "mace/core/tensor.h"

namespace mace {

enum class TensorSource { kInput, kConstant, kOperator };

struct ProgramTensor {
  Tensor tensor;
  TensorSource source = TensorSource::kOperator;
  // Index of the model input for kInput.
  size_t input_index = 0;
  // Bytes that are read for it: the stored ones of a packed constant.
  int64_t stored_bytes = 0;
  // Value computed from shapes before the run.
  bool known = false;
  AlignedMemory known_value;
};

struct ProgramNode {
  const OperatorDef *def = nullptr;
  const OpSchema *schema = nullptr;
  std::unique_ptr<Op> op;
  // Indices of tensors; -1 for an absent optional port.
  std::vector<int> inputs;
  std::vector<int> outputs;
  // What activations declared float32 are here.
  DataType activations = DataType::kFloat32;

  // Set by Reshape.
  size_t scratch_bytes = 0;
  std::vector<std::pair<size_t, size_t>> in_place;  // (output, input)
  struct Part {
    size_t output;
    size_t input;
    PartPlace place;
  };
  std::vector<Part> parts;
  std::vector<char> strided_inputs;   // per port: rows may be apart
  std::vector<char> strided_outputs;  // likewise
  bool known = false;                 // computed before the run, not to be run
  // Set by the caller before RunNode.
  void *scratch = nullptr;
};

// Memory that an operator wants for a transformed constant.
struct PrepareRequest {
  const ProgramNode *node;
  size_t bytes;
  ReshapeContext::Fill fill;
};

class Program {
 public:
  // Keeps the operators that `outputs` (names of tensors or aliases) need, and
  // initialises them. `model` was checked, and outlives the program as do
  // `weights`, `device` and `pool`.
  static Result<std::unique_ptr<Program>> Create(
      const Model &model,
      const void *weights,
      const std::vector<std::string> &outputs,
      Device *device,
      ThreadPool *pool);

  // Infers everything from the shapes of the input tensors, which the caller
  // has set, and computes small values known before the run. Afterwards `data`
  // is null for every tensor but constants and known ones.
  MaceStatus Reshape();

  // Runs one node that is not known; all its tensors have data.
  MaceStatus RunNode(size_t index);

  // Runs the operators of a chain; all its tensors but the links have data.
  // `scratch`: chain.thread_bytes for each thread, 64-byte aligned. `nanos`:
  // null, or BandChain::kMaxNodes numbers per thread, to which is added how
  // long each operator took.
  void RunChain(const BandChain &chain, void *scratch, int64_t *nanos);

  std::vector<ProgramNode> &nodes() { return nodes_; }
  const std::vector<ProgramNode> &nodes() const { return nodes_; }
  std::vector<ProgramTensor> &tensors() { return tensors_; }
  const std::vector<ProgramTensor> &tensors() const { return tensors_; }
  // Tensor of each requested output, in the order of `outputs`.
  const std::vector<int> &outputs() const { return outputs_; }
  // Tensors of the model inputs that are needed.
  const std::vector<int> &inputs() const { return inputs_; }
  size_t prepared_bytes() const { return prepared_bytes_; }

 private:
  friend class NodeInitContext;
  friend class ConversionPlacer;
  Program() = default;
  Program(const Program &) = delete;

  MaceStatus Build(const Model &model,
                   const void *weights,
                   const std::vector<std::string> &outputs);
  void MapConstants();
  MaceStatus InitNodes(const Model &model);
  MaceStatus InitNode(ProgramNode *node, const DeploymentHints &hints);
  // Decides which tensors are of 16 bits, by what operators make of it, and
  // puts a Cast between those that disagree: one for all readers of a tensor.
  // Inputs and outputs of the program keep their types.
  MaceStatus PlaceConversions(const DeploymentHints &hints);
  MaceStatus CheckInputTypes(const ProgramNode &node) const;
  MaceStatus ReshapeNode(ProgramNode *node,
                         std::vector<PrepareRequest> *requests);
  // Null when memory ran out.
  void *AllocatePrepared(size_t bytes);
  MaceStatus FillPrepared(const std::vector<PrepareRequest> &requests);
  bool ShouldCompute(const ProgramNode &node) const;
  MaceStatus ComputeKnown(ProgramNode *node);
  MaceStatus RunOp(ProgramNode *node);

  std::vector<ProgramNode> nodes_;
  // Definitions of operators that the model does not have.
  std::vector<std::unique_ptr<OperatorDef>> added_defs_;
  std::vector<ProgramTensor> tensors_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  // Constants that operators transformed.
  std::vector<AlignedMemory> prepared_;
  size_t prepared_bytes_ = 0;
  Device *device_ = nullptr;
  ThreadPool *pool_ = nullptr;
};

}  // namespace mace

#endif  // MACE_CORE_PROGRAM_H_
