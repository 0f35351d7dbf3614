// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/op_runner.h"

#include <algorithm>

#include "mace/core/base/half.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/testing/fake_contexts.h"
#include "mace/ops/testing/guarded_buffer.h"
#include "mace/ops/testing/run_in_bands.h"

namespace mace::op_test {

namespace {

Tensor TensorOf(const CaseInput &input, size_t index) {
  Tensor tensor;
  tensor.name = "input" + std::to_string(index);
  tensor.data_type = input.value.data_type;
  tensor.shape = input.value.shape;
  tensor.is_constant = input.kind == CaseInput::Kind::kConstant;
  tensor.layout = input.layout;
  tensor.groups = input.groups;
  if (input.quantization.quantized()) {
    tensor.quantization = &input.quantization;
  }
  return tensor;
}

bool Holds(const GuardedBuffer &buffer, const Value &value) {
  return std::equal(value.bytes.begin(), value.bytes.end(),
                    const_cast<GuardedBuffer &>(buffer).data());
}

std::unique_ptr<GuardedBuffer> Store(const Value &value) {
  auto buffer = std::make_unique<GuardedBuffer>(value.bytes.size());
  std::copy(value.bytes.begin(), value.bytes.end(), buffer->data());
  return buffer;
}

}  // namespace

class OpSession::Impl {
 public:
  Impl(const OpCase &op_case, const RunOptions &options)
      : case_(op_case), options_(options), pool_(options.threads) {
    for (size_t i = 0; i < case_.inputs.size(); ++i) {
      const bool absent = case_.inputs[i].kind == CaseInput::Kind::kAbsent;
      case_.def.inputs.push_back(absent ? "" : "input" + std::to_string(i));
    }
    for (size_t i = 0; i < case_.outputs; ++i) {
      case_.def.outputs.push_back("output" + std::to_string(i));
    }
    status_ = Init();
  }

  OpResult Run(const std::vector<CaseInput> &inputs);

 private:
  MaceStatus Init();
  // Whether the engine would store these activations in 16 bits.
  bool InHalf(const std::vector<CaseInput> &inputs) const;
  OpResult RunStored(const std::vector<CaseInput> &inputs);
  // Binds tensors to the inputs; `known` leaves out values that are set only
  // for Run.
  void Bind(const std::vector<CaseInput> &inputs);
  void CheckUnchanged(const std::vector<CaseInput> &inputs, OpResult *result);
  MaceStatus InferShapes(std::vector<Tensor> *outputs, OpResult *result);
  void PlanForOthers();
  MaceStatus Compute(const FakePlanContext &planned,
                     std::vector<Tensor> *computed,
                     OpResult *result);
  // Makes inputs and outputs strided, or places them in each other, as the
  // options say and the operator allows.
  void SpreadRows(const FakePlanContext &planned, std::vector<Tensor> *outputs);
  void PlaceParts(const FakePlanContext &planned, std::vector<Tensor> *outputs);

  friend class OpSession;

  OpCase case_;
  RunOptions options_;
  ShuffledPool pool_;
  ParsedAttributes attributes_;
  std::unique_ptr<CpuOp> op_;
  MaceStatus status_;
  bool half_ = false;  // activations declared float32 are of 16 bits
  Buffers constants_;
  Buffers prepared_;
  size_t init_prepared_bytes_ = 0;
  Buffers values_;
  Buffers spread_;  // tensors with rows apart
  std::vector<Tensor> tensors_;
  std::vector<const Tensor *> bound_;
};

MaceStatus OpSession::Impl::Init() {
  const OpRegistration *registration = OpRegistration::For(case_.def, CPU);
  if (registration == nullptr) {
    return Unsupported("operator type ", case_.def.type, " is not linked in");
  }
  MACE_RETURN_IF_ERROR(CheckAgainstSchema(*registration->schema(), case_));
  for (size_t i = 0; i < case_.inputs.size(); ++i) {
    tensors_.push_back(TensorOf(case_.inputs[i], i));
    constants_.push_back(nullptr);
    if (case_.inputs[i].kind == CaseInput::Kind::kConstant) {
      constants_[i] = Store(case_.inputs[i].value);
      tensors_[i].data = constants_[i]->data();
    }
  }
  MACE_RETURN_IF_ERROR(attributes_.Parse(*registration->schema(), case_.def));
  op_.reset(static_cast<CpuOp *>(registration->factory()().release()));
  FakeInitContext context(case_.def, attributes_.get(), tensors_, case_.inputs,
                          case_.hints, options_.isa, &pool_, &prepared_);
  const MaceStatus status = op_->Init(*registration->schema(), &context);
  for (const auto &buffer : prepared_) init_prepared_bytes_ += buffer->size();
  return status;
}

void OpSession::Impl::Bind(const std::vector<CaseInput> &inputs) {
  values_.clear();
  bound_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_.push_back(nullptr);
    if (inputs[i].kind == CaseInput::Kind::kAbsent) {
      bound_.push_back(nullptr);
      continue;
    }
    if (inputs[i].kind != CaseInput::Kind::kConstant) {
      tensors_[i] = TensorOf(inputs[i], i);
      values_[i] = Store(inputs[i].value);
      if (inputs[i].kind == CaseInput::Kind::kKnown) {
        tensors_[i].data = values_[i]->data();
      }
    }
    bound_.push_back(&tensors_[i]);
  }
}

