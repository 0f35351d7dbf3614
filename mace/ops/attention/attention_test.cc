// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectFloats;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Sizes {
  int64_t batch = 1;
  int64_t heads = 2;
  int64_t groups = 2;
  int64_t queries = 5;
  int64_t keys = 7;
  int64_t depth = 8;
  int64_t width = 6;
};

// An attention with its inputs in the order heads, tokens.
struct Attention {
  Attention(const Sizes &given, Random *random)
      : sizes(given),
        query(random->Floats(
            {sizes.batch, sizes.heads, sizes.queries, sizes.depth})),
        key(random->Floats(
            {sizes.batch, sizes.groups, sizes.keys, sizes.depth})),
        value(random->Floats(
            {sizes.batch, sizes.groups, sizes.keys, sizes.width})) {}

  Sizes sizes;
  Value query;
  Value key;
  Value value;
  Value mask;  // without dimensions: none
  std::string causal = "NONE";
  float scale = 0.7f;
  bool tokens_first = false;
  bool zero_without_keys = true;

  OpCase Case() const {
    OpCase op_case = OpCase("Attention")
                         .Input(Turned(query))
                         .Input(Turned(key))
                         .Input(Turned(value));
    if (mask.shape.rank() > 0) op_case.Input(mask);
    return op_case.Float("scale", scale)
        .String("causal", causal)
        .Int("tokens_first", tokens_first ? 1 : 0)
        .Int("zero_without_keys", zero_without_keys ? 1 : 0);
  }

  Value Turned(const Value &x) const {
    if (!tokens_first) return x;
    const Shape &s = x.shape;
    const std::vector<float> from = x.floats();
    std::vector<float> to(from.size());
    for (int64_t i = 0; i < s.Elements(); ++i) {
      const int64_t column = i % s[3];
      const int64_t token = i / s[3] % s[2];
      const int64_t head = i / s[3] / s[2] % s[1];
      const int64_t batch = i / s[3] / s[2] / s[1];
      to[static_cast<size_t>(((batch * s[2] + token) * s[1] + head) * s[3] +
                             column)] = from[static_cast<size_t>(i)];
    }
    return Value::Floats({s[0], s[2], s[1], s[3]}, to);
  }

  int64_t MaskAt(int64_t b, int64_t h, int64_t m, int64_t n) const {
    const Shape &s = mask.shape;
    const int64_t at =
        ((s[0] == 1 ? 0 : b) * s[1] + (s[1] == 1 ? 0 : h)) * s[2] +
        (s[2] == 1 ? 0 : m);
    return at * s[3] + n;
  }

  void Check() const {
    const Sizes &s = sizes;
    const std::vector<float> q = query.floats();
    const std::vector<float> k = key.floats();
    const std::vector<float> v = value.floats();
    const std::vector<float> added = mask.floats();
    std::vector<float> expected;
    for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
      const int64_t m = row % s.queries;
      const int64_t h = row / s.queries % s.heads;
      const int64_t b = row / s.queries / s.heads;
      const int64_t group = b * s.groups + h / (s.heads / s.groups);
      const int64_t last = causal == "NONE"       ? s.keys
                           : causal == "TOP_LEFT" ? m
                                                  : m + s.keys - s.queries;
      std::vector<double> scores;
      for (int64_t n = 0; n < s.keys; ++n) {
        double score = 0;
        for (int64_t d = 0; d < s.depth; ++d) {
          score += static_cast<double>(q[row * s.depth + d]) *
                   static_cast<double>(k[(group * s.keys + n) * s.depth + d]);
        }
        score *= static_cast<double>(scale);
        if (!added.empty()) {
          score += static_cast<double>(added[MaskAt(b, h, m, n)]);
        }
        scores.push_back(n <= last ? score : -HUGE_VAL);
      }
      const double best = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double &score : scores) {
        score = best == -HUGE_VAL ? 0 : std::exp(score - best);
        sum += score;
      }
      for (int64_t e = 0; e < s.width; ++e) {
        double result = 0;
        for (int64_t n = 0; n < s.keys; ++n) {
          result += scores[n] *
                    static_cast<double>(v[(group * s.keys + n) * s.width + e]);
        }
        const bool is_zero = sum == 0 && zero_without_keys;
        expected.push_back(static_cast<float>(is_zero ? 0 : result / sum));
      }
    }
    const Value turned =
        Turned(Value::Floats({s.batch, s.heads, s.queries, s.width}, expected));
    const std::vector<float> wanted = turned.floats();
    // Scores are sums of at most 64 products below 1 and a mask below 8, in
    // float; values are below 1.
    ExpectFloats(Case(), turned.shape, {wanted.begin(), wanted.end()},
                 {2e-5, 0});
  }
};

