// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Qualcomm's HTP as a delegate, by QNN.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/environment.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/call_cost.h"
#include "mace/runtimes/delegate/delegate_device.h"
#include "mace/runtimes/qnn/qnn_api.h"
#include "mace/runtimes/qnn/qnn_graph.h"

namespace mace {
namespace {

constexpr char kGraphName[] = "mace";
constexpr char kProfileLevel[] = "MACE_QNN_PROFILE_LEVEL";

// An event and, indented, those that it consists of.
void LogEvents(const QnnFunctions &api,
               const QnnEventId *events,
               uint32_t count,
               const std::string &indent) {
  for (uint32_t i = 0; i < count; ++i) {
    QnnEvent event = {};
    if (api.profile_get_event_data(events[i], &event) != kQnnSuccess) continue;
    const char *unit = event.unit == kQnnMicroseconds ? " us"
                       : event.unit == kQnnCycles     ? " cycles"
                                                      : "";
    LOG(INFO) << "HTP: " << indent
              << (event.name == nullptr ? "event" : event.name) << ": "
              << event.value << unit;
    const QnnEventId *parts = nullptr;
    uint32_t part_count = 0;
    if (api.profile_get_sub_events != nullptr &&
        api.profile_get_sub_events(events[i], &parts, &part_count) ==
            kQnnSuccess) {
      LogEvents(api, parts, part_count, indent + "  ");
    }
  }
}

// What is stored: the ids of inputs and outputs, each of 4 bytes, and the
// binary of the context.
class QnnNetwork final : public DelegateNetwork {
 public:
  QnnNetwork(std::shared_ptr<QnnBackend> backend,
             const DelegateSegment &segment)
      : backend_(std::move(backend)) {
    for (int id : segment.inputs) {
      inputs_.emplace_back(segment.tensors[static_cast<size_t>(id)],
                           kQnnAppWrite);
    }
    for (int id : segment.outputs) {
      outputs_.emplace_back(segment.tensors[static_cast<size_t>(id)],
                            kQnnAppRead);
    }
  }
  ~QnnNetwork() override {
    if (profile_ != nullptr) api().profile_free(profile_);
    if (context_ != nullptr) api().context_free(context_, nullptr);
  }

  MaceStatus Compile(const DelegateSegment &segment) {
    MACE_QNN_CHECK("contextCreate",
                   api().context_create(backend_->backend(), backend_->device(),
                                        nullptr, &context_));
    QnnHtpGraphConfig half = {};
    half.option = kQnnHtpPrecision;
    half.precision = kQnnHtpHalf;
    const QnnGraphConfig config = {kQnnGraphCustom, &half};
    const QnnGraphConfig *configs[] = {&config, nullptr};
    MACE_QNN_CHECK(
        "graphCreate",
        api().graph_create(context_, kGraphName,
                           segment.allow_half ? configs : nullptr, &graph_));
    QnnGraphBuilder builder(*backend_, segment);
    MACE_RETURN_IF_ERROR(builder.Build(graph_, &ids_));
    MACE_QNN_CHECK("graphFinalize",
                   api().graph_finalize(graph_, nullptr, nullptr));
    StartProfile();
    return MaceStatus();
  }

  MaceStatus Restore(const std::vector<unsigned char> &bytes) {
    const size_t count = inputs_.size() + outputs_.size();
    const size_t head = count * sizeof(uint32_t);
    if (bytes.size() <= head) return RuntimeError("it is too short");
    ids_.resize(count);
    std::memcpy(ids_.data(), bytes.data(), head);
    MACE_QNN_CHECK(
        "contextCreateFromBinary",
        api().context_create_from_binary(
            backend_->backend(), backend_->device(), nullptr,
            bytes.data() + head, bytes.size() - head, &context_, nullptr));
    MACE_QNN_CHECK("graphRetrieve",
                   api().graph_retrieve(context_, kGraphName, &graph_));
    StartProfile();
    return MaceStatus();
  }

