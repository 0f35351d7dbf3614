// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// MediaTek's APU as a delegate.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/public/mace_delegate.h"
#include "mace/runtimes/adapters/call_cost.h"
#include "mace/runtimes/delegate/delegate_device.h"
#include "mace/runtimes/neuron/neuron_api.h"
#include "mace/runtimes/neuron/neuron_model.h"

namespace mace {
namespace {

// The library compiles one network at a time.
std::mutex &CompileMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

size_t BytesOf(const DelegateTensor &tensor) {
  size_t bytes = tensor.type == IDataType::IDT_FLOAT ? sizeof(float) : 1;
  for (int64_t dim : tensor.shape) bytes *= static_cast<size_t>(dim);
  return bytes;
}

class NeuronNetwork final : public DelegateNetwork {
 public:
  NeuronNetwork(std::shared_ptr<const NeuronApi> api,
                const DelegateSegment &segment,
                uint8_t boost)
      : api_(std::move(api)), boost_(boost) {
    for (int id : segment.inputs) {
      input_bytes_.push_back(BytesOf(segment.tensors[static_cast<size_t>(id)]));
    }
    for (int id : segment.outputs) {
      output_bytes_.push_back(
          BytesOf(segment.tensors[static_cast<size_t>(id)]));
    }
  }
  ~NeuronNetwork() override {
    if (compilation_ != nullptr) api_->NeuronCompilation_free(compilation_);
    if (restored_ != nullptr) api_->NeuronModel_free(restored_);
  }

  MaceStatus Compile(std::unique_ptr<NeuronSegmentModel> model,
                     int32_t preference) {
    model_ = std::move(model);
    MACE_NEURON_CHECK(*api_, NeuronCompilation_create, model_->get(),
                      &compilation_);
    if (api_->NeuronCompilation_setPreference != nullptr) {
      MACE_NEURON_CHECK(*api_, NeuronCompilation_setPreference, compilation_,
                        preference);
    }
    MACE_NEURON_CHECK(*api_, NeuronCompilation_finish, compilation_);
    return MaceStatus();
  }

  MaceStatus Restore(const std::vector<unsigned char> &bytes,
                     int32_t preference) {
    MACE_NEURON_CHECK(*api_, NeuronModel_restoreFromCompiledNetwork, &restored_,
                      &compilation_, bytes.data(), bytes.size());
    if (api_->NeuronCompilation_setPreference != nullptr) {
      MACE_NEURON_CHECK(*api_, NeuronCompilation_setPreference, compilation_,
                        preference);
    }
    MACE_NEURON_CHECK(*api_, NeuronCompilation_finish, compilation_);
    return MaceStatus();
  }

  MaceStatus Run(const std::vector<const void *> &inputs,
                 const std::vector<void *> &outputs) override {
    NeuronExecution *execution = nullptr;
    MACE_NEURON_CHECK(*api_, NeuronExecution_create, compilation_, &execution);
    const MaceStatus status = Execute(execution, inputs, outputs);
    api_->NeuronExecution_free(execution);
    return status;
  }

  MaceStatus Store(std::vector<unsigned char> *bytes) override {
    bytes->clear();
    if (api_->NeuronCompilation_getCompiledNetworkSize == nullptr ||
        api_->NeuronCompilation_storeCompiledNetwork == nullptr) {
      return MaceStatus();
    }
    size_t size = 0;
    MACE_NEURON_CHECK(*api_, NeuronCompilation_getCompiledNetworkSize,
                      compilation_, &size);
    bytes->resize(size);
    MACE_NEURON_CHECK(*api_, NeuronCompilation_storeCompiledNetwork,
                      compilation_, bytes->data(), size);
    return MaceStatus();
  }

