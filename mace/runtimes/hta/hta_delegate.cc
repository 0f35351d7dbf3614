// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Qualcomm's HTA as a delegate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/logging.h"
#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/call_cost.h"
#include "mace/runtimes/delegate/delegate_device.h"
#include "mace/runtimes/hta/hta_api.h"
#include "mace/runtimes/hta/hta_graph.h"

namespace mace {
namespace {

constexpr uint8_t kSignBit = 0x80;

// Nothing is public of what the library does for several threads.
std::mutex &LibraryMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

// An input or output of a network.
struct Port {
  explicit Port(const DelegateTensor &tensor)
      : dims(HtaDimsOf(tensor.shape)),
        is_signed(tensor.type == IDataType::IDT_INT8) {}

  HtaTensor View(const void *data) const {
    const uint32_t bytes = HtaElements(dims);
    // The interface has one type for inputs and outputs.
    auto *address = static_cast<uint8_t *>(const_cast<void *>(data));
    return {dims[0], dims[1], dims[2], dims[3], address, bytes, bytes, 0};
  }

  HtaDims dims;
  bool is_signed;
  std::vector<uint8_t> copy;  // of a signed input, unsigned
};

class HtaNetwork final : public DelegateNetwork {
 public:
  HtaNetwork(std::shared_ptr<const HtaApi> api, const DelegateSegment &segment)
      : api_(std::move(api)) {
    for (int id : segment.inputs) {
      inputs_.emplace_back(segment.tensors[static_cast<size_t>(id)]);
      Port &port = inputs_.back();
      if (port.is_signed) port.copy.resize(HtaElements(port.dims));
    }
    for (int id : segment.outputs) {
      outputs_.emplace_back(segment.tensors[static_cast<size_t>(id)]);
    }
  }
  ~HtaNetwork() override {
    if (!has_graph_) return;
    const std::lock_guard<std::mutex> lock(LibraryMutex());
    api_->teardown(graph_);
  }

  // Says whether weights of several scales were rounded to one.
  MaceStatus Compile(const DelegateSegment &segment, bool *rounds_weights) {
    const std::lock_guard<std::mutex> lock(LibraryMutex());
    MACE_HTA_CHECK(*api_, init, &graph_);
    has_graph_ = true;
    HtaGraphBuilder builder(*api_, graph_, segment);
    MACE_RETURN_IF_ERROR(builder.Build());
    *rounds_weights = builder.rounds_weights();
    MACE_HTA_CHECK(*api_, prepare, graph_);
    return MaceStatus();
  }

  MaceStatus Restore(const std::vector<unsigned char> &bytes) {
    // The interface does not promise to leave them as they are.
    std::vector<unsigned char> copy = bytes;
    const std::lock_guard<std::mutex> lock(LibraryMutex());
    MACE_HTA_CHECK(*api_, deserialize, copy.data(),
                   static_cast<uint32_t>(copy.size()), &graph_);
    has_graph_ = true;
    return MaceStatus();
  }

  MaceStatus Run(const std::vector<const void *> &inputs,
                 const std::vector<void *> &outputs) override {
    std::vector<HtaTensor> from;
    std::vector<HtaTensor> to;
    for (size_t i = 0; i < inputs.size(); ++i) {
      from.push_back(inputs_[i].View(Unsigned(inputs[i], &inputs_[i])));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      to.push_back(outputs_[i].View(outputs[i]));
    }
    {
      const std::lock_guard<std::mutex> lock(LibraryMutex());
      MACE_HTA_CHECK(*api_, execute_new, graph_, from.data(),
                     static_cast<uint32_t>(from.size()), to.data(),
                     static_cast<uint32_t>(to.size()));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const uint32_t bytes = HtaElements(outputs_[i].dims);
      if (to[i].valid_bytes != bytes) {
        return RuntimeError("hexagon_hta_nn_execute_new gave ",
                            to[i].valid_bytes, " bytes of output ", i,
                            ", which has ", bytes);
      }
      if (!outputs_[i].is_signed) continue;
      auto *numbers = static_cast<uint8_t *>(outputs[i]);
      for (uint32_t k = 0; k < bytes; ++k) numbers[k] ^= kSignBit;
    }
    return MaceStatus();
  }

  MaceStatus Store(std::vector<unsigned char> *bytes) override {
    bytes->clear();
    if (api_->serialize_size == nullptr || api_->serialize == nullptr) {
      return MaceStatus();
    }
    const std::lock_guard<std::mutex> lock(LibraryMutex());
    uint32_t size = 0;
    MACE_HTA_CHECK(*api_, serialize_size, graph_, &size);
    bytes->resize(size);
    MACE_HTA_CHECK(*api_, serialize, graph_, bytes->data(), size);
    return MaceStatus();
  }

 private:
  static const void *Unsigned(const void *data, Port *port) {
    if (!port->is_signed) return data;
    const auto *from = static_cast<const uint8_t *>(data);
    for (size_t k = 0; k < port->copy.size(); ++k) {
      port->copy[k] = from[k] ^ kSignBit;
    }
    return port->copy.data();
  }

  const std::shared_ptr<const HtaApi> api_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  int32_t graph_ = 0;
  bool has_graph_ = false;
};

class HtaDelegate final : public Delegate {
 public:
  explicit HtaDelegate(std::shared_ptr<const HtaApi> api)
      : api_(std::move(api)) {}

  std::string Version() const override { return api_->description; }

  // The interface has no question of what it supports.
  std::string Refusal(const DelegateSegment &segment) override {
    CommonOp op;
    return HtaRefusal(segment, segment.operators[0], &op);
  }

  double CopyNanos(int64_t bytes) override { return HalfCallNanos(bytes); }

  MaceStatus Compile(const DelegateSegment &segment,
                     std::unique_ptr<DelegateNetwork> *network) override {
    auto made = std::make_unique<HtaNetwork>(api_, segment);
    bool rounds_weights = false;
    MACE_RETURN_IF_ERROR(made->Compile(segment, &rounds_weights));
    if (rounds_weights && !std::exchange(has_warned_, true)) {
      LOG(WARNING) << "HTA: it has one scale for all weights of an operator; "
                      "those of this model, which have one for each output, "
                      "are rounded once more. Compare the results (run "
                      "--validate)";
    }
    *network = std::move(made);
    return MaceStatus();
  }

  MaceStatus Restore(const DelegateSegment &segment,
                     const std::vector<unsigned char> &bytes,
                     std::unique_ptr<DelegateNetwork> *network) override {
    if (api_->deserialize == nullptr) {
      return Unsupported("this HTA restores no graph");
    }
    auto made = std::make_unique<HtaNetwork>(api_, segment);
    MACE_RETURN_IF_ERROR(made->Restore(bytes));
    *network = std::move(made);
    return MaceStatus();
  }

 private:
  const std::shared_ptr<const HtaApi> api_;
  bool has_warned_ = false;
};

MaceStatus MakeHtaDelegate(const DelegateOptions & /*options*/,
                           std::unique_ptr<Delegate> *delegate) {
  MACE_ASSIGN_OR_RETURN(std::shared_ptr<const HtaApi> api, OpenHtaApi());
  *delegate = std::make_unique<HtaDelegate>(std::move(api));
  return MaceStatus();
}

const DelegateRegistration registration(RT_HTA, MakeHtaDelegate);

}  // namespace
}  // namespace mace
