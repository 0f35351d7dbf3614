// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/random_case.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace::op_test {
namespace {

constexpr uint32_t kByteTypes =
    DataTypeBit(DataType::kUint8) | DataTypeBit(DataType::kInt8);

DataType RandomType(uint32_t types, Random *random) {
  for (;;) {
    const auto type = static_cast<DataType>(random->Int(1, kDataTypeCount - 1));
    if ((types & DataTypeBit(type)) != 0) return type;
  }
}

Shape RandomShape(Random *random) {
  Shape shape;
  const bool image = random->Int(0, 2) == 0;
  const int64_t rank =
      image ? 4 : random->Int(0, random->Int(0, 9) == 0 ? 8 : 5);
  for (int64_t i = 0; i < rank; ++i) {
    shape.Append(random->Int(0, 12) == 0 ? 0 : random->Int(1, 5));
  }
  // Long enough for whole vectors, several at a time, and a remainder; usually
  // for the channels.
  if (rank > 0 && rank <= 4 && random->Int(0, 2) == 0) {
    const int64_t axis =
        random->Int(0, 3) == 0 ? random->Int(0, rank - 1) : rank - 1;
    shape[static_cast<size_t>(axis)] = random->Int(6, 70);
  }
  return shape;
}

Value RandomValue(DataType type, const Shape &shape, Random *random) {
  if (type == DataType::kFloat32) {
    Value value = random->Floats(shape, -4, 4);
    return value;
  }
  if (type == DataType::kInt32) return random->Ints(shape, -3, 5);
  const size_t bytes =
      static_cast<size_t>(shape.Elements()) * DataTypeSize(type);
  std::vector<uint8_t> raw(bytes);
  for (uint8_t &byte : raw) {
    byte =
        static_cast<uint8_t>(random->Int(0, type == DataType::kBool ? 1 : 255));
  }
  Value value = Value::Of(type, shape, raw);
  return value;
}

// Half of all cases are simple: small numbers and lists of one length, so that
// operators with many constraints run, too.
struct Style {
  bool tame = false;
  int64_t list_length = 0;
};

int64_t RandomInteger(const Style &style, Random *random) {
  if (style.tame) return random->Int(random->Int(0, 3) == 0 ? -1 : 1, 3);
  switch (random->Int(0, 9)) {
    case 0:
      return INT64_MAX;
    case 1:
      return INT64_MIN;
    case 2:
      return random->Int(-70000, 70000);
    default:
      return random->Int(-2, 5);
  }
}

// Strings are enumerations; the error message lists their values.
std::string RandomEnum(const OpCase &op_case,
                       const char *name,
                       Random *random) {
  OpCase probe = op_case;
  probe.def.attributes.clear();
  probe.String(name, "?");
  const std::string text = RunOp(probe).status.information();
  const std::string marker = std::string("'") + name + "' is '?', not one of ";
  const size_t at = text.find(marker);
  if (at == std::string::npos) return "?";
  std::vector<std::string> values(1);
  for (size_t i = at + marker.size(); i < text.size() && text[i] != ';'; ++i) {
    if (text[i] == ',') {
      values.emplace_back();
      ++i;
    } else {
      values.back() += text[i];
    }
  }
  return values[static_cast<size_t>(
      random->Int(0, static_cast<int64_t>(values.size()) - 1))];
}

void AddAttributes(const OpSchema &schema, Random *random, OpCase *op_case) {
  Style style;
  style.tame = random->Int(0, 1) == 0;
  style.list_length = random->Int(0, 1) == 0 ? 2 : random->Int(1, 4);
  const char *entry = schema.attributes;
  for (size_t i = 0; i < schema.attribute_count; ++i) {
    const AttributeSchema attribute = ReadAttribute(&entry);
    if (random->Int(0, style.tame ? 1 : 6) == 0) continue;
    switch (attribute.kind) {
      case AttributeKind::kInt:
        op_case->Int(attribute.name, RandomInteger(style, random));
        break;
      case AttributeKind::kFloat:
        op_case->Float(attribute.name, random->Float(-2, 6));
        break;
      case AttributeKind::kString:
        op_case->String(attribute.name,
                        RandomEnum(*op_case, attribute.name, random));
        break;
      case AttributeKind::kInts: {
        const int64_t length =
            random->Int(0, 3) == 0 ? random->Int(0, 5) : style.list_length;
        std::vector<int64_t> values(static_cast<size_t>(length));
        for (int64_t &value : values) value = RandomInteger(style, random);
        op_case->Ints(attribute.name, values);
        break;
      }
      case AttributeKind::kFloats:
        op_case->Floats(attribute.name, {1.0f, -1.0f});
        break;
    }
  }
}

// Up to `count` numbers after `marker`, separated by commas.
std::vector<int64_t> NumbersAfter(const std::string &text,
                                  const std::string &marker,
                                  size_t count) {
  std::vector<int64_t> numbers;
  const size_t at = text.find(marker);
  if (at == std::string::npos) return numbers;
  const char *next = text.c_str() + at + marker.size();
  for (;;) {
    char *end = nullptr;
    numbers.push_back(std::strtoll(next, &end, 10));
    if (numbers.size() == count || *end != ',') break;
    next = end + 1;
  }
  return numbers;
}

// Finds a valid value for an integer attribute from the error message.
void RepairAttribute(const std::string &problem,
                     const AttributeSchema &attribute,
                     size_t list_length,
                     Random *random,
                     OpCase *op_case) {
  std::vector<AttributeValue> &all = op_case->def.attributes;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const AttributeValue &value) {
        return value.name == attribute.name;
      });
  size_t length = list_length;
  if (found != all.end()) {
    if (attribute.kind == AttributeKind::kInts) length = found->ints.size();
    all.erase(found);
  }
  const std::vector<int64_t> size = NumbersAfter(problem, "values, not ", 1);
  if (!size.empty()) length = static_cast<size_t>(size[0]);
  int64_t low = 1;
  int64_t high = 3;
  const std::vector<int64_t> range = NumbersAfter(problem, "not within [", 2);
  if (range.size() == 2) {
    low = range[0];
    high = std::min(range[1], low + 3);
  }
  if (attribute.kind == AttributeKind::kInt) {
    op_case->Int(attribute.name, random->Int(low, high));
    return;
  }
  std::vector<int64_t> values(length);
  for (int64_t &value : values) value = random->Int(low, high);
  op_case->Ints(attribute.name, values);
}