 private:
  MaceStatus Execute(NeuronExecution *execution,
                     const std::vector<const void *> &inputs,
                     const std::vector<void *> &outputs) {
    if (api_->NeuronExecution_setBoostHint != nullptr) {
      MACE_NEURON_CHECK(*api_, NeuronExecution_setBoostHint, execution, boost_);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      MACE_NEURON_CHECK(*api_, NeuronExecution_setInput, execution,
                        static_cast<int32_t>(i), nullptr, inputs[i],
                        input_bytes_[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      MACE_NEURON_CHECK(*api_, NeuronExecution_setOutput, execution,
                        static_cast<int32_t>(i), nullptr, outputs[i],
                        output_bytes_[i]);
    }
    MACE_NEURON_CHECK(*api_, NeuronExecution_compute, execution);
    return MaceStatus();
  }

  const std::shared_ptr<const NeuronApi> api_;
  const uint8_t boost_;
  std::vector<size_t> input_bytes_;
  std::vector<size_t> output_bytes_;
  std::unique_ptr<NeuronSegmentModel> model_;
  NeuronModel *restored_ = nullptr;
  NeuronCompilation *compilation_ = nullptr;
};

class NeuronDelegate final : public Delegate {
 public:
  NeuronDelegate(std::shared_ptr<const NeuronApi> api,
                 const DelegateOptions &options)
      : api_(std::move(api)), options_(options) {}

  std::string Version() const override {
    return MakeString(api_->version, " preference ",
                      static_cast<int>(options_.apu_preference));
  }

  std::string Refusal(const DelegateSegment &segment) override {
    CommonOp op;
    std::string reason = NeuronRefusal(segment, segment.operators[0], &op);
    if (!reason.empty() ||
        api_->NeuronModel_getSupportedOperations == nullptr) {
      return reason;
    }
    auto model = NeuronSegmentModel::Create(api_, segment);
    if (!model.ok()) return StatusMessage(model.status());
    const uint32_t count = model.value()->operation_count();
    const std::unique_ptr<bool[]> supported(new bool[count]());
    const int error = api_->NeuronModel_getSupportedOperations(
        model.value()->get(), supported.get(), count);
    if (error != kNeuronNoError) {
      return StatusMessage(
          NeuronError("NeuronModel_getSupportedOperations", error));
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (!supported[i]) return "NeuroPilot does not support it";
    }
    return std::string();
  }

  double CopyNanos(int64_t bytes) override { return HalfCallNanos(bytes); }

  MaceStatus Compile(const DelegateSegment &segment,
                     std::unique_ptr<DelegateNetwork> *network) override {
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<NeuronSegmentModel> model,
                          NeuronSegmentModel::Create(api_, segment));
    auto made =
        std::make_unique<NeuronNetwork>(api_, segment, options_.apu_boost_hint);
    const std::lock_guard<std::mutex> lock(CompileMutex());
    MACE_RETURN_IF_ERROR(
        made->Compile(std::move(model), options_.apu_preference));
    *network = std::move(made);
    return MaceStatus();
  }

  MaceStatus Restore(const DelegateSegment &segment,
                     const std::vector<unsigned char> &bytes,
                     std::unique_ptr<DelegateNetwork> *network) override {
    if (api_->NeuronModel_restoreFromCompiledNetwork == nullptr) {
      return Unsupported("this NeuroPilot restores no compiled network");
    }
    auto made =
        std::make_unique<NeuronNetwork>(api_, segment, options_.apu_boost_hint);
    const std::lock_guard<std::mutex> lock(CompileMutex());
    MACE_RETURN_IF_ERROR(made->Restore(bytes, options_.apu_preference));
    *network = std::move(made);
    return MaceStatus();
  }

 private:
  const std::shared_ptr<const NeuronApi> api_;
  const DelegateOptions options_;
};

MaceStatus MakeNeuronDelegate(const DelegateOptions &options,
                              std::unique_ptr<Delegate> *delegate) {
  MACE_ASSIGN_OR_RETURN(std::shared_ptr<const NeuronApi> api, OpenNeuronApi());
  *delegate = std::make_unique<NeuronDelegate>(std::move(api), options);
  return MaceStatus();
}

const DelegateRegistration registration(RT_APU, MakeNeuronDelegate);

}  // namespace
}  // namespace mace