  MaceStatus Run(const std::vector<const void *> &inputs,
                 const std::vector<void *> &outputs) override {
    std::vector<QnnTensor> from;
    std::vector<QnnTensor> to;
    for (size_t i = 0; i < inputs.size(); ++i) {
      from.push_back(inputs_[i].View(ids_[i], inputs[i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      to.push_back(outputs_[i].View(ids_[inputs.size() + i], outputs[i]));
    }
    MACE_QNN_CHECK(
        "graphExecute",
        api().graph_execute(
            graph_, from.data(), static_cast<uint32_t>(from.size()), to.data(),
            static_cast<uint32_t>(to.size()), profile_, nullptr));
    const QnnEventId *events = nullptr;
    uint32_t count = 0;
    if (profile_ != nullptr &&
        api().profile_get_events(profile_, &events, &count) == kQnnSuccess) {
      LogEvents(api(), events, count, "");
    }
    return MaceStatus();
  }

  MaceStatus Store(std::vector<unsigned char> *bytes) override {
    bytes->clear();
    if (api().context_get_binary_size == nullptr ||
        api().context_get_binary == nullptr) {
      return MaceStatus();
    }
    uint64_t size = 0;
    MACE_QNN_CHECK("contextGetBinarySize",
                   api().context_get_binary_size(context_, &size));
    const size_t head = ids_.size() * sizeof(uint32_t);
    bytes->resize(head + size);
    std::memcpy(bytes->data(), ids_.data(), head);
    uint64_t written = 0;
    MACE_QNN_CHECK("contextGetBinary",
                   api().context_get_binary(context_, bytes->data() + head,
                                            size, &written));
    bytes->resize(head + written);
    return MaceStatus();
  }

 private:
  const QnnFunctions &api() const { return backend_->api(); }

  // As the environment asks; a network without one computes all the same.
  void StartProfile() {
    const bool basic = EnvironmentIs(kProfileLevel, "1");
    if (!basic && !EnvironmentIs(kProfileLevel, "2")) return;
    if (api().profile_create == nullptr || api().profile_free == nullptr ||
        api().profile_get_events == nullptr ||
        api().profile_get_event_data == nullptr ||
        api().profile_create(backend_->backend(), basic ? 1 : 2, &profile_) !=
            kQnnSuccess) {
      profile_ = nullptr;
      LOG(WARNING) << kProfileLevel << " has no effect: this QNN measures "
                   << "nothing";
    }
  }

  const std::shared_ptr<QnnBackend> backend_;
  std::vector<QnnPort> inputs_;
  std::vector<QnnPort> outputs_;
  QnnHandle context_ = nullptr;
  QnnHandle graph_ = nullptr;
  QnnHandle profile_ = nullptr;
  std::vector<uint32_t> ids_;
};

class QnnDelegate final : public Delegate {
 public:
  explicit QnnDelegate(std::shared_ptr<QnnBackend> backend)
      : backend_(std::move(backend)) {}

  std::string Version() const override { return backend_->version(); }

  std::string Refusal(const DelegateSegment &segment) override {
    CommonOp op;
    std::string reason = QnnRefusal(segment, segment.operators[0], &op);
    if (!reason.empty()) return reason;
    const MaceStatus status = QnnGraphBuilder(*backend_, segment).Validate();
    return IsOk(status) ? std::string() : StatusMessage(status);
  }

  double CopyNanos(int64_t bytes) override { return HalfCallNanos(bytes); }

  MaceStatus Compile(const DelegateSegment &segment,
                     std::unique_ptr<DelegateNetwork> *network) override {
    auto made = std::make_unique<QnnNetwork>(backend_, segment);
    MACE_RETURN_IF_ERROR(made->Compile(segment));
    *network = std::move(made);
    return MaceStatus();
  }

  MaceStatus Restore(const DelegateSegment &segment,
                     const std::vector<unsigned char> &bytes,
                     std::unique_ptr<DelegateNetwork> *network) override {
    if (backend_->api().context_create_from_binary == nullptr ||
        backend_->api().graph_retrieve == nullptr) {
      return Unsupported("this QNN restores no context");
    }
    auto made = std::make_unique<QnnNetwork>(backend_, segment);
    MACE_RETURN_IF_ERROR(made->Restore(bytes));
    *network = std::move(made);
    return MaceStatus();
  }

 private:
  const std::shared_ptr<QnnBackend> backend_;
};

MaceStatus MakeQnnDelegate(const DelegateOptions &options,
                           std::unique_ptr<Delegate> *delegate) {
  MACE_ASSIGN_OR_RETURN(std::shared_ptr<QnnBackend> backend,
                        QnnBackend::Open());
  if (!backend->SetPower(options.performance)) {
    LOG(WARNING) << "HTP: the performance has no effect: this QNN takes no "
                    "vote for the clock";
  }
  *delegate = std::make_unique<QnnDelegate>(std::move(backend));
  return MaceStatus();
}

const DelegateRegistration registration(RT_HTP, MakeQnnDelegate);

}  // namespace
}  // namespace mace
