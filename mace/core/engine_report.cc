// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// MaceEngine::Impl: what tools ask about an engine and its runs.

#include <cstring>
#include <sstream>

#include "mace/core/device.h"
#include "mace/core/engine.h"
#include "mace/core/half.h"
#include "mace/core/logging.h"

namespace mace {
namespace {

// Where element `index` lies, counted in elements.
int64_t Place(const Tensor &tensor, int64_t index) {
  const int64_t length = tensor.row_length();
  return index / length * tensor.RowStride() + index % length;
}

// An exponent of all ones is infinity or NaN, in each of the formats.
template <typename T>
int64_t FirstNotFinite(const Tensor &tensor, T exponent) {
  const int64_t length = tensor.row_length();
  const int64_t rows = length == 0 ? 0 : tensor.elements() / length;
  for (int64_t row = 0; row < rows; ++row) {
    const T *values = tensor.As<T>() + row * tensor.RowStride();
    for (int64_t i = 0; i < length; ++i) {
      if ((values[i] & exponent) == exponent) return row * length + i;
    }
  }
  return -1;
}

// Index of the first element that is not finite; -1 if there is none.
int64_t FirstNotFinite(const Tensor &tensor) {
  switch (tensor.data_type) {
    case DataType::kFloat32:
      return FirstNotFinite<uint32_t>(tensor, 0x7f800000u);
    case DataType::kFloat16:
      return FirstNotFinite<uint16_t>(tensor, 0x7c00u);
    case DataType::kBfloat16:
      return FirstNotFinite<uint16_t>(tensor, 0x7f80u);
    default:
      return -1;
  }
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
                    " of '", tensor.name, "' ", tensor.shape.ToString());
}

std::vector<int64_t> ToVector(const Shape &shape) {
  return std::vector<int64_t>(shape.begin(), shape.end());
}

}  // namespace

OperatorStats MaceEngine::Impl::StatsOf(const ProgramNode &node,
                                        int64_t start_nanos,
                                        int64_t end_nanos) const {
  OperatorStats stats;
  stats.operator_name = node.def->name;
  stats.type = node.def->type;
  stats.args = node.op->Geometry();
  stats.stats.start_micros = start_nanos / 1000;
  stats.stats.end_micros = end_nanos / 1000;
  stats.stats.duration_nanos = end_nanos - start_nanos;
  stats.macs = node.op->Macs();
  stats.bytes = 0;
  stats.device = device_->type();
  for (int id : node.inputs) {
    if (id >= 0) stats.bytes += program_->tensors()[id].stored_bytes;
  }
  for (int id : node.outputs) {
    if (id < 0) continue;
    stats.bytes += program_->tensors()[id].stored_bytes;
    stats.output_shape.push_back(
        ToVector(program_->tensors()[id].tensor.shape));
  }
  return stats;
}

void MaceEngine::Impl::NoteTime(const ProgramNode &node,
                                int64_t start_nanos,
                                int64_t end_nanos,
                                RunMetadata *run_metadata) const {
  VLOG(2) << node.def->type << " '" << node.def->name << "' took "
          << static_cast<double>(end_nanos - start_nanos) / 1e3 << " us";
  if (run_metadata == nullptr) return;
  run_metadata->op_stats.push_back(StatsOf(node, start_nanos, end_nanos));
}

// As if they had run one by one, in the time that all took.
void MaceEngine::Impl::NoteTimes(const BandChain &chain,
                                 const std::vector<int64_t> &nanos,
                                 int64_t start_nanos,
                                 int64_t end_nanos,
                                 RunMetadata *run_metadata) const {
  int64_t sums[BandChain::kMaxNodes] = {};
  int64_t all = 0;
  for (size_t i = 0; i < nanos.size(); ++i) {
    sums[i % BandChain::kMaxNodes] += nanos[i];
    all += nanos[i];
  }
  const auto took = static_cast<double>(end_nanos - start_nanos);
  int64_t before = 0;
  int64_t start = start_nanos;
  for (size_t i = 0; i < chain.nodes.size(); ++i) {
    before += sums[i];
    const double share =
        all == 0 ? 0.0 : static_cast<double>(before) / static_cast<double>(all);
    const int64_t end = i + 1 == chain.nodes.size()
                            ? end_nanos
                            : start_nanos + static_cast<int64_t>(took * share);
    NoteTime(program_->nodes()[chain.nodes[i]], start, end, run_metadata);
    start = end;
  }
}

