// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/cpu_report.h"

#include <string>
#include <utility>

#include "mace/core/base/half.h"
#include "mace/core/base/logging.h"

namespace mace {
namespace {

// The offset of element `index`, in elements.
int64_t Place(const Tensor &tensor, int64_t index) {
  const int64_t length = tensor.row_length();
  return index / length * tensor.RowStride() + index % length;
}

// The bits of the exponent of a float, all of which infinity and NaN have; 0
// for other types.
uint32_t ExponentOf(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return 0x7f800000u;
    case DataType::kFloat16:
      return 0x7c00u;
    case DataType::kBfloat16:
      return 0x7f80u;
    default:
      return 0;
  }
}

// Index of the first element that is not finite; -1 if there is none.
int64_t FirstNotFinite(const Tensor &tensor) {
  const uint32_t exponent = ExponentOf(tensor.data_type);
  if (exponent == 0) return -1;
  const bool wide = tensor.data_type == DataType::kFloat32;
  const int64_t count = tensor.RunShape().Elements();
  // What a run determines is dense.
  const bool strided = tensor.row_stride != 0 && tensor.run_shape == nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = strided ? Place(tensor, i) : i;
    const uint32_t bits =
        wide ? tensor.As<uint32_t>()[at] : tensor.As<uint16_t>()[at];
    if ((bits & exponent) == exponent) return i;
  }
  return -1;
}

float ElementAsFloat(const Tensor &tensor, int64_t index) {
  index = Place(tensor, index);
  switch (tensor.data_type) {
    case DataType::kFloat16:
      return HalfToFloat(tensor.As<uint16_t>()[index]);
    case DataType::kBfloat16:
      return Bfloat16ToFloat(tensor.As<uint16_t>()[index]);
    default:
      return tensor.As<float>()[index];
  }
}

std::string Describe(const Tensor &tensor, int64_t index) {
  return MakeString(ElementAsFloat(tensor, index), " at element ", index,
                    " of '", tensor.name, "' ", InsideText(tensor.shape));
}

std::vector<int64_t> ToVector(const Shape &shape) {
  return std::vector<int64_t>(shape.begin(), shape.end());
}

OperatorStats StatsOf(const PlannedNode &node,
                      const std::vector<PlannedTensor> &tensors,
                      DeviceType device,
                      const TimeSpan &span) {
  OperatorStats stats;
  stats.operator_name = node.node->def->name;
  stats.type = node.node->def->type;
  if (node.plan != nullptr) stats.args = node.plan->Geometry();
  stats.stats.start_micros = span.start_nanos / 1000;
  stats.stats.end_micros = span.end_nanos / 1000;
  stats.stats.duration_nanos = span.end_nanos - span.start_nanos;
  stats.macs = node.Macs();
  stats.bytes = 0;
  stats.device = device;
  stats.quantized = node.node->quantized;
  for (int id : node.inputs()) {
    if (id >= 0) stats.bytes += tensors[id].stored_bytes;
  }
  for (int id : node.outputs()) {
    if (id < 0) continue;
    stats.bytes += tensors[id].stored_bytes;
    stats.output_shape.push_back(ToVector(tensors[id].tensor.shape));
  }
  return stats;
}

}  // namespace

void ReportTime(const PlannedNode &node,
                const std::vector<PlannedTensor> &tensors,
                DeviceType device,
                const TimeSpan &span,
                const RunTrace &trace) {
  VLOG(2) << node.node->def->type << " '" << node.node->def->name << "' took "
          << static_cast<double>(span.end_nanos - span.start_nanos) / 1e3
          << " us";
  if (trace.metadata == nullptr) return;
  trace.metadata->op_stats.push_back(StatsOf(node, tensors, device, span));
}