// Corrects attributes as the error message says, until they are valid.
void RepairAttributes(const OpSchema &schema, Random *random, OpCase *op_case) {
  constexpr int kRounds = 3;
  const auto list_length = static_cast<size_t>(random->Int(1, 4));
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = RunOp(*op_case).status.information();
    bool repaired = false;
    const char *entry = schema.attributes;
    for (size_t i = 0; i < schema.attribute_count; ++i) {
      const AttributeSchema attribute = ReadAttribute(&entry);
      if (attribute.kind != AttributeKind::kInt &&
          attribute.kind != AttributeKind::kInts) {
        continue;
      }
      const size_t at =
          text.find(std::string("attribute '") + attribute.name + "' ");
      if (at == std::string::npos) continue;
      RepairAttribute(text.substr(at, text.find(';', at) - at), attribute,
                      list_length, random, op_case);
      repaired = true;
    }
    if (!repaired) return;
  }
}

// Gives inputs the shape that the error message names, until no message does.
void RepairShapes(Random *random, OpCase *op_case) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = RunOp(*op_case).status.information();
    const std::string marker = "; it must be [";
    const size_t at = text.find("input '");
    if (at == std::string::npos || text.find(marker) == std::string::npos) {
      return;
    }
    const size_t name = at + std::string("input '").size();
    const std::string port = text.substr(name, text.find('\'', name) - name);
    Shape shape;
    for (int64_t dim : NumbersAfter(text, marker, Shape::kMaxRank)) {
      shape.Append(dim);
    }
    const OpSchema &schema =
        *OpRegistration::Find(op_case->def.type, CPU)->schema();
    for (size_t i = 0; i < schema.input_count; ++i) {
      if (schema.inputs[i].name != port) continue;
      CaseInput &input = op_case->inputs[i];
      if (!IsPacked(input.layout)) {
        input.value = RandomValue(input.value.data_type, shape, random);
        continue;
      }
      OpCase packed(op_case->def.type);
      if (input.layout == ConstantLayout::kPackedN16Fours) {
        packed.PackedMatrices(
            RandomValue(input.value.data_type, shape, random));
      } else {
        packed.Packed(random->Floats(shape), 1, DataType::kFloat32);
      }
      input = packed.inputs[0];
    }
  }
}

}  // namespace

