// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// protozero reports damage with exceptions; ReadModel converts each to a
// status.

#include "mace/core/model/model_reader.h"

#include <protozero/pbf_reader.hpp>

#include "mace/core/model/message_fields.h"

namespace mace {
namespace {

using protozero::pbf_reader;
using Fields = MessageFields;

// Field numbers of mace.proto.
enum ModelField : uint32_t {
  kFormatVersion = 1,
  kModelName = 2,
  kProducer = 3,
  kInputs = 4,
  kOutputs = 5,
  kOperators = 6,
  kConstants = 7,
  kDataSize = 8,
  kDataCrc32 = 9,
  kHints = 10,
  kStates = 13,
  kSubgraphs = 14,
};
enum SubgraphField : uint32_t {
  kSubgraphName = 1,
};
enum StateField : uint32_t {
  kStateInput = 1,
  kStateOutput = 2,
};
enum ValueInfoField : uint32_t {
  kValueName = 1,
  kValueShape = 2,
  kValueDataType = 3,
  kValueDataFormat = 4,
  kValueAlias = 5,
  kValueQuantization = 7,
  kValueLargestShape = 8,
};
enum OperatorField : uint32_t {
  kOperatorName = 1,
  kOperatorType = 2,
  kOperatorInputs = 3,
  kOperatorOutputs = 4,
  kOperatorAttributes = 5,
  kOperatorOutputQuantization = 9,
  kOperatorSubgraph = 10,
};
enum AttributeField : uint32_t {
  kAttributeName = 1,
  kAttributeInt = 2,
  kAttributeFloat = 3,
  kAttributeString = 4,
  kAttributeInts = 5,
  kAttributeFloats = 6,
};
enum ConstantField : uint32_t {
  kConstantName = 1,
  kConstantDims = 2,
  kConstantDataType = 3,
  kConstantLayout = 4,
  kConstantGroups = 5,
  kConstantOffset = 6,
  kConstantSize = 7,
  kConstantQuantization = 8,
};
enum QuantizationField : uint32_t {
  kQuantizationScales = 1,
  kQuantizationZeroPoints = 2,
  kQuantizationAxis = 3,
  kQuantizationDataType = 4,
};
enum HintsField : uint32_t {
  kHintsWinograd = 2,
  kHintsDataType = 3,
  kHintsLimitOpenclKernelTime = 4,
  kHintsOpenclQueueWindowSize = 5,
  kHintsClMemType = 8,
};
constexpr uint32_t kListValues = 1;  // of IntList and FloatList

// Reads the message at the current field.
MaceStatus ReadQuantization(Fields *parent, Quantization *quantization) {
  pbf_reader message;
  MACE_RETURN_IF_ERROR(parent->Message(&message));
  Fields fields(message, parent->place());
  while (fields.Next()) {
    switch (fields.tag()) {
      case kQuantizationScales:
        MACE_RETURN_IF_ERROR(fields.Floats(&quantization->scales));
        break;
      case kQuantizationZeroPoints:
        MACE_RETURN_IF_ERROR(fields.SignedInts(&quantization->zero_points));
        break;
      case kQuantizationAxis: {
        uint32_t axis = 0;
        MACE_RETURN_IF_ERROR(fields.Uint32(&axis));
        quantization->axis = axis;
        break;
      }
      case kQuantizationDataType:
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
      case kValueName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&info->name));
        break;
      case kValueShape:
        MACE_RETURN_IF_ERROR(fields.Dims(-1, &info->shape));
        break;
      case kValueDataType:
        MACE_RETURN_IF_ERROR(fields.ElementType(&info->data_type));
        break;
      case kValueDataFormat: {
        uint64_t number = 0;
        MACE_RETURN_IF_ERROR(fields.Uint64(&number));
        if (number > static_cast<uint64_t>(DataFormat::NCHW)) {
          return fields.Damaged("data format ", number,
                                " is not one of this format");
        }
        info->data_format = static_cast<DataFormat>(number);
        break;
      }
      case kValueAlias:
        MACE_RETURN_IF_ERROR(fields.Bytes(&info->alias));
        break;
      case kValueLargestShape:
        MACE_RETURN_IF_ERROR(fields.Dims(0, &info->largest_shape));
        break;
      case kValueQuantization:
        MACE_RETURN_IF_ERROR(ReadQuantization(&fields, &info->quantization));
        break;
      default:
        fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// The values of an IntList or FloatList; `append` reads one field.
template <typename Append>
MaceStatus ReadList(Fields fields, Append append) {
  while (fields.Next()) {
    if (fields.tag() == kListValues) {
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
    has_value |= tag >= kAttributeInt && tag <= kAttributeFloats;
    switch (tag) {
      case kAttributeName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&attribute->name));
        break;
      case kAttributeInt:
        attribute->kind = AttributeKind::kInt;
        MACE_RETURN_IF_ERROR(fields.Int64(&attribute->i));
        break;
      case kAttributeFloat:
        attribute->kind = AttributeKind::kFloat;
        MACE_RETURN_IF_ERROR(fields.Float(&attribute->f));
        break;
      case kAttributeString:
        attribute->kind = AttributeKind::kString;
        MACE_RETURN_IF_ERROR(fields.Bytes(&attribute->s));
        break;
      case kAttributeInts: {
        attribute->kind = AttributeKind::kInts;
        pbf_reader list;
        MACE_RETURN_IF_ERROR(fields.Message(&list));
        MACE_RETURN_IF_ERROR(
            ReadList(Fields(list, fields.place()), [attribute](Fields *values) {
              return values->SignedInts(&attribute->ints);
            }));
        break;
      }
      case kAttributeFloats: {
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
    if (ahead.tag() == kOperatorAttributes) ++attributes;
  }
  def->attributes.reserve(attributes);
  while (fields.Next()) {
    switch (fields.tag()) {
      case kOperatorName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&def->name));
        break;
      case kOperatorType:
        MACE_RETURN_IF_ERROR(fields.Bytes(&def->type));
        break;
      case kOperatorInputs:
        MACE_RETURN_IF_ERROR(fields.AppendBytes(&def->inputs));
        break;
      case kOperatorOutputs:
        MACE_RETURN_IF_ERROR(fields.AppendBytes(&def->outputs));
        break;
      case kOperatorAttributes: {
        pbf_reader message;
        MACE_RETURN_IF_ERROR(fields.Message(&message));
        def->attributes.emplace_back();
        MACE_RETURN_IF_ERROR(ReadAttribute(Fields(message, fields.place()),
                                           &def->attributes.back()));
        break;
      }
      case kOperatorSubgraph:
        MACE_RETURN_IF_ERROR(fields.Uint32(&def->subgraph));
        break;
      case kOperatorOutputQuantization:
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
      case kConstantName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&constant->name));
        break;
      case kConstantDims:
        MACE_RETURN_IF_ERROR(fields.Dims(0, &constant->dims));
        break;
      case kConstantDataType:
        MACE_RETURN_IF_ERROR(fields.ElementType(&constant->data_type));
        break;
      case kConstantLayout: {
        uint64_t number = 0;
        MACE_RETURN_IF_ERROR(fields.Uint64(&number));
        if (number > static_cast<uint64_t>(ConstantLayout::kPackedO16Fours)) {
          return fields.Damaged("layout ", number,
                                " is not one of this format");
        }
        constant->layout = static_cast<ConstantLayout>(number);
        break;
      }
      case kConstantGroups: {
        uint32_t groups = 0;
        MACE_RETURN_IF_ERROR(fields.Uint32(&groups));
        constant->groups = groups == 0 ? 1 : groups;
        break;
      }
      case kConstantOffset:
        MACE_RETURN_IF_ERROR(fields.Uint64(&constant->offset));
        break;
      case kConstantSize:
        MACE_RETURN_IF_ERROR(fields.Uint64(&constant->size));
        break;
      case kConstantQuantization:
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
      case kStateInput:
        MACE_RETURN_IF_ERROR(fields.Bytes(&state->input));
        break;
      case kStateOutput:
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
    if (fields.tag() == kSubgraphName) {
      MACE_RETURN_IF_ERROR(fields.Bytes(name));
    } else {
      fields.Skip();
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

// Skips hints for other tools.
MaceStatus ReadHints(Fields fields, DeploymentHints *hints) {
  while (fields.Next()) {
    uint32_t number = 0;
    switch (fields.tag()) {
      case kHintsDataType: {
        std::string data_type;
        MACE_RETURN_IF_ERROR(fields.Bytes(&data_type));
        MACE_ASSIGN_OR_RETURN(hints->precision, ParsePrecision(data_type));
        hints->half_storage = HasHalfStorage(data_type);
        break;
      }
      case kHintsWinograd:
        MACE_RETURN_IF_ERROR(fields.Uint32(&number));
        if (number != 0 && number != 2 && number != 4) {
          return fields.Damaged("winograd is ", number,
                                "; it must be 0, 2 or 4");
        }
        hints->winograd = static_cast<int>(number);
        break;
      case kHintsLimitOpenclKernelTime:
        MACE_RETURN_IF_ERROR(fields.Uint32(&number));
        hints->limit_opencl_kernel_time = number != 0;
        break;
      case kHintsOpenclQueueWindowSize:
        MACE_RETURN_IF_ERROR(fields.Uint32(&hints->opencl_queue_window_size));
        break;
      case kHintsClMemType: {
        std::string memory;
        MACE_RETURN_IF_ERROR(fields.Bytes(&memory));
        if (memory == "image") hints->cl_mem_type = ClMemoryType::kImage;
        if (memory == "buffer") hints->cl_mem_type = ClMemoryType::kBuffer;
        break;
      }
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
      case kFormatVersion:
        MACE_RETURN_IF_ERROR(fields.Uint32(&model->format_version));
        break;
      case kModelName:
        MACE_RETURN_IF_ERROR(fields.Bytes(&model->name));
        break;
      case kProducer:
        MACE_RETURN_IF_ERROR(fields.Bytes(&model->producer));
        break;
      case kInputs:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "input", ReadValueInfo, &model->inputs));
        break;
      case kOutputs:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "output", ReadValueInfo, &model->outputs));
        break;
      case kOperators:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "operator", ReadOperator,
                                           &model->operators));
        break;
      case kConstants:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "constant", ReadConstant,
                                           &model->constants));
        break;
      case kStates:
        MACE_RETURN_IF_ERROR(
            AppendMessage(&fields, "state", ReadState, &model->states));
        break;
      case kSubgraphs:
        MACE_RETURN_IF_ERROR(AppendMessage(&fields, "subgraph", ReadSubgraph,
                                           &model->subgraphs));
        break;
      case kDataSize:
        MACE_RETURN_IF_ERROR(fields.Uint64(&model->data_size));
        break;
      case kDataCrc32:
        MACE_RETURN_IF_ERROR(fields.Uint32(&model->data_crc32));
        break;
      case kHints: {
        pbf_reader message;
        MACE_RETURN_IF_ERROR(fields.Message(&message));
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
    if (fields.tag() == kFormatVersion) {
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
