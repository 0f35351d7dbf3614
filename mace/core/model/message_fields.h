// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Reads the fields of one message of a model file, and reports damage as a
// status.

#ifndef MACE_CORE_MODEL_MESSAGE_FIELDS_H_
#define MACE_CORE_MODEL_MESSAGE_FIELDS_H_

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"

namespace mace {

// Iterates over the fields of one message. protozero checks a field's wire type
// only by assert, so every read here checks the type first.
class MessageFields {
 public:
  // Which message of the file, for error messages: "operator 7".
  struct Place {
    std::string text() const {
      return index < 0 ? MakeString(what) : MakeString(what, " ", index);
    }
    const char *what;
    int64_t index = -1;  // none
  };

  MessageFields(const protozero::pbf_reader &reader, const Place &place)
      : reader_(reader), place_(place) {}

  bool Next() { return reader_.next(); }
  uint32_t tag() const { return reader_.tag(); }
  void Skip() { reader_.skip(); }
  const Place &place() const { return place_; }

  MaceStatus Bytes(std::string *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::length_delimited));
    *value = reader_.get_string();
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus AppendBytes(std::vector<std::string> *values) {
    values->emplace_back();
    return Bytes(&values->back());
  }
  MaceStatus Uint64(uint64_t *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::varint));
    *value = reader_.get_uint64();
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus Int64(int64_t *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::varint));
    *value = reader_.get_int64();
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus Uint32(uint32_t *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::varint));
    *value = reader_.get_uint32();
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus Float(float *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::fixed32));
    *value = reader_.get_float();
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus Message(protozero::pbf_reader *value) {
    MACE_RETURN_IF_ERROR(Require(WireType::length_delimited));
    *value = reader_.get_message();
    return MaceStatus::MACE_SUCCESS;
  }

  // Repeated numbers may be packed (one field) or separate fields; the writer
  // chooses.
  MaceStatus Dims(int64_t lowest, Shape *shape) {
    if (reader_.wire_type() == WireType::varint) {
      return AppendDim(reader_.get_int64(), lowest, shape);
    }
    MACE_RETURN_IF_ERROR(Require(WireType::length_delimited));
    for (int64_t dim : reader_.get_packed_int64()) {
      MACE_RETURN_IF_ERROR(AppendDim(dim, lowest, shape));
    }
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus SignedInts(std::vector<int64_t> *values) {
    if (reader_.wire_type() == WireType::varint) {
      values->push_back(reader_.get_sint64());
      return MaceStatus::MACE_SUCCESS;
    }
    MACE_RETURN_IF_ERROR(Require(WireType::length_delimited));
    const auto packed = reader_.get_packed_sint64();
    values->reserve(values->size() + packed.size());
    for (int64_t value : packed) values->push_back(value);
    return MaceStatus::MACE_SUCCESS;
  }
  MaceStatus Floats(std::vector<float> *values) {
    if (reader_.wire_type() == WireType::fixed32) {
      values->push_back(reader_.get_float());
      return MaceStatus::MACE_SUCCESS;
    }
    MACE_RETURN_IF_ERROR(Require(WireType::length_delimited));
    for (float value : reader_.get_packed_float()) values->push_back(value);
    return MaceStatus::MACE_SUCCESS;
  }

  MaceStatus ElementType(DataType *value) {
    uint64_t number = 0;
    MACE_RETURN_IF_ERROR(Uint64(&number));
    if (number >= kDataTypeCount) {
      return Damaged("element type ", number, " is not one of this format");
    }
    *value = static_cast<DataType>(number);
    return MaceStatus::MACE_SUCCESS;
  }

  template <typename... Args>
  MaceStatus Damaged(const Args &...args) const {
    return InvalidArgs("the model file is damaged or not a MACE model: ",
                       place_.text(), ": ", args...);
  }

 private:
  using WireType = protozero::pbf_wire_type;

  MaceStatus Require(WireType type) {
    if (reader_.wire_type() == type) return MaceStatus::MACE_SUCCESS;
    return Damaged("field ", reader_.tag(), " has wire type ",
                   static_cast<int>(reader_.wire_type()), ", not ",
                   static_cast<int>(type));
  }
  MaceStatus AppendDim(int64_t dim, int64_t lowest, Shape *shape) {
    if (dim < lowest) return Damaged("dimension ", dim, " is negative");
    if (!shape->Append(dim)) {
      return Damaged("more than ", Shape::kMaxRank, " dimensions");
    }
    return MaceStatus::MACE_SUCCESS;
  }

  protozero::pbf_reader reader_;
  Place place_;
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_MESSAGE_FIELDS_H_