std::vector<const OpRegistration *> CpuOps() {
  std::vector<const OpRegistration *> ops;
  for (const OpRegistration *op = OpRegistration::first(); op != nullptr;
       op = op->next()) {
    // What quantized operators have in common with these is their schema. The
    // end of a loop takes what its beginning made, never anything random, and
    // of a failure every second case would be one.
    if (op->device() == CPU && !op->quantized() &&
        op->schema()->control != ControlFlow::kLoopEnd &&
        op->schema()->control != ControlFlow::kFailure) {
      ops.push_back(op);
    }
  }
  return ops;
}

Random RandomOf(const OpRegistration &op, uint32_t seed) {
  for (const char *c = op.schema()->type; *c != '\0'; ++c) {
    seed = (seed ^ static_cast<uint8_t>(*c)) * 16777619u;  // FNV-1a
  }
  return Random(seed, Random::Quiet());
}

OpCase RandomCase(const OpSchema &schema, Random *random) {
  const bool many = schema.outputs[schema.output_count - 1].variadic;
  OpCase op_case(
      schema.type,
      schema.output_count + static_cast<size_t>(many ? random->Int(0, 3) : 0));
  // Operands with matching shapes are more useful than others.
  const Shape common = RandomShape(random);
  DataType type = DataType::kUnknown;
  int64_t outputs = 0;  // of a filter, once there is one
  for (size_t i = 0; i < schema.input_count; ++i) {
    const PortSchema &port = schema.inputs[i];
    const int64_t count = port.variadic ? random->Int(1, 4) : 1;
    for (int64_t k = 0; k < count; ++k) {
      if (port.optional && random->Int(0, 1) == 0) {
        op_case.NoInput();
        continue;
      }
      Shape shape = random->Int(0, 2) == 0 ? RandomShape(random) : common;
      const bool many_axes = random->Int(0, 3) == 0;
      const bool filter = (port.layouts & kPlainLayout) == 0;
      if (filter && random->Int(0, 2) != 0) {
        outputs = random->Int(1, many_axes ? 40 : 4);
        shape = {outputs, common.back()};
        if ((random->Int(0, 3) == 0) != (common.rank() == 4)) {
          const int64_t side = random->Int(1, 3);
          shape = {outputs, side, random->Int(1, 3), common.back()};
        }
      }
      const bool matrices = !filter && (port.layouts & ~kPlainLayout) != 0;
      const bool constants = port.constant && matrices;
      if (constants && random->Int(0, 2) != 0) {
        outputs = random->Int(1, many_axes ? 40 : 4);
        shape = {common.back(), outputs};
      }
      if (port.constant && !filter && !matrices && random->Int(0, 2) != 0) {
        shape = {outputs > 0 ? outputs : common.back()};
        if (many_axes) shape = {1, 2, common.back(), 1};  // a depthwise filter
      }
      if (port.constant && !matrices && (port.data_types & ~kByteTypes) == 0 &&
          random->Int(0, 2) != 0) {
        shape = {256};  // a table, or one for each channel
        if (many_axes) shape = {common.back(), 256};
      }
      const bool keep = (port.data_types & DataTypeBit(type)) != 0;
      if (!keep || random->Int(0, 9) == 0) {
        type = RandomType(port.data_types, random);
      }
      if (filter) {
        Shape plain = shape;
        while (plain.rank() < 2) plain.Append(1);
        if (type == DataType::kInt8) {
          op_case.PackedScaled(random->Floats(plain));
        } else if (type == DataType::kBfloat16 && plain.back() > 0 &&
                   random->Int(0, 1) == 0) {
          op_case.PackedPairs(random->Floats(plain));
        } else {
          op_case.Packed(random->Floats(plain), 1, type);
        }
      } else if (matrices && shape.rank() >= 2 && shape.Elements() > 0 &&
                 (random->Int(0, 2) == 0 || constants)) {
        op_case.PackedMatrices(RandomValue(type, shape, random));
      } else if (port.constant) {
        op_case.Constant(RandomValue(type, shape, random));
      } else if (random->Int(0, 2) == 0) {
        op_case.Known(RandomValue(type, shape, random));
      } else {
        op_case.Input(RandomValue(type, shape, random));
      }
    }
  }
  AddAttributes(schema, random, &op_case);
  if (random->Int(0, 1) == 0) RepairAttributes(schema, random, &op_case);
  RepairShapes(random, &op_case);
  return op_case;
}

}  // namespace mace::op_test
