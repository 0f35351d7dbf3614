// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Writes random cases of every operator and their results, for
// test/conformance/op_rules_test.py, which compares the converter's rules with
// them.
//
//   write_random_cases FILE
//
// The file is a sequence of cases: a line of JSON, then the bytes of the inputs
// and of the outputs, in the order and of the sizes that the line tells.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mace/core/base/data_type.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/ops/testing/random_case.h"

namespace mace {
namespace {

using Json = nlohmann::ordered_json;
using op_test::CaseInput;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Random;
using op_test::Value;

// Per operator: the number of cases that it computes, or, after kDraws
// attempts, at least kFewest; and the number of cases that it refuses. More are
// drawn until each type of the first output was computed. Few random cases are
// valid for operators with many constraints: InstanceNorm computes one of 3000.
constexpr int kComputed = 60;
constexpr int kFewest = 12;
constexpr int kRefused = 30;
constexpr int kDraws = 3000;
constexpr int kMostDraws = 60000;
// A case with more elements than this shows nothing that a smaller one does not
// show.
constexpr int64_t kMaxElements = 1 << 15;

int64_t GroupsOf(const OpCase &op_case) {
  for (const AttributeValue &attribute : op_case.def.attributes) {
    if (attribute.name == "groups") return attribute.i;
  }
  return 1;
}

// The converter's rules do not depend on how weights are stored: filters become
// float32, packed for the attribute `groups`. `plain` gets the values of every
// input as the converter has them.
bool StoreAsConverted(Random *random,
                      OpCase *op_case,
                      std::vector<Value> *plain) {
  const int64_t groups = GroupsOf(*op_case);
  for (CaseInput &input : op_case->inputs) {
    plain->push_back(input.value);
    if (!IsPacked(input.layout)) continue;
    const Shape &shape = input.value.shape;
    if (input.layout == ConstantLayout::kPackedN16Fours) {
      std::vector<uint8_t> bytes;
      for (int64_t i = 0; i < shape.Elements(); ++i) {
        bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
      }
      plain->back() = Value::Of(input.value.data_type, shape, bytes);
      OpCase packed(op_case->def.type);
      packed.PackedMatrices(plain->back());
      input = packed.inputs.front();
      continue;
    }
    if (shape.rank() < 2 || groups < 1) return false;
    if (groups > 1 && (groups > shape[0] || shape[0] % groups != 0))
      return false;
    plain->back() = random->Floats(shape);
    OpCase packed(op_case->def.type);
    packed.Packed(plain->back(), groups);
    input = packed.inputs.front();
  }
  return true;
}

Json Describe(const Value &value) {
  return {
      {"type", DataTypeName(value.data_type)},
      {"shape", std::vector<int64_t>(value.shape.begin(), value.shape.end())},
      {"bytes", value.bytes.size()}};
}

Json Describe(const AttributeValue &attribute) {
  switch (attribute.kind) {
    case AttributeKind::kInt:
      return attribute.i;
    case AttributeKind::kFloat:
      return attribute.f;
    case AttributeKind::kString:
      return attribute.s;
    case AttributeKind::kInts:
      return std::vector<int64_t>(attribute.ints.begin(), attribute.ints.end());
    case AttributeKind::kFloats:
      return std::vector<float>(attribute.floats.begin(),
                                attribute.floats.end());
  }
  return nullptr;
}

int64_t Elements(const std::vector<Value> &values) {
  int64_t elements = 0;
  for (const Value &value : values) elements += value.shape.Elements();
  return elements;
}

void Append(const std::vector<Value> &values, std::ofstream *file) {
  for (const Value &value : values) {
    file->write(reinterpret_cast<const char *>(value.bytes.data()),
                static_cast<std::streamsize>(value.bytes.size()));
  }
}

void Write(const OpCase &op_case,
           const std::vector<Value> &plain,
           const OpResult &result,
           std::ofstream *file) {
  constexpr const char *kKinds[] = {"absent", "computed", "known", "constant"};
  Json line = {{"op", op_case.def.type},
               {"attributes", Json::object()},
               {"inputs", Json::array()},
               {"code", static_cast<int>(result.status.code())},
               {"message", result.status.information()},
               {"output_count", op_case.outputs},
               {"macs", result.macs},
               {"outputs", Json::array()}};
  for (const AttributeValue &attribute : op_case.def.attributes) {
    line["attributes"][std::string(attribute.name)] = Describe(attribute);
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    Json input = Describe(plain[i]);
    input["kind"] = kKinds[static_cast<size_t>(op_case.inputs[i].kind)];
    line["inputs"].push_back(input);
  }
  for (const Value &output : result.outputs) {
    line["outputs"].push_back(Describe(output));
  }
  *file << line.dump() << '\n';
  Append(plain, file);
  Append(result.outputs, file);
}

void WriteCases(const OpRegistration &op, Random *random, std::ofstream *file) {
  int computed = 0;
  int refused = 0;
  // Types of the first output that no case has had.
  uint32_t missing = op.schema()->outputs[0].data_types;
  for (int i = 0; i < kMostDraws; ++i) {
    const bool enough = computed >= kComputed && refused == kRefused;
    const bool tired = i >= kDraws && computed >= kFewest;
    if (missing == 0 && (enough || tired)) break;
    OpCase op_case = op_test::RandomCase(*op.schema(), random);
    std::vector<Value> plain;
    if (!StoreAsConverted(random, &op_case, &plain)) continue;
    if (Elements(plain) > kMaxElements) continue;
    const OpResult result = op_test::RunOp(op_case);
    if (Elements(result.outputs) > kMaxElements) continue;
    const bool ok = IsOk(result.status);
    const uint32_t type =
        ok ? DataTypeBit(result.outputs.at(0).data_type) & missing : 0;
    int *count = ok ? &computed : &refused;
    if (*count >= (ok ? kComputed : kRefused) && type == 0) continue;
    missing &= ~type;
    ++*count;
    Write(op_case, plain, result, file);
  }
}

int Main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ofstream file(argv[1], std::ios::binary);
  Random seeds(23);
  const uint32_t seed = seeds.engine()();
  for (const OpRegistration *op : op_test::CpuOps()) {
    Random random = op_test::RandomOf(*op, seed);
    WriteCases(*op, &random, &file);
  }
  file.close();
  if (!file) {
    std::fprintf(stderr, "%s cannot be written\n", argv[1]);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace mace

int main(int argc, char **argv) { return mace::Main(argc, argv); }
