// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/model.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/device_name.h"
#include "mace/core/base/missing_part.h"
#include "mace/core/base/near_names.h"
#include "mace/core/model/packed_filter.h"

namespace mace {
namespace {

// Collects problems, at most as many as fit on a screen.
class Problems {
 public:
  template <typename... Args>
  void Add(const Args &...args) {
    if (++count_ <= kMaxLines) {
      text_ += "\n  ";
      text_ += MakeString(args...);
    }
  }
  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  std::string text() const {
    if (count_ <= kMaxLines) return text_;
    return text_ + MakeString("\n  and ", count_ - kMaxLines, " more");
  }

 private:
  static constexpr size_t kMaxLines = 40;
  size_t count_ = 0;
  std::string text_;
};

std::string Label(const OperatorDef &def) {
  return MakeString("operator '", def.name, "' (", def.type, ")");
}

// Tensor names that exist so far, in the file's order.
class Names {
 public:
  explicit Names(Problems *problems) : problems_(problems) {}
  // `who()` is called for messages only.
  template <typename Who>
  void Produce(const std::string &name, const Who &who) {
    if (name.empty()) {
      problems_->Add(who(), " has no name");
    } else if (!names_.insert(name).second) {
      problems_->Add(who(), ": tensor '", name, "' is produced twice");
    }
  }
  bool Has(const std::string &name) const { return names_.count(name) > 0; }

 private:
  Problems *problems_;
  std::unordered_set<std::string> names_;
};

void CheckConstant(const ConstantInfo &constant,
                   uint64_t data_size,
                   Problems *problems) {
  const auto who = [&constant] {
    return MakeString("constant '", constant.name, "'");
  };
  if (constant.data_type == DataType::kUnknown) {
    problems->Add(who(), " has no element type");
    return;
  }
  if (!LayoutTakes(constant.layout, constant.data_type)) {
    problems->Add(who(), ": layout ", static_cast<int>(constant.layout),
                  " cannot store ", DataTypeName(constant.data_type));
    return;
  }
  const int64_t bytes = StoredBytes(constant);
  if (bytes < 0) {
    problems->Add(who(), ": shape ", constant.dims.ToString(),
                  constant.layout == ConstantLayout::kPlain
                      ? ""
                      : MakeString(" cannot be packed in ", constant.groups,
                                   " groups or"),
                  " is too large");
  } else if (static_cast<uint64_t>(bytes) != constant.size) {
    problems->Add(who(), ": shape ", constant.dims.ToString(), " of ",
                  DataTypeName(constant.data_type), " takes ", bytes,
                  " bytes, the file has ", constant.size);
  }
  if (constant.offset % kMemoryAlignment != 0) {
    problems->Add(who(), ": offset ", constant.offset, " is not a multiple of ",
                  kMemoryAlignment);
  }
  if (constant.size > data_size ||
      constant.offset > data_size - constant.size) {
    problems->Add(who(), ": bytes ", constant.offset, " to ", constant.offset,
                  " + ", constant.size, " are outside the data of ", data_size,
                  " bytes");
  }
}

void CheckLargestShape(const ValueInfo &input, Problems *problems) {
  const Shape &largest = input.largest_shape;
  if (largest.rank() == 0) return;
  bool fits = largest.rank() == input.shape.rank();
  for (size_t i = 0; fits && i < largest.rank(); ++i) {
    fits = input.shape[i] < 0 || input.shape[i] == largest[i];
  }
  if (!fits || largest.CheckedElements() < 0) {
    problems->Add("input '", input.name, "' has the largest shape ",
                  largest.ToString(), ", which does not match its shape ",
                  input.shape.ToString());
  }
}

// Finds the quantization of every value and checks it.
class QuantizationChecker {
 public:
  QuantizationChecker(const Model &model, Problems *problems)
      : model_(model), problems_(problems) {}

