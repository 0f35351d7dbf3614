// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The program of a partition for one set of shapes, before it has memory.

#ifndef MACE_RUNTIMES_HEXAGON_HEXAGON_PLAN_H_
#define MACE_RUNTIMES_HEXAGON_HEXAGON_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/ops/hexagon_op/hexagon_op.h"

namespace mace {

// A tensor of a program. Its offset is known once memory is planned.
struct HexagonTensor {
  hexagon::TensorPlace place = {};
  size_t before = 0;  // bytes of padding in front of the first pixel
  size_t bytes = 0;   // of all, with padding and what may be read behind it
  // Instructions, counted through all segments, from the one that writes it to
  // the last that reads it.
  int first = -1;
  int last = -1;
};

struct HexagonInstruction {
  hexagon::Opcode opcode;
  std::vector<uint8_t> parameters;
  int node = -1;  // of the graph
};

// What HexagonPlanContext::Once gives the operators of a model.
using HexagonOnce = std::map<const OperatorDef *, std::vector<int64_t>>;

// Constants that the operators of a partition need, by node and name. What was
// added stays where it is.
class HexagonConstants {
 public:
  struct Entry {
    size_t offset = 0;
    size_t bytes = 0;
    HexagonPlanContext::Fill fill;  // null once it is filled
  };
  explicit HexagonConstants(std::shared_ptr<HexagonOnce> once)
      : once_(std::move(once)) {}
  uint32_t Add(int node,
               const std::string &name,
               size_t bytes,
               HexagonPlanContext::Fill fill);
  // With what kernels may read behind the last one.
  size_t bytes() const;
  const std::map<std::pair<int, std::string>, Entry> &entries() const {
    return entries_;
  }
  bool has_new() const { return has_new_; }
  HexagonOnce *once() const { return once_.get(); }
  // Makes the new ones in the memory of all.
  void Fill(uint8_t *memory);

 private:
  std::shared_ptr<HexagonOnce> once_;
  std::map<std::pair<int, std::string>, Entry> entries_;
  size_t end_ = 0;
  bool has_new_ = false;
};

// What the host writes before a segment, or reads after it.
struct HexagonBorder {
  int tensor = -1;    // of the graph
  size_t offset = 0;  // in the border's memory
};

struct HexagonPlan {
  std::vector<HexagonTensor> tensors;
  // Per segment.
  std::vector<std::vector<HexagonInstruction>> segments;
  std::vector<HexagonBorder> borders;
  size_t border_bytes = 0;
  // Of the area kFast (hexagon_vtcm.h), and where the arena has room for it.
  size_t fast_bytes = 0;
  size_t fast_offset = 0;
  std::vector<HexagonReport> reports;  // per node of the graph

  const HexagonBorder *FindBorder(int tensor) const;
};

// `constants` gains what is missing.
Result<HexagonPlan> MakeHexagonPlan(const Graph &graph,
                                    const PartitionSpec &spec,
                                    const GraphShapes &shapes,
                                    HexagonConstants *constants);

// Whether the DSP can run that operator; UNSUPPORTED says why not. `shapes` is
// null where the model leaves them open.
MaceStatus TryHexagonNode(const Graph &graph,
                          size_t node,
                          const GraphShapes *shapes,
                          std::shared_ptr<HexagonOnce> once);

// Gives each tensor its offset, of which tensors of the arena share memory if
// their lives do not overlap. The result is the size of the arena, with what
// stands there for VTCM.
Result<size_t> PlaceTensors(HexagonPlan *plan);

// The program of a segment.
std::vector<uint8_t> EncodeProgram(const HexagonPlan &plan, size_t segment);

// "Convolve"
const char *InstructionName(hexagon::Opcode opcode);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_HEXAGON_PLAN_H_