// Reports the times as if the operators had run one by one within the total
// time.
void ReportTimes(const BandChain &chain,
                 const std::vector<int64_t> &nanos,
                 const CpuPlan &plan,
                 DeviceType device,
                 const TimeSpan &span,
                 const RunTrace &trace) {
  int64_t sums[BandChain::kMaxNodes] = {};
  int64_t all = 0;
  for (size_t i = 0; i < nanos.size(); ++i) {
    sums[i % BandChain::kMaxNodes] += nanos[i];
    all += nanos[i];
  }
  const auto took = static_cast<double>(span.end_nanos - span.start_nanos);
  int64_t before = 0;
  int64_t start = span.start_nanos;
  for (size_t i = 0; i < chain.nodes.size(); ++i) {
    before += sums[i];
    const double share =
        all == 0 ? 0.0 : static_cast<double>(before) / static_cast<double>(all);
    const int64_t end =
        i + 1 == chain.nodes.size()
            ? span.end_nanos
            : span.start_nanos + static_cast<int64_t>(took * share);
    ReportTime(plan.nodes[chain.nodes[i]], plan.tensors, device, {start, end},
               trace);
    start = end;
  }
}

MaceStatus CheckImport(const Tensor &input) {
  const int64_t bad = FirstNotFinite(input);
  if (bad < 0) return MaceStatus::MACE_SUCCESS;
  return RuntimeError("an input already contains NaN or infinity: ",
                      Describe(input, bad));
}

// The inputs of an operator were checked when they were computed, unless they
// are constants.
MaceStatus CheckOutputs(const PlannedNode &node,
                        const std::vector<PlannedTensor> &tensors) {
  for (int id : node.outputs()) {
    if (id < 0) continue;
    const Tensor &output = tensors[id].tensor;
    const int64_t bad = FirstNotFinite(output);
    if (bad < 0) continue;
    std::string cause = "all its inputs are finite";
    for (int input_id : node.inputs()) {
      if (input_id < 0) continue;
      const Tensor &input = tensors[input_id].tensor;
      if (!input.is_constant || input.layout != ConstantLayout::kPlain) {
        continue;
      }
      const int64_t first = FirstNotFinite(input);
      if (first >= 0) {
        cause = "it reads the constant " + Describe(input, first);
        break;
      }
    }
    return RuntimeError(
        "operator '", node.node->def->name, "' (", node.node->def->type,
        ") is the first that produces NaN or infinity: ", Describe(output, bad),
        "; ", cause);
  }
  return MaceStatus::MACE_SUCCESS;
}

std::vector<OperatorNote> ExplainPlan(const CpuPlan &plan,
                                      const ArenaLayout &layout) {
  std::vector<OperatorNote> notes;
  const std::vector<size_t> &ends = plan.nodes_of->segment_ends;
  size_t segment = 0;
  for (size_t step = 0; step < plan.nodes.size(); ++step) {
    const PlannedNode &node = plan.nodes[step];
    while (step == ends[segment]) ++segment;
    OperatorNote note;
    note.segment = segment;
    note.name = node.node->def->name;
    note.type = node.node->def->type;
    note.node = node.node->graph_node;
    if (node.plan != nullptr) note.kernel = node.plan->KernelName();
    for (int id : node.outputs()) {
      if (id < 0) continue;
      const Tensor &tensor = plan.tensors[id].tensor;
      if (!note.output.empty()) note.output += ' ';
      note.output +=
          MakeString(DataTypeName(tensor.data_type), tensor.shape.ToString());
      if (tensor.quantization != nullptr) {
        note.output += " (" + tensor.quantization->ToString() + ")";
      }
      if (layout.tensor_request[id] < 0) continue;
      const PlanRequest &request = layout.requests[layout.tensor_request[id]];
      if (request.in_place_of >= 0) note.output += " in place";
      if (request.part_of >= 0) note.output += " in its place";
    }
    const BandChain *chain = layout.ChainAt(step);
    if (chain != nullptr && chain->EndsWith(step)) {
      note.remark = MakeString("in ", chain->tasks(), " task(s), by bands of ",
                               chain->band_rows, " row(s)");
    } else if (chain != nullptr) {
      note.remark =
          MakeString("in bands for '",
                     plan.nodes[chain->NodeAfter(step)].node->def->name, "'");
    }
    if (node.known) note.remark = "computed before the run";
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace mace