const Sizes kSizes[] = {
    {},
    {2, 6, 2, 3, 4, 5, 7},
    {1, 4, 1, 20, 33, 16, 16},
    {1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 300, 3, 20},
    {1, 2, 1, 150, 9, 8, 33},
    {1, 1, 1, 70, 600, 4, 4},
    {1, 1, 1, 140, 140, 32, 2},
    {2, 3, 3, 0, 4, 2, 2},
    {2, 4, 2, 4, 270, 20, 9},
};

template <typename Check>
void ForEachCase(Check &&check) {
  Random random(1);
  for (const Sizes &sizes : kSizes) {
    for (const bool tokens_first : {false, true}) {
      for (const char *causal : {"NONE", "TOP_LEFT", "BOTTOM_RIGHT"}) {
        SCOPED_TRACE(testing::Message()
                     << sizes.queries << " queries, " << sizes.keys << " keys, "
                     << causal << ", tokens first " << tokens_first);
        Attention attention(sizes, &random);
        attention.causal = causal;
        attention.tokens_first = tokens_first;
        check(&attention, &random);
      }
    }
  }
}

TEST(AttentionOpTest, WithoutMask) {
  ForEachCase([](Attention *attention, Random *) { attention->Check(); });
}

TEST(AttentionOpTest, WithMasks) {
  int which = 0;
  ForEachCase([&](Attention *attention, Random *random) {
    const Sizes &s = attention->sizes;
    // Each dimension may be 1; all combinations are there.
    const int ones = which++ % 8;
    attention->mask = random->Floats(
        {(ones & 1) != 0 ? 1 : s.batch, (ones & 2) != 0 ? 1 : s.heads,
         (ones & 4) != 0 ? 1 : s.queries, s.keys},
        -8.0f, 8.0f);
    attention->Check();
  });
}

TEST(AttentionOpTest, KeysAreLeftOut) {
  Random random(3);
  Attention attention({1, 2, 1, 30, 40, 8, 8}, &random);
  std::vector<float> mask(30 * 40);
  for (size_t i = 0; i < mask.size(); ++i) {
    // Every third query takes no key, the next one a single key, others half of
    // them.
    const size_t query = i / 40;
    const bool one = query % 3 == 1 && i % 40 == 5;
    const bool some = query % 3 == 2 && i % 2 == 1;
    mask[i] = one || some ? 0.5f : -HUGE_VALF;
  }
  attention.mask = Value::Floats({1, 1, 30, 40}, mask);
  for (const char *causal : {"NONE", "TOP_LEFT", "BOTTOM_RIGHT"}) {
    for (const bool zero : {true, false}) {
      SCOPED_TRACE(testing::Message() << causal << ", zero " << zero);
      attention.causal = causal;
      attention.zero_without_keys = zero;
      attention.Check();
    }
  }
}

// A few queries are multiplied by keys where they are.
TEST(AttentionOpTest, AFewQueriesWithoutKeys) {
  Random random(5);
  Attention attention({1, 2, 2, 2, 7, 8, 6}, &random);
  std::vector<float> mask(14, -HUGE_VALF);
  mask[7 + 3] = 0;
  attention.mask = Value::Floats({1, 1, 2, 7}, mask);
  for (const bool zero : {true, false}) {
    SCOPED_TRACE(zero);
    attention.zero_without_keys = zero;
    attention.Check();
  }
}

TEST(AttentionOpTest, LargeScoresDoNotOverflow) {
  Random random(4);
  Attention attention({1, 1, 1, 4, 9, 8, 3}, &random);
  attention.query = Value::Floats({1, 1, 4, 8}, std::vector<float>(32, 1e3f));
  attention.key = Value::Floats({1, 1, 9, 8}, std::vector<float>(72, 1.0f));
  attention.scale = 1;
  attention.Check();
}

TEST(AttentionOpTest, Errors) {
  const auto error = [](const Shape &query, const Shape &key,
                        const Shape &value, const Shape &mask) {
    Random random(5);
    OpCase op_case = OpCase("Attention")
                         .Input(random.Floats(query))
                         .Input(random.Floats(key))
                         .Input(random.Floats(value));
    if (mask.rank() > 0) op_case.Input(random.Floats(mask));
    ExpectError(op_case.Float("scale", 1), MaceStatus::MACE_INVALID_ARGS,
                "they must be [B, H, M, D], [B, G, N, D], [B, G, N, E]");
  };
  error({1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}, {});
  error({1, 2, 3, 4}, {2, 2, 3, 4}, {2, 2, 3, 4}, {});
  error({1, 2, 3, 4}, {1, 3, 3, 4}, {1, 3, 3, 4}, {});
  error({1, 2, 3, 4}, {1, 2, 3, 5}, {1, 2, 3, 4}, {});
  error({1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 4, 4}, {});
  error({1, 2, 3, 4}, {1, 2, 0, 4}, {1, 2, 0, 4}, {});
  error({1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}, {1, 2, 3, 1});
  error({1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}, {3, 5});
  error({1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}, {1, 3, 3, 5});
}

}  // namespace
}  // namespace mace