  void Check() {
    for (const ValueInfo &input : model_.inputs) CheckInput(input);
    for (const ConstantInfo &constant : model_.constants) {
      CheckConstant(constant);
    }
    for (const OperatorDef &def : model_.operators) CheckOperator(def);
    for (const ValueInfo &output : model_.outputs) {
      if (Of(output.name) == output.quantization) continue;
      problems_->Add("output '", output.name, "' declares the quantization ",
                     Text(output.quantization), ", but its tensor has ",
                     Text(Of(output.name)));
    }
    for (const StateInfo &state : model_.states) {
      if (Of(state.input) == Of(state.output)) continue;
      problems_->Add("state '", state.input, "' has the quantization ",
                     Text(Of(state.input)), ", but '", state.output,
                     "', its next value, has ", Text(Of(state.output)));
    }
  }

 private:
  static std::string Text(const Quantization &quantization) {
    return quantization.quantized() ? quantization.ToString() : "none";
  }

  // Returns that of a tensor; there are few outputs and states.
  Quantization Of(const std::string &name) const {
    for (const OperatorDef &def : model_.operators) {
      // Too few quantizations are reported elsewhere.
      for (size_t i = 0;
           i < std::min(def.outputs.size(), def.output_quantization.size());
           ++i) {
        if (def.outputs[i] == name) return def.output_quantization[i];
      }
    }
    for (const ValueInfo &input : model_.inputs) {
      if (input.name == name) return input.quantization;
    }
    for (const ConstantInfo &constant : model_.constants) {
      if (constant.name == name) return constant.quantization;
    }
    return Quantization();
  }

  // `who()` is called for messages only.
  template <typename Who>
  void AddProblem(const Who &who, const std::string &problem) {
    if (!problem.empty()) {
      problems_->Add("the quantization of ", who(), ": ", problem);
    }
  }

  void CheckInput(const ValueInfo &input) {
    const auto who = [&input] {
      return MakeString("input '", input.name, "'");
    };
    AddProblem(who, input.quantization.ProblemWith(input.data_type));
    Shape shape = input.shape;
    if (input.data_format == DataFormat::NCHW && shape.rank() == 4) {
      shape = {shape[0], shape[2], shape[3], shape[1]};
    }
    AddProblem(who, input.quantization.ProblemWith(shape));
  }

  void CheckConstant(const ConstantInfo &constant) {
    const auto who = [&constant] {
      return MakeString("constant '", constant.name, "'");
    };
    if (constant.quantization.quantized() &&
        (LayoutBit(constant.layout) & kFilterLayouts) != 0) {
      AddProblem(who, "it is packed as a filter of floats");
      return;
    }
    AddProblem(who, constant.quantization.ProblemWith(constant.data_type));
    AddProblem(who, constant.quantization.ProblemWith(constant.dims));
  }

  void CheckOperator(const OperatorDef &def) {
    const size_t count = def.output_quantization.size();
    if (count != 0 && count != def.outputs.size()) {
      problems_->Add(Label(def), " has ", def.outputs.size(),
                     " output(s), but quantizations for ", count);
    }
    // Conditions on shapes and types are checked when shapes are inferred.
  }