void OpSession::Impl::CheckUnchanged(const std::vector<CaseInput> &inputs,
                                     OpResult *result) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const GuardedBuffer *buffer =
        values_[i] != nullptr ? values_[i].get() : constants_[i].get();
    if (buffer == nullptr) continue;
    const bool shared =
        options_.in_place >= 0 &&
        static_cast<size_t>(options_.in_place) < result->in_place.size() &&
        result->in_place[options_.in_place].second == i;
    if (!shared && !Holds(*buffer, inputs[i].value)) {
      result->violation = "input " + std::to_string(i) + " was changed";
    }
    if (!buffer->Intact()) {
      result->violation =
          "memory beside input " + std::to_string(i) + " was written";
    }
  }
  for (const auto &buffer : prepared_) {
    if (!buffer->Intact()) {
      result->violation = "memory beside a prepared constant was written";
    }
  }
}

bool OpSession::Impl::InHalf(const std::vector<CaseInput> &inputs) const {
  const Precision asked = case_.hints.precision;
  const bool fp16 = asked == Precision::kFloat16 && HasFp16(options_.isa);
  const bool bf16 = asked == Precision::kBfloat16 && HasBf16(options_.isa);
  if (!IsOk(status_) || !(fp16 || bf16)) return false;
  std::vector<FloatStorage> stored(inputs.size(), FloatStorage::kNone);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].value.data_type != DataType::kFloat32) continue;
    const CaseInput::Kind kind = inputs[i].kind;
    stored[i] = kind == CaseInput::Kind::kComputed   ? FloatStorage::kOther
                : kind == CaseInput::Kind::kConstant ? FloatStorage::kConstant
                                                     : FloatStorage::kFloat32;
  }
  return StoresOtherFloats(op_->signature(), stored);
}

OpResult OpSession::Impl::Run(const std::vector<CaseInput> &inputs) {
  half_ = InHalf(inputs);
  if (!half_) return RunStored(inputs);
  const DataType type = StorageType(case_.hints.precision);
  const bool bf16 = type == DataType::kBfloat16;
  std::vector<CaseInput> halves = inputs;
  for (CaseInput &input : halves) {
    // Values that are known before the run are converted too, and remain known.
    const bool constant = input.kind == CaseInput::Kind::kConstant;
    if (constant || input.value.data_type != DataType::kFloat32) continue;
    input.value = bf16 ? InBfloat16(input.value) : InFloat16(input.value);
  }
  OpResult result = RunStored(halves);
  for (Value &output : result.outputs) {
    if (output.data_type != type) continue;
    std::vector<float> values;
    for (uint16_t x : output.As<uint16_t>()) {
      values.push_back(bf16 ? Bfloat16ToFloat(x) : WidenFloat16(x));
    }
    output = Value::Floats(output.shape, values);
  }
  return result;
}

OpResult OpSession::Impl::RunStored(const std::vector<CaseInput> &inputs) {
  OpResult result;
  result.status = status_;
  if (!IsOk(status_)) return result;
  Bind(inputs);
  std::vector<Tensor> outputs;
  result.status = InferShapes(&outputs, &result);
  if (!IsOk(result.status)) return result;
  FakePlanContext planned(bound_, outputs, &pool_, &prepared_);
  result.status = AtOperator(case_.def, op_->Plan(&planned));
  if (IsOk(result.status)) result.status = planned.FillPrepared();
  result.in_place = planned.record().in_place;
  result.may_be_strided = !planned.record().strided.empty();
  result.may_have_parts = !planned.record().parts.empty();
  result.init_prepared_bytes = init_prepared_bytes_;
  result.prepared_bytes = planned.prepared_bytes();
  if (!IsOk(result.status)) return result;
  PlanForOthers();
  if (const OpPlan *plan = planned.record().plan.get(); plan != nullptr) {
    result.may_run_in_bands = plan->row_bands() != nullptr;
    result.macs = plan->Macs();
    result.kernel_name = plan->KernelName();
  }
  result.status = Compute(planned, &outputs, &result);
  CheckUnchanged(inputs, &result);
  return result;
}

