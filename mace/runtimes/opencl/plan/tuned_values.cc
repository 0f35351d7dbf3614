// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/tuned_values.h"

#include <algorithm>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"

namespace mace {

std::string ProblemText(const OpenclPlanContext &context) {
  const OperatorDef &def = context.def();
  std::string text = def.type + " ";
  const auto add = [&text](const Tensor *tensor, size_t port) {
    if (port > 0) text += ',';
    if (tensor == nullptr) return;
    text += tensor->shape.ToString();
    if (tensor->data_type != DataType::kFloat32) {
      text += MakeString(" ", DataTypeName(tensor->data_type));
    }
  };
  for (size_t i = 0; i < context.input_count(); ++i) add(context.input(i), i);
  text += '>';
  for (size_t i = 0; i < context.output_count(); ++i) add(context.output(i), i);
  uint64_t hash = kHashStart;
  for (const AttributeValue &value : def.attributes) {
    hash = HashText(
        MakeString(value.name, "=", value.i, " ", value.f, " ", value.s, ";"),
        hash);
    for (int64_t i : value.ints) hash = HashText(MakeString(i, ","), hash);
    for (float f : value.floats) hash = HashText(MakeString(f, ","), hash);
  }
  text += " " + HashDigits(hash);
  const GpuTraits &traits = context.gpu();
  text += traits.images ? " image" : " buffer";
  if (traits.half_storage) text += " half";
  if (traits.half_arithmetic) text += " arithmetic";
  return text;
}

void TunedValues::Apply(TuningChoice *choice) const {
  choice->chosen = 0;
  choice->is_tuned = false;
  const std::string value = Find(*choice);
  if (value.empty()) return;
  const auto found =
      std::find(choice->values.begin(), choice->values.end(), value);
  if (found == choice->values.end()) {
    VLOG(1) << "tuned value '" << value << "' for " << choice->key
            << " is not used: it is none of the possible ones";
    return;
  }
  choice->chosen = static_cast<size_t>(found - choice->values.begin());
  choice->is_tuned = true;
}

TunedParameters::TunedParameters(std::string device,
                                 std::unique_ptr<KVStorage> shipped,
                                 std::unique_ptr<KVStorage> own)
    : device_(std::move(device)),
      shipped_(std::move(shipped)),
      own_(std::move(own)) {}

std::string TunedParameters::Find(const TuningChoice &choice) const {
  const std::string key = KeyOf(choice);
  for (KVStorage *table : {shipped_.get(), own_.get()}) {
    const std::vector<unsigned char> *entry = table->Find(key);
    if (entry == nullptr) continue;
    // The source, a blank, and the value.
    const std::string text(entry->begin(), entry->end());
    if (text.compare(0, choice.source.size() + 1, choice.source + " ") == 0) {
      return text.substr(choice.source.size() + 1);
    }
    VLOG(1) << "a tuned value for " << choice.key
            << " is not used: it is for other kernels";
  }
  return "";
}

void TunedParameters::Insert(const TuningChoice &choice,
                             const std::string &value) {
  const std::string text = choice.source + " " + value;
  own_->Insert(KeyOf(choice), {text.begin(), text.end()});
}

void TunedParameters::Flush() {
  if (own_->Flush() != 0) {
    LOG(WARNING) << "tuned OpenCL parameters can't be stored";
  }
}

std::string TrialValues::Find(const TuningChoice &choice) const {
  const auto found = values_.find(choice.key);
  if (found != values_.end()) return found->second;
  return other_ == nullptr ? "" : other_->Find(choice);
}

}  // namespace mace