  const Model &model_;
  Problems *problems_;
};

void CheckStates(const Model &model, Problems *problems) {
  std::set<std::string> inputs;
  std::set<std::string> outputs;
  for (const StateInfo &state : model.states) {
    const auto input = std::find_if(
        model.inputs.begin(), model.inputs.end(),
        [&state](const ValueInfo &info) { return info.name == state.input; });
    if (input == model.inputs.end()) {
      problems->Add("state '", state.input, "' is not an input of the model");
    } else if (input->shape.CheckedElements() < 0) {
      problems->Add("state '", state.input, "' has the shape ",
                    input->shape.ToString(), ", which is not fixed");
    }
    const bool made =
        std::any_of(model.operators.begin(), model.operators.end(),
                    [&state](const OperatorDef &def) {
                      return !state.output.empty() &&
                             std::find(def.outputs.begin(), def.outputs.end(),
                                       state.output) != def.outputs.end();
                    });
    if (!made) {
      problems->Add("state '", state.input, "' has the next value '",
                    state.output, "', which no operator produces");
    }
    if (!inputs.insert(state.input).second) {
      problems->Add("input '", state.input, "' belongs to two states");
    }
    if (!outputs.insert(state.output).second) {
      problems->Add("two states have the next value '", state.output, "'");
    }
  }
}

void CheckSubgraphs(const Model &model, Problems *problems) {
  std::set<std::string> names;
  for (const std::string &name : model.subgraphs) {
    if (name.empty()) problems->Add("a subgraph has no name");
    if (!names.insert(name).second) {
      problems->Add("two subgraphs are called '", name, "'");
    }
  }
  const size_t count = std::max<size_t>(model.subgraphs.size(), 1);
  for (const OperatorDef &def : model.operators) {
    if (def.subgraph >= count) {
      problems->Add(Label(def), " belongs to subgraph ", def.subgraph,
                    ", but there are ", count);
    }
  }
}

void CheckOperatorNames(const OperatorDef &def,
                        Names *names,
                        Problems *problems) {
  for (const std::string &input : def.inputs) {
    if (!input.empty() && !names->Has(input)) {
      problems->Add(Label(def), " reads '", input,
                    "', which nothing earlier in the file produces");
    }
  }
  for (const std::string &output : def.outputs) {
    // The schema says whether an output may be absent.
    if (!output.empty()) names->Produce(output, [&def] { return Label(def); });
  }
}

const char *KindName(AttributeKind kind) {
  constexpr const char *kNames[] = {"int", "float", "string", "ints", "floats"};
  const auto index = static_cast<size_t>(kind);
  return index < 5 ? kNames[index] : "unknown";
}

const char *PackingName(uint32_t layouts) {
  if (layouts == kPlainLayout) return "plain";
  return layouts == kFilterLayouts ? "packed as a filter"
                                   : "plain or packed as matrices";
}

// The port at position `index`: its own, or the last one if that is variadic.
const PortSchema *PortAt(const PortSchema *ports, size_t count, size_t index) {
  if (index < count) return &ports[index];
  if (count > 0 && ports[count - 1].variadic) return &ports[count - 1];
  return nullptr;
}

class OperatorChecker {
 public:
  explicit OperatorChecker(const Model &model) : model_(model) {
    for (const ConstantInfo &constant : model.constants) {
      constants_[constant.name] = &constant;
    }
  }

  void Check(const OperatorDef &def, DeviceType device) {
    const OpRegistration *entry = OpRegistration::For(def, device);
    if (entry == nullptr) {
      const bool floats = OpRegistration::Find(def.type, device) != nullptr;
      if (floats || OpSelection::LeftOut(def.type)) {
        left_out_.insert((floats ? "Quantized" : "") + def.type);
      } else {
        AddUnknownType(def, device);
      }
      return;
    }
    const OpSchema &schema = *entry->schema();
    CheckPorts(def, "input", def.inputs, schema.inputs, schema.input_count);
    CheckPorts(def, "output", def.outputs, schema.outputs, schema.output_count);
    CheckConstants(def, *entry);
    CheckAttributes(def, schema);
  }

  MaceStatus status() {
    if (!left_out_.empty()) AddLeftOut();
    if (invalid_.empty() && unsupported_.empty()) {
      return MaceStatus::MACE_SUCCESS;
    }
    const std::string text = MakeString(
        "model '", model_.name, "' has ",
        invalid_.count() + unsupported_.count(),
        " operator problem(s):", unsupported_.text(), invalid_.text());
    return MaceStatus(invalid_.empty() ? MaceStatus::MACE_UNSUPPORTED
                                       : MaceStatus::MACE_INVALID_ARGS,
                      text);
  }

 private:
  void AddLeftOut() {
    std::string types;
    for (const std::string &type : left_out_) {
      types += types.empty() ? type : "," + type;
    }
    unsupported_.Add(kBuiltWithout, "the operator(s) ", types,
                     kBuildForThisModel, ", or add -ops=", types);
  }