MaceStatus OpSession::Impl::InferShapes(std::vector<Tensor> *outputs,
                                        OpResult *result) {
  const OpSchema &schema = *OpRegistration::For(case_.def, CPU)->schema();
  // As in the model: float, however it is stored.
  const DataType half = StorageType(case_.hints.precision);
  std::vector<Tensor> logical = tensors_;
  std::vector<const Tensor *> inputs;
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (half_ && !logical[i].is_constant && logical[i].data_type == half) {
      logical[i].data_type = DataType::kFloat32;
    }
    inputs.push_back(bound_[i] == nullptr ? nullptr : &logical[i]);
  }
  FakeShapeContext shaped(inputs, case_.outputs);
  MaceStatus status =
      AtOperator(case_.def, schema.infer_shapes(attributes_.get(), &shaped));
  result->violation = shaped.violation();
  if (!IsOk(status)) return status;
  outputs->resize(case_.outputs);
  for (size_t i = 0; i < case_.outputs; ++i) {
    const OutputSpec &spec = shaped.outputs()[i];
    const size_t port = std::min(i, schema.output_count - 1);
    if (!spec.set) {
      result->violation = "InferShapes did not set output " + std::to_string(i);
      return RuntimeError(result->violation);
    }
    const bool quantized = IsQuantized(schema, case_.def);
    const uint32_t types = PortTypes(schema.outputs[port], quantized);
    DataType type = spec.data_type;
    if (quantized && schema.outputs[port].quantized_types != 0) {
      type = case_.def.output_quantization[i].data_type;
    }
    if ((types & DataTypeBit(type)) == 0) {
      result->violation =
          MakeString("output ", i, " has type ", DataTypeName(type),
                     ", which the schema does not declare");
      return RuntimeError(result->violation);
    }
    const int64_t elements = spec.shape.CheckedElements();
    if (elements < 0) {
      result->violation =
          MakeString("output ", i, " has the shape ", spec.shape.ToString());
      return RuntimeError(result->violation);
    }
    Tensor &output = (*outputs)[i];
    output.name = "output" + std::to_string(i);
    output.shape = spec.shape;
    output.data_type = half_ && type == DataType::kFloat32 ? half : type;
    if (quantized) {
      output.quantization = &case_.def.output_quantization[i];
    }
    if (output.bytes() > kMaxOutputBytes) {
      return OutOfResources("output ", i, " is too large for a test");
    }
  }
  return MaceStatus();
}

// Planning for other shapes must not change the first plan. It does not matter
// whether the operator accepts these shapes.
void OpSession::Impl::PlanForOthers() {
  std::vector<Tensor> others = tensors_;
  std::vector<const Tensor *> inputs;
  for (size_t i = 0; i < bound_.size(); ++i) {
    Tensor &other = others[i];
    if (!other.is_constant && other.data == nullptr && other.shape.rank() > 0) {
      other.shape[0] += 1;
    }
    inputs.push_back(bound_[i] == nullptr ? nullptr : &other);
  }
  FakeShapeContext shaped(inputs, case_.outputs);
  const OpSchema &schema = *OpRegistration::For(case_.def, CPU)->schema();
  if (!IsOk(schema.infer_shapes(attributes_.get(), &shaped))) return;
  std::vector<Tensor> outputs(case_.outputs);
  for (size_t i = 0; i < case_.outputs; ++i) {
    outputs[i].shape = shaped.outputs()[i].shape;
    outputs[i].data_type = shaped.outputs()[i].data_type;
    if (IsQuantized(schema, case_.def)) {
      outputs[i].data_type = case_.def.output_quantization[i].data_type;
      outputs[i].quantization = &case_.def.output_quantization[i];
    }
  }
  FakePlanContext planned(inputs, outputs, &pool_, &prepared_);
  // A transformed constant is requested once.
  if (IsOk(op_->Plan(&planned))) planned.FillPrepared();
}

