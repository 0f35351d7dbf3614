// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Each step quantizes the states.

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
using op_test::IsaResult;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Layer {
  std::string mode = "LSTM";
  int64_t steps = 3;
  int64_t batch = 2;
  int64_t units = 5;
  int64_t directions = 1;
  bool with_states = false;
  std::vector<int32_t> lengths = {};

  int64_t gates() const { return mode == "GRU" ? 3 : 4; }
  size_t outputs() const { return mode == "LSTM" ? 3 : 2; }
};

struct IntegerLayer {
  Layer layer;
  bool with_zeros = false;
  bool whole = false;  // one scale for all rows
};

struct IntegerData {
  Value x;
  Value hidden;
  Value memory;
  std::vector<Value> integers;  // [H, G * H]
  Value scales;                 // [D, G * H]
  Value zeros;
  // [G * H][H], what the integers stand for, of each direction.
  std::vector<std::vector<float>> weights;
};

IntegerData IntegerDataOf(const IntegerLayer &l, Random *random) {
  const Layer &layer = l.layer;
  IntegerData result;
  const int64_t columns = layer.gates() * layer.units;
  result.x = random->Floats(
      {layer.steps, layer.batch, layer.directions * columns}, -2, 2);
  const Shape state = {layer.directions, layer.batch, layer.units};
  result.hidden = random->Floats(state);
  result.memory = random->Floats(state);
  const float large = 2 / (127 * std::sqrt(static_cast<float>(layer.units)));
  result.scales = random->Floats({layer.directions, columns}, large / 2, large);
  result.zeros = random->Ints({layer.directions, columns}, -128, 127);
  const std::vector<float> scales = result.scales.floats();
  const std::vector<int32_t> zeros = result.zeros.ints();
  for (int64_t d = 0; d < layer.directions; ++d) {
    const std::vector<int32_t> q =
        random->Ints({layer.units, columns}, -127, 127).ints();
    std::vector<float> w(static_cast<size_t>(columns * layer.units));
    for (int64_t k = 0; k < layer.units; ++k) {
      for (int64_t n = 0; n < columns; ++n) {
        const auto at = static_cast<size_t>(d * columns + n);
        const int32_t number = q[static_cast<size_t>(k * columns + n)] -
                               (l.with_zeros ? zeros[at] : 0);
        w[static_cast<size_t>(n * layer.units + k)] =
            static_cast<float>(number) * scales[at];
      }
    }
    result.weights.push_back(w);
    result.integers.push_back(
        Value::Bytes(DataType::kInt8, {layer.units, columns}, q));
  }
  return result;
}

OpCase CaseOf(const IntegerLayer &l, const IntegerData &data) {
  const Layer &layer = l.layer;
  OpCase op_case("DynamicQuantizeRecurrent", layer.outputs());
  op_case.Input(data.x).PackedMatrices(data.integers[0]);
  op_case.Constant(data.scales);
  if (layer.directions == 2) {
    op_case.PackedMatrices(data.integers[1]);
  } else {
    op_case.NoInput();
  }
  op_case.NoInput();
  layer.with_states ? op_case.Input(data.hidden) : op_case.NoInput();
  layer.with_states &&layer.mode == "LSTM" ? op_case.Input(data.memory)
                                           : op_case.NoInput();
  if (layer.lengths.empty()) {
    op_case.NoInput();
  } else {
    op_case.Input(Value::Ints({layer.batch}, layer.lengths));
  }
  if (l.with_zeros) {
    op_case.Constant(
        Value::Bytes(DataType::kInt8, data.zeros.shape, data.zeros.ints()));
  }
  return op_case.String("range", l.whole ? "TENSOR" : "ROW")
      .String("mode", layer.mode);
}

// A step's products in integers: of a state that fills the range of its scale,
// the quantization is exact to half a step of it, (high - low) / 510, whose
// products add to at most kStep * sum |w|. The expected values quantize the
// states likewise, in double: they may round a state's element the other way
// where it is next to a tie, which moves a gate by one step times a weight,
// about 0.02, and is seldom. So of all results, at most one of fifty differs
// by more than the float functions' 2e-5.
class IntegerReference {
 public:
  IntegerReference(const IntegerLayer &l, const IntegerData &data)
      : l_(l),
        x_(data.x.floats()),
        hidden_(data.hidden.floats()),
        memory_(data.memory.floats()),
        weights_(data.weights) {}

  std::vector<std::vector<double>> Results() const {
    const Layer &layer = l_.layer;
    std::vector<std::vector<double>> results(3);
    const auto count =
        static_cast<size_t>(layer.directions * layer.batch * layer.units);
    results[0].resize(count * static_cast<size_t>(layer.steps));
    results[1].resize(count);
    results[2].resize(count);
    for (int64_t d = 0; d < layer.directions; ++d) RunDirection(d, &results);
    results.resize(layer.outputs());
    return results;
  }