  void AddUnknownType(const OperatorDef &def, DeviceType device) {
    std::string elsewhere;
    std::vector<std::string> types;
    for (const OpRegistration *entry = OpRegistration::first();
         entry != nullptr; entry = entry->next()) {
      if (entry->schema()->type == def.type) {
        elsewhere += elsewhere.empty() ? "; it runs on " : ", ";
        elsewhere += DeviceName(entry->device());
      } else if (entry->device() == device) {
        types.emplace_back(entry->schema()->type);
      }
    }
    if (elsewhere.empty()) {
      elsewhere = "; the nearest are " + NearNames(def.type, types);
    }
    unsupported_.Add(Label(def), ": this library has no such operator for ",
                     DeviceName(device), elsewhere);
  }

  void CheckPorts(const OperatorDef &def,
                  const char *kind,
                  const std::vector<std::string> &names,
                  const PortSchema *ports,
                  size_t count) {
    if (names.size() > count && (count == 0 || !ports[count - 1].variadic)) {
      invalid_.Add(Label(def), " has ", names.size(), " ", kind, "s; at most ",
                   count, " are possible");
    }
    for (size_t i = 0; i < std::max(names.size(), count); ++i) {
      const PortSchema *port = PortAt(ports, count, i);
      const bool absent = i >= names.size() || names[i].empty();
      if (port != nullptr && absent && !port->optional) {
        invalid_.Add(Label(def), " lacks its ", kind, " '", port->name, "'");
      }
    }
  }

  void CheckConstants(const OperatorDef &def, const OpRegistration &entry) {
    const OpSchema &schema = *entry.schema();
    const bool quantized = entry.quantized() != nullptr;
    for (size_t i = 0; i < def.inputs.size(); ++i) {
      const PortSchema *port = PortAt(schema.inputs, schema.input_count, i);
      if (port == nullptr || def.inputs[i].empty()) continue;
      const auto found = constants_.find(def.inputs[i]);
      if (found == constants_.end()) {
        if (port->constant) {
          invalid_.Add(Label(def), ": input '", port->name, "' ('",
                       def.inputs[i], "') must be a constant");
        }
        continue;
      }
      const ConstantInfo &constant = *found->second;
      const uint32_t types = PortTypes(*port, quantized);
      if ((types & DataTypeBit(constant.data_type)) == 0) {
        invalid_.Add(Label(def), ": constant '", constant.name, "' is ",
                     DataTypeName(constant.data_type), "; input '", port->name,
                     "' takes ", DataTypeNames(types));
      }
      const uint32_t layouts = PortLayouts(*port, quantized);
      if ((LayoutBit(constant.layout) & layouts) == 0) {
        invalid_.Add(Label(def), ": constant '", constant.name, "' is ",
                     IsPacked(constant.layout) ? "packed" : "plain",
                     ", input '", port->name, "' must be ",
                     PackingName(layouts));
      }
    }
  }

  void CheckAttributes(const OperatorDef &def, const OpSchema &schema) {
    std::vector<char> seen(schema.attribute_count, 0);
    for (const AttributeValue &attribute : def.attributes) {
      AttributeSchema known = {};
      const char *entry = schema.attributes;
      size_t index = 0;
      for (; index < schema.attribute_count; ++index) {
        known = ReadAttribute(&entry);
        if (attribute.name == known.name) break;
      }
      if (index == schema.attribute_count) {
        unsupported_.Add(Label(def), ": this library does not know attribute '",
                         attribute.name, "'");
      } else if (known.kind != attribute.kind) {
        invalid_.Add(Label(def), ": attribute '", attribute.name,
                     "' is of kind ", KindName(attribute.kind), ", not ",
                     KindName(known.kind));
      } else if (std::exchange(seen[index], 1) != 0) {
        invalid_.Add(Label(def), ": attribute '", attribute.name,
                     "' is set twice");
      }
    }
  }

