// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// protozero reports damage with exceptions; ReadModel converts each to a
// status.

#include "mace/core/model/model.h"

#include <protozero/pbf_reader.hpp>

#include "mace/core/model/field_numbers.h"
#include "mace/core/model/message_fields.h"

namespace mace {
namespace {

using protozero::pbf_reader;
using Fields = MessageFields;

// Reads the message at the current field.
MaceStatus ReadQuantization(Fields *parent, Quantization *quantization) {
  pbf_reader message;
  MACE_RETURN_IF_ERROR(parent->Message(&message));
  Fields fields(message, parent->place());
  while (fields.Next()) {
    switch (fields.tag()) {
      case QuantizationField::kScales:
        MACE_RETURN_IF_ERROR(fields.Floats(&quantization->scales));
        break;
      case QuantizationField::kZeroPoints:
        MACE_RETURN_IF_ERROR(fields.SignedInts(&quantization->zero_points));
        break;
      case QuantizationField::kAxis: {
        uint32_t axis = 0;
        MACE_RETURN_IF_ERROR(fields.Uint32(&axis));
        quantization->axis = axis;
        break;
      }
      case QuantizationField::kDataType:
        MACE_RETURN_IF_ERROR(fields.ElementType(&quantization->data_type));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadValueInfo(Fields fields, ValueInfo *info) {
  while (fields.Next()) {
    switch (fields.tag()) {
      case ValueInfoField::kName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&info->name));
        break;
      case ValueInfoField::kShape:
        MACE_RETURN_IF_ERROR(fields.Dims(-1, &info->shape));
        break;
      case ValueInfoField::kDataType:
        MACE_RETURN_IF_ERROR(fields.ElementType(&info->data_type));
        break;
      case ValueInfoField::kDataFormat: {
        uint64_t number = 0;
        MACE_RETURN_IF_ERROR(fields.Uint64(&number));
        if (number > static_cast<uint64_t>(DataFormat::NCHW)) {
          return fields.Damaged("data format ", number,
                                " is not one of this format");
        }
        info->data_format = static_cast<DataFormat>(number);
        break;
      }
      case ValueInfoField::kAlias:
        MACE_RETURN_IF_ERROR(fields.Bytes(&info->alias));
        break;
      case ValueInfoField::kLargestShape:
        MACE_RETURN_IF_ERROR(fields.Dims(0, &info->largest_shape));
        break;
      case ValueInfoField::kQuantization:
        MACE_RETURN_IF_ERROR(ReadQuantization(&fields, &info->quantization));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

static_assert(uint32_t{IntListField::kValues} == FloatListField::kValues);

// The values of an IntList or FloatList; `append` reads one field.
template <typename Append>
MaceStatus ReadList(Fields fields, Append append) {
  while (fields.Next()) {
    if (fields.tag() == IntListField::kValues) {
      MACE_RETURN_IF_ERROR(append(&fields));
    } else {
      fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadAttribute(Fields fields, AttributeValue *attribute) {
  bool has_value = false;
  while (fields.Next()) {
    const uint32_t tag = fields.tag();
    has_value |= tag >= AttributeField::kI && tag <= AttributeField::kFloats;
    switch (tag) {
      case AttributeField::kName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&attribute->name));
        break;
      case AttributeField::kI:
        attribute->kind = AttributeKind::kInt;
        MACE_RETURN_IF_ERROR(fields.Int64(&attribute->i));
        break;
      case AttributeField::kF:
        attribute->kind = AttributeKind::kFloat;
        MACE_RETURN_IF_ERROR(fields.Float(&attribute->f));
        break;
      case AttributeField::kS:
        attribute->kind = AttributeKind::kString;
        MACE_RETURN_IF_ERROR(fields.Bytes(&attribute->s));
        break;
      case AttributeField::kInts: {
        attribute->kind = AttributeKind::kInts;
        pbf_reader list;
        MACE_RETURN_IF_ERROR(fields.Message(&list));
        MACE_RETURN_IF_ERROR(
            ReadList(Fields(list, fields.place()), [attribute](Fields *values) {
              return values->SignedInts(&attribute->ints);
            }));
        break;
      }
      case AttributeField::kFloats: {
        attribute->kind = AttributeKind::kFloats;
        pbf_reader list;
        MACE_RETURN_IF_ERROR(fields.Message(&list));
        MACE_RETURN_IF_ERROR(
            ReadList(Fields(list, fields.place()), [attribute](Fields *values) {
              return values->Floats(&attribute->floats);
            }));
        break;
      }
      default:
        fields.Skip();
    }
  }
  if (!has_value) {
    return fields.Damaged("attribute '", attribute->name, "' has no value");
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadOperator(Fields fields, OperatorDef *def) {
  size_t attributes = 0;
  for (Fields ahead = fields; ahead.Next(); ahead.Skip()) {
    if (ahead.tag() == OperatorField::kAttributes) ++attributes;
  }
  def->attributes.reserve(attributes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case OperatorField::kName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&def->name));
        break;
      case OperatorField::kType:
        MACE_RETURN_IF_ERROR(fields.Bytes(&def->type));
        break;
      case OperatorField::kInputs:
        MACE_RETURN_IF_ERROR(fields.AppendBytes(&def->inputs));
        break;
      case OperatorField::kOutputs:
        MACE_RETURN_IF_ERROR(fields.AppendBytes(&def->outputs));
        break;
      case OperatorField::kAttributes: {
        pbf_reader message;
        MACE_RETURN_IF_ERROR(fields.Message(&message));
        def->attributes.emplace_back();
        MACE_RETURN_IF_ERROR(ReadAttribute(Fields(message, fields.place()),
                                           &def->attributes.back()));
        break;
      }
      case OperatorField::kSubgraph:
        MACE_RETURN_IF_ERROR(fields.Uint32(&def->subgraph));
        break;
      case OperatorField::kOutputQuantization:
        def->output_quantization.emplace_back();
        MACE_RETURN_IF_ERROR(
            ReadQuantization(&fields, &def->output_quantization.back()));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadConstant(Fields fields, ConstantInfo *constant) {
  while (fields.Next()) {
    switch (fields.tag()) {
      case ConstantField::kName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&constant->name));
        break;
      case ConstantField::kDims:
        MACE_RETURN_IF_ERROR(fields.Dims(0, &constant->dims));
        break;
      case ConstantField::kDataType:
        MACE_RETURN_IF_ERROR(fields.ElementType(&constant->data_type));
        break;
      case ConstantField::kLayout: {
        uint64_t number = 0;
        MACE_RETURN_IF_ERROR(fields.Uint64(&number));
        if (number > static_cast<uint64_t>(ConstantLayout::kPackedO16Fours)) {
          return fields.Damaged("layout ", number,
                                " is not one of this format");
        }
        constant->layout = static_cast<ConstantLayout>(number);
        break;
      }
      case ConstantField::kGroups: {
        uint32_t groups = 0;
        MACE_RETURN_IF_ERROR(fields.Uint32(&groups));
        constant->groups = groups == 0 ? 1 : groups;
        break;
      }
      case ConstantField::kOffset:
        MACE_RETURN_IF_ERROR(fields.Uint64(&constant->offset));
        break;
      case ConstantField::kSize:
        MACE_RETURN_IF_ERROR(fields.Uint64(&constant->size));
        break;
      case ConstantField::kQuantization:
        MACE_RETURN_IF_ERROR(
            ReadQuantization(&fields, &constant->quantization));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadState(Fields fields, StateInfo *state) {
  while (fields.Next()) {
    switch (fields.tag()) {
      case StateField::kInput:
        MACE_RETURN_IF_ERROR(fields.Bytes(&state->input));
        break;
      case StateField::kOutput:
        MACE_RETURN_IF_ERROR(fields.Bytes(&state->output));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ReadSubgraph(Fields fields, std::string *name) {
  while (fields.Next()) {
    if (fields.tag() == SubgraphField::kName) {
      MACE_RETURN_IF_ERROR(fields.Bytes(name));
    } else {
      fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// Skips hints for other tools, and those of devices.
MaceStatus ReadHints(Fields fields, DeploymentHints *hints) {
  while (fields.Next()) {
    uint32_t number = 0;
    switch (fields.tag()) {
      case DeploymentHintsField::kDataType: {
        std::string data_type;
        MACE_RETURN_IF_ERROR(fields.Bytes(&data_type));
        MACE_ASSIGN_OR_RETURN(hints->precision, ParsePrecision(data_type));
        hints->half_storage = HasHalfStorage(data_type);
        break;
      }
      case DeploymentHintsField::kWinograd:
        MACE_RETURN_IF_ERROR(fields.Uint32(&number));
        if (number != 0 && number != 2 && number != 4) {
          return fields.Damaged("winograd is ", number,
                                "; it must be 0, 2 or 4");
        }
        hints->winograd = static_cast<int>(number);
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// Reads one element of a repeated message field into a new last element.
template <typename T>
MaceStatus AppendMessage(Fields *fields,
                         const char *what,
                         MaceStatus (*read)(Fields, T *),
                         std::vector<T> *values) {
  pbf_reader message;
  MACE_RETURN_IF_ERROR(fields->Message(&message));
  values->emplace_back();
  const auto index = static_cast<int64_t>(values->size()) - 1;
  return read(Fields(message, {what, index}), &values->back());
}

MaceStatus ReadModelFields(Fields fields, Model *model) {
  while (fields.Next()) {
    switch (fields.tag()) {
      case ModelField::kFormatVersion:
        MACE_RETURN_IF_ERROR(fields.Uint32(&model->format_version));
        break;
      case ModelField::kName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&model->name));
        break;
      case ModelField::kProducer:
        MACE_RETURN_IF_ERROR(fields.Bytes(&model->producer));
        break;
      case ModelField::kInputs:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "input", ReadValueInfo, &model->inputs));
        break;
      case ModelField::kOutputs:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "output", ReadValueInfo, &model->outputs));
        break;
      case ModelField::kOperators:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "operator", ReadOperator,
                                           &model->operators));
        break;
      case ModelField::kConstants:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "constant", ReadConstant,
                                           &model->constants));
        break;
      case ModelField::kStates:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "state", ReadState, &model->states));
        break;
      case ModelField::kSubgraphs:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "subgraph", ReadSubgraph,
                                           &model->subgraphs));
        break;
      case ModelField::kDataSize:
        MACE_RETURN_IF_ERROR(fields.Uint64(&model->data_size));
        break;
      case ModelField::kDataCrc32:
        MACE_RETURN_IF_ERROR(fields.Uint32(&model->data_crc32));
        break;
      case ModelField::kHints: {
        pbf_reader message;
        MACE_RETURN_IF_ERROR(fields.Message(&message));
        // Messages one after the other are one, with the fields of all.
        const auto encoded = message.data();
        model->hints.encoded.append(encoded.data(), encoded.size());
        MACE_RETURN_IF_ERROR(
            ReadHints(Fields(message, {"hints"}), &model->hints));
        break;
      }
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// A newer version may contain fields that this reader would call damaged, so
// the version is read before everything else; it is the first field of the
// format.
MaceStatus CheckVersion(Fields fields) {
  uint32_t version = 0;
  while (fields.Next()) {
    if (fields.tag() == ModelField::kFormatVersion) {
      MACE_RETURN_IF_ERROR(fields.Uint32(&version));
      break;
    }
    fields.Skip();
  }
  if (version == 0) {
    return InvalidArgs(
        "the model file is damaged or not a MACE model: it has no format "
        "version");
  }
  if (version > kModelFormatVersion) {
    return Unsupported("the model file has format version ", version,
                       "; this library reads versions up to ",
                       kModelFormatVersion, ": update the library");
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Read(const void *data, size_t size, Model *model) {
  MACE_RETURN_IF_ERROR(CheckModelSize(size));
  if (data == nullptr || size == 0) {
    return InvalidArgs("the model file is empty");
  }
  const Fields fields(pbf_reader(static_cast<const char *>(data), size),
                      {"model"});
  MACE_RETURN_IF_ERROR(CheckVersion(fields));
  return ReadModelFields(fields, model);
}

}  // namespace

MaceStatus CheckModelSize(size_t size) {
  // The largest possible protobuf message.
  constexpr size_t kMaxModelBytes = 0x7fffffff;
  if (size <= kMaxModelBytes) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("the given size of the graph is ", size,
                     " bytes; a model has at most ", kMaxModelBytes);
}

Result<Model> ReadModel(const void *data, size_t size) {
  Model model;
  try {
    MACE_RETURN_IF_ERROR(Read(data, size, &model));
  } catch (const protozero::exception &error) {
    return InvalidArgs("the model file is damaged or not a MACE model: ",
                       error.what());
  }
  return model;
}

}  // namespace mace