MaceStatus MaceEngine::Impl::CheckInputNumerics() const {
  for (const InputPort &port : inputs_) {
    const Tensor &input = program_->tensors()[port.tensor].tensor;
    const int64_t bad = FirstNotFinite(input);
    if (bad >= 0) {
      return RuntimeError("an input already holds NaN or infinity: ",
                          Describe(input, bad));
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// What an operator reads was checked when it was made, unless it is a constant.
MaceStatus MaceEngine::Impl::CheckNumerics(const ProgramNode &node) const {
  for (int id : node.outputs) {
    if (id < 0) continue;
    const Tensor &output = program_->tensors()[id].tensor;
    const int64_t bad = FirstNotFinite(output);
    if (bad < 0) continue;
    std::string cause = "what it read is finite";
    for (int input_id : node.inputs) {
      if (input_id < 0) continue;
      const Tensor &input = program_->tensors()[input_id].tensor;
      if (!input.is_constant || input.layout != ConstantLayout::kPlain) {
        continue;
      }
      const int64_t first = FirstNotFinite(input);
      if (first >= 0) {
        cause = "it read the constant " + Describe(input, first);
        break;
      }
    }
    return RuntimeError("operator '", node.def->name, "' (", node.def->type,
                        ") is the first to give NaN or infinity: ",
                        Describe(output, bad), "; ", cause);
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::ReleaseIntermediateBuffer() {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  arena_->memory.Release();
  return MaceStatus::MACE_SUCCESS;
}

EngineStats MaceEngine::Impl::GetStats() const {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  EngineStats stats{};
  stats.arena_bytes = arena_->memory.bytes();
  stats.operator_count = program_->nodes().size();
  stats.prepared_bytes = program_->prepared_bytes() + weights_copy_.bytes();
  for (const ProgramTensor &entry : program_->tensors()) {
    if (entry.source == TensorSource::kConstant) {
      if (weights_copy_.bytes() == 0) {
        stats.constant_bytes += static_cast<size_t>(entry.stored_bytes);
      }
    } else if (shapes_valid_) {
      stats.tensor_bytes += static_cast<size_t>(entry.stored_bytes);
    }
  }
  return stats;
}

std::string MaceEngine::Impl::Explain() const {
  std::lock_guard<std::mutex> lock(arena_->mutex);
  std::ostringstream text;
  text << "model '" << model_.name << "': " << program_->nodes().size()
       << " operators on " << DeviceName(device_->type()) << ", "
       << pool_->thread_count() << " thread(s)\n";
  // Before the first run, the layout that it will have.
  ArenaLayout coming;
  if (shapes_valid_ && !layout_valid_) coming = MakeLayout();
  const ArenaLayout &layout = layout_valid_ ? layout_ : coming;
  for (size_t step = 0; step < program_->nodes().size(); ++step) {
    const ProgramNode &node = program_->nodes()[step];
    text << step << ' ' << node.def->type << " '" << node.def->name << "' "
         << DeviceName(device_->type());
    const std::string kernel = shapes_valid_ ? node.op->KernelName() : "";
    if (!kernel.empty()) text << ' ' << kernel;
    for (int id : node.outputs) {
      if (id < 0 || !shapes_valid_) continue;
      const Tensor &tensor = program_->tensors()[id].tensor;
      text << ' ' << DataTypeName(tensor.data_type) << tensor.shape.ToString();
      if (layout.tensor_request[id] < 0) continue;
      const PlanRequest &request = layout.requests[layout.tensor_request[id]];
      if (request.in_place_of >= 0) text << " in place";
      if (request.part_of >= 0) text << " in its place";
    }
    const BandChain *chain = shapes_valid_ ? layout.ChainAt(step) : nullptr;
    if (chain != nullptr && chain->EndsWith(step)) {
      text << " in " << chain->tasks() << " task(s), by bands of "
           << chain->band_rows << " row(s)";
    } else if (chain != nullptr) {
      text << " in bands for '"
           << program_->nodes()[chain->NodeAfter(step)].def->name << "'";
    }
    if (shapes_valid_ && node.known) text << " computed before the run";
    text << '\n';
  }
  if (!shapes_valid_) text << "shapes are not known before the first run\n";
  return text.str();
}

}  // namespace mace