 private:
  using Rows = std::vector<std::vector<double>>;

  static double QuantizedTo(double x, float scale, double zero) {
    const double steps = std::nearbyint(static_cast<float>(x) / scale) + zero;
    return (std::min(std::max(steps, 0.0), 255.0) - zero) *
           static_cast<double>(scale);
  }
  // The numbers that the integers of the rows [begin, end) stand for.
  void Round(Rows *rows, size_t begin, size_t end, int64_t step) const {
    double low = 0;
    double high = 0;
    for (size_t b = begin; b < end; ++b) {
      if (!Alive(static_cast<int64_t>(b), step)) continue;
      for (const double x : (*rows)[b]) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
    }
    const float span = static_cast<float>(high) - static_cast<float>(low);
    const float scale = span == 0 ? 1.0f : span / 255.0f;
    const double zero = std::nearbyint(-static_cast<float>(low) / scale);
    for (size_t b = begin; b < end; ++b) {
      for (double &x : (*rows)[b]) x = QuantizedTo(x, scale, zero);
    }
  }
  Rows Rounded(Rows rows, int64_t step) const {
    if (l_.whole) {
      Round(&rows, 0, rows.size(), step);
      return rows;
    }
    for (size_t b = 0; b < rows.size(); ++b) Round(&rows, b, b + 1, step);
    return rows;
  }
  int64_t Length(int64_t b) const {
    return l_.layer.lengths.empty() ? l_.layer.steps
                                    : l_.layer.lengths[static_cast<size_t>(b)];
  }
  bool Alive(int64_t b, int64_t step) const { return step < Length(b); }
  double Product(const std::vector<double> &row,
                 int64_t d,
                 int64_t column) const {
    const std::vector<float> &w = weights_[static_cast<size_t>(d)];
    double sum = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      sum += row[k] * static_cast<double>(
                          w[static_cast<size_t>(column) * row.size() + k]);
    }
    return sum;
  }
  void RunDirection(int64_t d,
                    std::vector<std::vector<double>> *results) const {
    const Layer &layer = l_.layer;
    const int64_t n = layer.units;
    const auto batch = static_cast<size_t>(layer.batch);
    Rows h(batch, std::vector<double>(static_cast<size_t>(n)));
    Rows c = h;
    for (size_t b = 0; layer.with_states && b < batch; ++b) {
      for (size_t u = 0; u < h[b].size(); ++u) {
        const size_t at =
            (static_cast<size_t>(d) * batch + b) * h[b].size() + u;
        h[b][u] = static_cast<double>(hidden_[at]);
        c[b][u] = static_cast<double>(memory_[at]);
      }
    }
    for (int64_t step = 0; step < layer.steps; ++step) {
      const Rows rounded = Rounded(h, step);
      Rows reset = h;
      const auto gate = [&](int64_t b, int64_t g, int64_t u) {
        const int64_t at = d == 1 ? Length(b) - 1 - step : step;
        const float *row = &x_[static_cast<size_t>(
            ((at * layer.batch + b) * layer.directions + d) * layer.gates() *
            n)];
        return static_cast<double>(row[g * n + u]) +
               Product(rounded[static_cast<size_t>(b)], d, g * n + u);
      };
      const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      Rows next = h;
      for (int64_t b = 0; layer.mode == "GRU" && b < layer.batch; ++b) {
        for (int64_t u = 0; Alive(b, step) && u < n; ++u) {
          reset[static_cast<size_t>(b)][static_cast<size_t>(u)] *=
              sigmoid(gate(b, 1, u));
        }
      }
      const Rows rounded_reset = Rounded(reset, step);
      for (int64_t b = 0; b < layer.batch; ++b) {
        if (!Alive(b, step)) continue;
        const int64_t at = d == 1 ? Length(b) - 1 - step : step;
        for (int64_t u = 0; u < n; ++u) {
          const auto row = static_cast<size_t>(b);
          const auto unit = static_cast<size_t>(u);
          if (layer.mode == "GRU") {
            const float *own = &x_[static_cast<size_t>(
                ((at * layer.batch + b) * layer.directions + d) * 3 * n)];
            const double z = sigmoid(gate(b, 0, u));
            const double candidate =
                std::tanh(static_cast<double>(own[2 * n + u]) +
                          Product(rounded_reset[row], d, 2 * n + u));
            next[row][unit] = (1 - z) * candidate + z * h[row][unit];
          } else {
            double &m = c[row][unit];
            m = sigmoid(gate(b, 2, u)) * m +
                sigmoid(gate(b, 0, u)) * std::tanh(gate(b, 3, u));
            next[row][unit] = sigmoid(gate(b, 1, u)) * std::tanh(m);
          }
          (*results)[0][static_cast<size_t>(
              ((at * layer.directions + d) * layer.batch + b) * n + u)] =
              next[row][unit];
        }
      }
      h = next;
    }
    for (size_t b = 0; b < batch; ++b) {
      const size_t at = (static_cast<size_t>(d) * batch + b) * h[b].size();
      std::copy(h[b].begin(), h[b].end(),
                (*results)[1].begin() + static_cast<ptrdiff_t>(at));
      std::copy(c[b].begin(), c[b].end(),
                (*results)[2].begin() + static_cast<ptrdiff_t>(at));
    }
  }

  const IntegerLayer &l_;
  const std::vector<float> x_;
  const std::vector<float> hidden_;
  const std::vector<float> memory_;
  const std::vector<std::vector<float>> &weights_;  // of each direction
};

