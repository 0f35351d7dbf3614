// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/random_case.h"

#include <cstdint>
#include <string>

#include "mace/ops/testing/op_runner.h"

namespace mace::op_test {
namespace {

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

// Half of all cases are tame: small numbers and lists of one length, so that
// operators with many constraints are reached too.
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

// Strings are enumerations; the error message lists the values.
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
  for (size_t i = 0; i < schema.attribute_count; ++i) {
    const AttributeSchema &attribute = schema.attributes[i];
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

}  // namespace

std::vector<const OpRegistration *> CpuOps() {
  std::vector<const OpRegistration *> ops;
  for (const OpRegistration *op = OpRegistration::first(); op != nullptr;
       op = op->next()) {
    if (op->device() == CPU) ops.push_back(op);
  }
  return ops;
}

OpCase RandomCase(const OpSchema &schema, Random *random) {
  const bool many = schema.outputs[schema.output_count - 1].variadic;
  OpCase op_case(
      schema.type,
      schema.output_count + static_cast<size_t>(many ? random->Int(0, 3) : 0));
  // Operands that fit each other are more interesting than ones that don't.
  const Shape common = RandomShape(random);
  DataType type = DataType::kUnknown;
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
      if (port.packed && many_axes) shape = {3, 2, 1, common.back()};
      if (port.constant && !port.packed && random->Int(0, 2) != 0) {
        shape = {common.back()};
        if (many_axes) shape = {1, 2, common.back(), 1};  // a depthwise filter
      }
      const bool keep = (port.data_types & DataTypeBit(type)) != 0;
      if (!keep || random->Int(0, 9) == 0) {
        type = RandomType(port.data_types, random);
      }
      if (port.packed) {
        Shape plain = shape;
        while (plain.rank() < 2) plain.Append(1);
        if (type == DataType::kInt8) {
          op_case.PackedScaled(random->Floats(plain));
        } else {
          op_case.Packed(random->Floats(plain), 1, type);
        }
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
  return op_case;
}

}  // namespace mace::op_test