  const Model &model_;
  std::unordered_map<std::string, const ConstantInfo *> constants_;
  std::set<std::string> left_out_;
  Problems unsupported_;
  Problems invalid_;
};

}  // namespace

bool LayoutTakes(ConstantLayout layout, DataType type) {
  switch (layout) {
    case ConstantLayout::kPlain:
      return type != DataType::kUnknown;
    case ConstantLayout::kPackedO16:
      return type == DataType::kFloat32 || type == DataType::kFloat16 ||
             type == DataType::kBfloat16;
    case ConstantLayout::kPackedO16Pairs:
      return type == DataType::kBfloat16;
    case ConstantLayout::kPackedO16Scaled:
    case ConstantLayout::kPackedO16Fours:
      return type == DataType::kInt8;
    case ConstantLayout::kPackedN16Fours:
      return type == DataType::kInt8 || type == DataType::kUint8;
  }
  return false;
}

int64_t StoredBytes(const ConstantInfo &constant) {
  // Keeps every product below 2^63: elements times at most 8 bytes, times at
  // most 16 for the padding of a block; pairs double 2 bytes, and scales and
  // offsets, or fours and sums, add 8 bytes per element if each block has one
  // element.
  constexpr int64_t kMaxElements = int64_t{1} << 48;
  const Shape &dims = constant.dims;
  const int64_t elements = dims.CheckedElements(kMaxElements);
  const auto element_size =
      static_cast<int64_t>(DataTypeSize(constant.data_type));
  if (elements < 0) return -1;
  if (constant.layout == ConstantLayout::kPlain) {
    return elements * element_size;
  }
  if (constant.layout == ConstantLayout::kPackedN16Fours) {
    if (dims.rank() < 2 || elements == 0) return -1;
    return PackedMatrices(dims).stored();
  }
  const int64_t groups = constant.groups;
  if ((dims.rank() != 4 && dims.rank() != 2) || groups < 1 || dims[0] < 1 ||
      dims[0] % groups != 0) {
    return -1;
  }
  if (constant.layout == ConstantLayout::kPackedO16Fours &&
      dims.back() % kPackedFour != 0) {
    return -1;
  }
  return PackedFilter(constant.layout, dims, groups).stored() * element_size;
}

MaceStatus CheckModelStructure(const Model &model, size_t data_size) {
  if (model.data_size != data_size) {
    return InvalidArgs("model '", model.name, "' needs data of ",
                       model.data_size, " bytes, but was given ", data_size,
                       " bytes: the file belongs to another model or is "
                       "incomplete");
  }
  Problems problems;
  Names names(&problems);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const ValueInfo &input = model.inputs[i];
    names.Produce(input.name, [i] { return MakeString("input ", i); });
    if (input.data_type == DataType::kUnknown) {
      problems.Add("input '", input.name, "' has no element type");
    }
    CheckLargestShape(input, &problems);
  }
  for (size_t i = 0; i < model.constants.size(); ++i) {
    names.Produce(model.constants[i].name,
                  [i] { return MakeString("constant ", i); });
    CheckConstant(model.constants[i], data_size, &problems);
  }
  std::unordered_set<std::string> operator_names;
  for (const OperatorDef &def : model.operators) {
    if (def.name.empty()) {
      problems.Add("an operator of type '", def.type, "' has no name");
    } else if (!operator_names.insert(def.name).second) {
      problems.Add("two operators are called '", def.name, "'");
    }
    CheckOperatorNames(def, &names, &problems);
  }
  for (const ValueInfo &output : model.outputs) {
    if (!names.Has(output.name)) {
      problems.Add("nothing produces output '", output.name, "'");
    }
  }
  CheckStates(model, &problems);
  CheckSubgraphs(model, &problems);
  QuantizationChecker(model, &problems).Check();
  if (problems.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("model '", model.name, "' breaks ", problems.count(),
                     " rule(s) of the model file:", problems.text());
}

MaceStatus CheckOperators(const Model &model) {
  OperatorChecker checker(model);
  for (const OperatorDef &def : model.operators) checker.Check(def, CPU);
  return checker.status();
}

std::string DataTypeNames(uint32_t bits) {
  std::string text;
  for (int i = 0; i < kDataTypeCount; ++i) {
    if ((bits & (1u << i)) == 0) continue;
    if (!text.empty()) text += ", ";
    text += DataTypeName(static_cast<DataType>(i));
  }
  return text;
}

}  // namespace mace