void ExpectIntegers(const IntegerLayer &l, uint32_t seed) {
  Random random(seed);
  const IntegerData data = IntegerDataOf(l, &random);
  const auto expected = IntegerReference(l, data).Results();
  for (const IsaResult &run : op_test::RunEverywhere(CaseOf(l, data))) {
    SCOPED_TRACE(CpuIsaName(run.isa));
    ASSERT_EQ(run.result.status.code(), MaceStatus::MACE_SUCCESS)
        << run.result.status.information();
    ASSERT_EQ(run.result.outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::vector<float> found = run.result.outputs[i].floats();
      ASSERT_EQ(found.size(), expected[i].size());
      size_t other = 0;
      for (size_t k = 0; k < found.size(); ++k) {
        const double difference =
            std::fabs(static_cast<double>(found[k]) - expected[i][k]);
        if (difference > 2e-5) ++other;
        EXPECT_LE(difference, 0.02) << "output " << i << ", element " << k;
      }
      EXPECT_LE(other * 50, found.size()) << "output " << i;
    }
  }
}

TEST(DynamicQuantizeRecurrentTest, MatchesTheDefinition) {
  uint32_t seed = 1000;
  for (const char *mode : {"GRU", "LSTM"}) {
    for (const int64_t units : {1, 5, 16, 67, 128}) {
      for (const bool whole : {false, true}) {
        IntegerLayer l;
        l.layer.mode = mode;
        l.layer.units = units;
        l.layer.batch = units == 5 ? 1 : 3;
        l.layer.directions = units == 67 ? 2 : 1;
        l.layer.with_states = units != 16;
        l.with_zeros = units != 128;
        l.whole = whole;
        SCOPED_TRACE(testing::Message() << mode << " " << units);
        ExpectIntegers(l, ++seed);
      }
    }
  }
}

// Rows that have ended have no part in the one scale of all rows.
TEST(DynamicQuantizeRecurrentTest, Lengths) {
  uint32_t seed = 1100;
  for (const char *mode : {"GRU", "LSTM"}) {
    for (const bool whole : {false, true}) {
      IntegerLayer l;
      l.layer.mode = mode;
      l.layer.steps = 5;
      l.layer.batch = 4;
      l.layer.units = 21;
      l.layer.directions = 2;
      l.layer.with_states = true;
      l.layer.lengths = {3, 0, 5, 1};
      l.whole = whole;
      ExpectIntegers(l, ++seed);
    }
  }
}

// So large that threads divide the units, or the rows.
TEST(DynamicQuantizeRecurrentTest, Threads) {
  uint32_t seed = 1200;
  for (const bool whole : {false, true}) {
    for (const int64_t units : {160, 512}) {
      IntegerLayer l;
      l.layer.mode = "LSTM";
      l.layer.steps = 3;
      l.layer.batch = 8;
      l.layer.units = units;
      l.layer.with_states = true;
      l.whole = whole;
      SCOPED_TRACE(testing::Message() << units);
      ExpectIntegers(l, ++seed);
    }
  }
}

TEST(DynamicQuantizeRecurrentTest, Errors) {
  Random random(1300);
  IntegerLayer l;
  l.layer.mode = "LSTM";
  const IntegerData data = IntegerDataOf(l, &random);
  OpCase wrong = CaseOf(l, data);
  wrong.inputs[2].value = random.Floats({1, 5});
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "input 'weight_scales' has the shape [1, 5]; it must be [1, 20]");
  IntegerLayer other = l;
  other.layer.mode = "GRU";
  ExpectError(CaseOf(other, data), MaceStatus::MACE_INVALID_ARGS,
              "input 'weight_scales' has the shape [1, 20]; it must be "
              "[1, 15]");
  other = l;
  other.layer.lengths = {4, 0};
  ExpectError(CaseOf(other, data), MaceStatus::MACE_INVALID_ARGS,
              "length 4 of row 0 is not within [0, 3]");
  wrong = CaseOf(l, data);
  wrong.inputs[1].layout = ConstantLayout::kPlain;
  wrong.inputs[1].value = data.integers[0];
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "the weights are not packed");
}

}  // namespace
}  // namespace mace
