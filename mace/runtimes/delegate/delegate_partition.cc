// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/delegate_partition.h"

#include <algorithm>

#include "mace/core/base/logging.h"
#include "mace/runtimes/delegate/prepared_delegate.h"

namespace mace {

size_t DelegatePartition::OperatorCount() const {
  size_t count = 0;
  for (const std::vector<int> &segment : spec_.segments) {
    count += segment.size();
  }
  return count;
}

MaceStatus DelegatePartition::CheckSupport(const GraphShapes &shapes) const {
  for (const std::vector<int> &segment : spec_.segments) {
    for (int node : segment) {
      const auto id = static_cast<size_t>(node);
      const std::string reason = device_->Refusal(graph_, id, shapes);
      if (reason.empty()) continue;
      return AtOperator(*graph_.nodes()[id].def, Unsupported(reason));
    }
  }
  return MaceStatus();
}

bool DelegatePartition::IsReadElsewhere(int tensor, size_t segment) const {
  const auto is_tensor = [tensor](const PartitionSpec::Border &border) {
    return border.tensor == tensor;
  };
  if (std::any_of(spec_.exports.begin(), spec_.exports.end(), is_tensor)) {
    return true;
  }
  for (size_t i = segment + 1; i < spec_.segments.size(); ++i) {
    for (int node : spec_.segments[i]) {
      const std::vector<int> &inputs =
          graph_.nodes()[static_cast<size_t>(node)].inputs;
      if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) {
        return true;
      }
    }
  }
  return false;
}

SegmentNodes DelegatePartition::SegmentFor(const GraphShapes &shapes,
                                           size_t segment) const {
  SegmentNodes nodes = NodesOf(graph_, shapes, spec_.segments[segment]);
  std::vector<int> read;
  for (int output : nodes.outputs) {
    if (IsReadElsewhere(output, segment)) read.push_back(output);
  }
  nodes.outputs = std::move(read);
  return nodes;
}

std::string DelegatePartition::Key(const DelegateSegment &description) const {
  const Model &model = graph_.model();
  return MakeString(DeviceName(device_->type()), " ",
                    device_->delegate()->Version(), " ", model.name, " ",
                    model.data_crc32, " ", model.data_size, " ",
                    Fingerprint(description));
}

MaceStatus DelegatePartition::Restore(const GraphShapes &shapes,
                                      CompiledSegment *segment) {
  MACE_ASSIGN_OR_RETURN(const DelegateSegment description,
                        Describe(graph_, shapes, segment->nodes, nullptr,
                                 DescribedElements::kNone));
  const std::vector<unsigned char> *bytes =
      device_->cache()->Find(Key(description));
  if (bytes == nullptr) return MaceStatus();
  const MaceStatus status =
      device_->delegate()->Restore(description, *bytes, &segment->network);
  segment->restored = IsOk(status) && segment->network != nullptr;
  if (!segment->restored) {
    segment->network.reset();
    LOG(WARNING) << "accelerator cache: the " << DeviceName(device_->type())
                 << " does not take what is stored of the segment at '"
                 << description.name << "' (" << StatusMessage(status)
                 << "), which is compiled again";
  }
  return MaceStatus();
}

MaceStatus DelegatePartition::Compile(const GraphShapes &shapes,
                                      CompiledSegment *segment) {
  MACE_ASSIGN_OR_RETURN(
      const DelegateSegment description,
      Describe(graph_, shapes, segment->nodes, device_->constants(),
               DescribedElements::kAll));
  const MaceStatus status =
      device_->delegate()->Compile(description, &segment->network);
  if (!IsOk(status) || segment->network == nullptr) {
    // Not MACE_UNSUPPORTED, which would mean these shapes alone.
    return RuntimeError("the segment at '", description.name, "' (",
                        description.operators.size(),
                        " operators) can't be compiled: ",
                        IsOk(status) ? std::string("the delegate made none")
                                     : StatusMessage(status));
  }
  CompiledCache *cache = device_->cache();
  if (!cache->stores()) return MaceStatus();
  std::vector<unsigned char> bytes;
  MACE_RETURN_IF_ERROR(segment->network->Store(&bytes));
  if (!bytes.empty()) cache->Add(Key(description), std::move(bytes));
  return MaceStatus();
}

Result<std::unique_ptr<PreparedPartition>> DelegatePartition::Prepare(
    const GraphShapes &shapes) {
  MACE_RETURN_IF_ERROR(CheckSupport(shapes));
  std::vector<CompiledSegment> segments;
  for (size_t i = 0; i < spec_.segments.size(); ++i) {
    segments.emplace_back();
    CompiledSegment &segment = segments.back();
    segment.nodes = SegmentFor(shapes, i);
    if (segment.nodes.nodes.empty()) continue;
    MACE_RETURN_IF_ERROR(Restore(shapes, &segment));
    if (!segment.restored) MACE_RETURN_IF_ERROR(Compile(shapes, &segment));
  }
  device_->cache()->Write();
  return std::unique_ptr<PreparedPartition>(
      std::make_unique<PreparedDelegate>(this, shapes, std::move(segments)));
}

}  // namespace mace