MaceStatus OpSession::Impl::Compute(const FakePlanContext &planned,
                                    std::vector<Tensor> *computed,
                                    OpResult *result) {
  std::vector<Tensor> &outputs = *computed;
  Buffers buffers;
  std::vector<uint8_t *> places;
  for (const Tensor &output : outputs) {
    buffers.push_back(
        std::make_unique<GuardedBuffer>(static_cast<size_t>(output.bytes())));
    places.push_back(buffers.back()->data());
  }
  for (const auto &[output, input] : result->in_place) {
    if (output >= outputs.size() || input >= bound_.size() ||
        bound_[input] == nullptr ||
        bound_[input]->bytes() != outputs[output].bytes()) {
      result->violation = "AllowInPlace of tensors that differ in bytes";
      return RuntimeError(result->violation);
    }
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] != nullptr) tensors_[i].data = values_[i]->data();
  }
  if (options_.in_place >= 0 &&
      static_cast<size_t>(options_.in_place) < result->in_place.size()) {
    const auto [output, input] = result->in_place[options_.in_place];
    if (values_[input] != nullptr) places[output] = values_[input]->data();
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].data = places[i];
  spread_.clear();
  if (options_.strided) SpreadRows(planned, &outputs);
  if (options_.parts) PlaceParts(planned, &outputs);

  if (planned.record().scratch_bytes > static_cast<size_t>(kMaxOutputBytes)) {
    return OutOfResources("the scratch memory is too large for a test");
  }
  GuardedBuffer scratch(planned.record().scratch_bytes);
  FakeRunContext context(
      bound_, &outputs,
      planned.record().scratch_bytes > 0 ? scratch.data() : nullptr,
      planned.record().plan.get(), &pool_);
  MaceStatus status;
  if (options_.bands && result->may_run_in_bands) {
    const std::string wrong =
        RunInBands(*planned.record().plan.get()->row_bands(), context,
                   &tensors_[0], &outputs[0], options_.in_place >= 0);
    if (!wrong.empty()) result->violation = wrong;
  } else {
    status = op_->Run(&context);
  }
  for (const auto &buffer : spread_) {
    if (!buffer->Intact()) {
      result->violation = "memory beside a tensor with rows apart was written";
    }
  }
  if (!scratch.Intact())
    result->violation = "memory beside scratch was written";
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!buffers[i]->Intact()) {
      result->violation =
          "memory beside output " + std::to_string(i) + " was written";
    }
    Value value;
    value.data_type = outputs[i].data_type;
    result->planned_elements.push_back(outputs[i].shape.Elements());
    value.shape = outputs[i].RunShape();
    value.bytes.resize(static_cast<size_t>(outputs[i].bytes()));
    if (!GatherRows(outputs[i], value.bytes.data())) {
      result->violation = "memory between the rows of output " +
                          std::to_string(i) + " was written";
    }
    // The elements of a result that is smaller than planned come first.
    outputs[i].shape = value.shape;
    value.bytes.resize(static_cast<size_t>(outputs[i].bytes()));
    result->outputs.push_back(std::move(value));
  }
  return status;
}

void OpSession::Impl::SpreadRows(const FakePlanContext &planned,
                                 std::vector<Tensor> *outputs) {
  const auto move = [this](Tensor *tensor) {
    tensor->row_stride = tensor->row_length() + kRowGap;
    spread_.push_back(std::make_unique<GuardedBuffer>(SpreadBytes(*tensor)));
    return spread_.back()->data();
  };
  const PlanRecord &record = planned.record();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!record.MayBeStrided(i) || values_[i] == nullptr ||
        tensors_[i].elements() == 0) {
      continue;
    }
    const auto *dense = tensors_[i].As<uint8_t>();
    tensors_[i].data = move(&tensors_[i]);
    ScatterRows(tensors_[i], dense);
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    Tensor &output = (*outputs)[i];
    const bool strided = record.MayBeStrided(planned.input_count() + i);
    if (strided && output.elements() > 0) output.data = move(&output);
  }
}

void OpSession::Impl::PlaceParts(const FakePlanContext &planned,
                                 std::vector<Tensor> *outputs) {
  for (const PlanRecord::Part &part : planned.record().parts) {
    const Tensor &whole = (*outputs)[part.output];
    Tensor &tensor = tensors_[part.input];
    if (values_[part.input] == nullptr || tensor.elements() == 0) continue;
    const bool one_run = part.place.run == tensor.elements();
    const bool of_rows = part.place.run == tensor.row_length() &&
                         part.place.stride == whole.row_length() &&
                         planned.record().MayBeStrided(part.input);
    if (!of_rows && (!one_run || whole.row_stride != 0)) continue;
    tensor.row_stride = of_rows ? whole.RowStride() : 0;
    tensor.data = static_cast<uint8_t *>(whole.data) +
                  part.place.offset *
                      static_cast<int64_t>(DataTypeSize(tensor.data_type));
    ScatterRows(tensor, values_[part.input]->data());
  }
}

OpSession::OpSession(const OpCase &op_case, const RunOptions &options)
    : impl_(std::make_unique<Impl>(op_case, options)) {}

OpSession::~OpSession() = default;

OpResult OpSession::Run() { return impl_->Run(impl_->case_.inputs); }

OpResult OpSession::Run(const std::vector<CaseInput> &inputs) {
  return impl_->Run(inputs);
}

OpResult RunOp(const OpCase &op_case, const RunOptions &options) {
  return OpSession(op_case, options).Run();
}

}  // namespace mace::op_test
