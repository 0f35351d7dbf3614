// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const bool kRegistered = [] {
  const Shape shape = {1, 56, 56, 256};
  struct Operand {
    const char *name;
    Shape shape;
  };
  const Operand operands[] = {{"SAME_SHAPE", shape},
                              {"PER_CHANNEL", {256}},
                              {"PER_PIXEL", {1, 56, 56, 1}},
                              {"SCALAR", {}}};
  for (const char *mode : {"ADD", "MUL", "DIV", "MAX", "POW", "LESS"}) {
    for (const Operand &operand : operands) {
      const std::string name = std::string("ELTWISE_") + mode;
      RegisterOp(OpName(name, shape, operand.name), [=](Random *random) {
        return OpCase("Eltwise")
            .Input(random->Floats(shape, 0.5f, 2))
            .Input(random->Floats(operand.shape, 0.5f, 2))
            .String("mode", mode);
      });
    }
  }
  for (const char *mode :
       {"SUB", "MIN", "SQR_DIFF", "FLOOR_DIV", "FLOOR_MOD", "EQUAL",
        "NOT_EQUAL", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"}) {
    const std::string name = std::string("ELTWISE_") + mode;
    RegisterOp(OpName(name, shape, "SAME_SHAPE"), [=](Random *random) {
      return OpCase("Eltwise")
          .Input(random->Floats(shape, 0.5f, 2))
          .Input(random->Floats(shape, 0.5f, 2))
          .String("mode", mode);
    });
  }
  for (const char *mode :
       {"NEG", "ABS", "SQRT", "RSQRT", "SQUARE", "EXP", "LOG", "FLOOR", "CEIL",
        "ROUND", "SIGN", "RECIPROCAL", "ERF", "SIN", "COS"}) {
    const std::string name = std::string("ELTWISE_") + mode;
    RegisterOp(OpName(name, shape, ""), [=](Random *random) {
      return OpCase("Eltwise")
          .Input(random->Floats(shape, 0.5f, 2))
          .String("mode", mode);
    });
  }
  for (const char *mode : {"ADD", "MUL", "FLOOR_DIV", "FLOOR_MOD", "LESS"}) {
    const std::string name = std::string("ELTWISE_") + mode;
    RegisterOp(OpName(name, shape, "SAME_SHAPE", "int32"), [=](Random *random) {
      return OpCase("Eltwise")
          .Input(random->Ints(shape, 1, 1000))
          .Input(random->Ints(shape, 1, 1000))
          .String("mode", mode);
    });
  }
  return true;
}();

// The bits of quantized weights.
const OpBenchmarks both("BITWISE",
                        "AND",
                        {{256, 1024}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("Bitwise")
                              .Input(random->Ints(shape, 0, 255))
                              .Input(random->Ints({}, 0, 255))
                              .String("mode", "AND");
                        });
const OpBenchmarks shift("BITWISE",
                         "SHIFT",
                         {{256, 1024}},
                         [](Random *random, const Shape &shape) {
                           return OpCase("Bitwise")
                               .Input(random->Ints(shape, 0, 255))
                               .Input(random->Ints(shape, 0, 7))
                               .String("mode", "SHIFT_RIGHT");
                         });

const OpBenchmarks benchmarks("WHERE",
                              "MASK_1_128_128",
                              {{12, 128, 128}},
                              [](Random *random, const Shape &scores) {
                                // A causal attention mask.
                                std::vector<uint8_t> mask;
                                for (int i = 0; i < 128 * 128; ++i)
                                  mask.push_back(i / 128 >= i % 128);
                                return OpCase("Where")
                                    .Input(Value::Bools({1, 128, 128}, mask))
                                    .Input(random->Floats(scores))
                                    .Constant(Value::Floats({}, {-1e9f}));
                              });

}  // namespace
}  // namespace mace
