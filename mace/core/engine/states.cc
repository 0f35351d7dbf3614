// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/engine/states.h"

#include <cstring>
#include <utility>

#include "mace/core/memory/border.h"

namespace mace {

Result<States> States::Create(const Graph &graph) {
  States states(graph);
  for (const Graph::State &state : graph.states()) {
    const GraphTensor &input = graph.tensors()[state.input];
    const ValueInfo &info = graph.model().inputs[input.input_index];
    Buffers buffers;
    buffers.shape = info.data_format == DataFormat::NCHW
                        ? NchwToNhwc(info.shape)
                        : info.shape;
    buffers.data_type = info.data_type;
    const size_t bytes = static_cast<size_t>(buffers.shape.Elements()) *
                         DataTypeSize(buffers.data_type);
    if (!buffers.current.Allocate(AlignUp(bytes)) ||
        !buffers.next.Allocate(AlignUp(bytes))) {
      return OutOfResources("no memory for the state '", info.name, "' (twice ",
                            bytes, " bytes)");
    }
    states.buffers_.push_back(std::move(buffers));
  }
  states.Reset();
  return states;
}

size_t States::bytes() const {
  size_t total = 0;
  for (const Buffers &buffers : buffers_) {
    total += buffers.current.bytes() + buffers.next.bytes();
  }
  return total;
}

const Shape *States::ShapeOf(int tensor) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (graph_->states()[i].input == tensor) return &buffers_[i].shape;
  }
  return nullptr;
}

MaceStatus States::Check(const GraphShapes &shapes) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Graph::State &state = graph_->states()[i];
    const Tensor &output = shapes.tensors[state.output];
    if (output.shape == buffers_[i].shape &&
        output.data_type == buffers_[i].data_type) {
      continue;
    }
    return InvalidArgs("state '", graph_->tensors()[state.input].tensor.name,
                       "' is ", DataTypeName(buffers_[i].data_type),
                       buffers_[i].shape.ToString(), ", but '", output.name,
                       "', its value for the next run, is ",
                       DataTypeName(output.data_type), output.shape.ToString());
  }
  return MaceStatus::MACE_SUCCESS;
}

void States::Fill(CallerTensor *callers) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffers &buffers = buffers_[i];
    HostTensor host;
    host.data_type = buffers.data_type;
    host.shape = buffers.shape;
    host.capacity_bytes = host.shape.Elements() *
                          static_cast<int64_t>(DataTypeSize(buffers.data_type));
    host.data = buffers.current.data();
    *callers++ = {graph_->states()[i].input, true, host};
    host.data = buffers.next.data();
    *callers++ = {graph_->states()[i].output, false, host};
  }
}

void States::Commit() {
  for (Buffers &buffers : buffers_) std::swap(buffers.current, buffers.next);
}

void States::Reset() {
  for (Buffers &buffers : buffers_) {
    // A state without elements has no address and nothing to clear.
    if (buffers.current.bytes() == 0) continue;
    std::memset(buffers.current.data(), 0, buffers.current.bytes());
  }
}

}  // namespace mace
