// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectNear;
using op_test::IsaResult;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

struct Function {
  std::string name;
  double alpha = 0;
  double beta = 0;

  double operator()(double x) const {
    if (name == "SIGMOID") return 1 / (1 + std::exp(-x));
    if (name == "TANH") return std::tanh(x);
    if (name == "RELU") return std::max(x, 0.0);
    if (name == "AFFINE") return alpha * x + beta;
    if (name == "LEAKY_RELU") return x < 0 ? alpha * x : x;
    if (name == "THRESHOLDED_RELU") return x > alpha ? x : 0;
    if (name == "SCALED_TANH") return alpha * std::tanh(beta * x);
    if (name == "HARD_SIGMOID") {
      return std::min(std::max(alpha * x + beta, 0.0), 1.0);
    }
    if (name == "ELU") return x < 0 ? alpha * (std::exp(x) - 1) : x;
    if (name == "SOFTSIGN") return x / (1 + std::fabs(x));
    return std::log1p(std::exp(x));  // SOFTPLUS
  }
};

struct Layer {
  std::string mode = "RNN";
  int64_t steps = 3;
  int64_t batch = 2;
  int64_t units = 5;
  int64_t directions = 1;
  bool reverse = false;
  bool batch_first = false;
  bool reset_after = false;
  bool couple_gates = false;
  bool with_params = false;
  bool with_states = false;
  bool forget_unread = false;
  std::vector<int32_t> lengths = {};
  double clip = 0;
  Function gate = {"SIGMOID"};
  Function cell = {"TANH"};
  Function output = {"TANH"};
  DataType weight_type = DataType::kFloat32;
  bool pairs = false;  // of bf16

  int64_t gates() const { return mode == "RNN" ? 1 : mode == "GRU" ? 3 : 4; }
  size_t outputs() const { return mode == "LSTM" ? 3 : 2; }
  Shape state() const {
    return batch_first ? Shape{batch, directions, units}
                       : Shape{directions, batch, units};
  }
};

struct Data {
  Value x;
  std::vector<Value> weights;
  Value params;
  Value hidden;
  Value memory;
};

Data DataOf(const Layer &l, Random *random) {
  Data data;
  const int64_t columns = l.directions * l.gates() * l.units;
  data.x = random->Floats(l.batch_first ? Shape{l.batch, l.steps, columns}
                                        : Shape{l.steps, l.batch, columns},
                          -2, 2);
  // The sum of the products of one unit is about as large as x.
  const float large = 2 / std::sqrt(static_cast<float>(l.units));
  for (int64_t d = 0; d < l.directions; ++d) {
    const Value plain =
        random->Floats({l.gates() * l.units, l.units}, -large, large);
    data.weights.push_back(
        l.weight_type == DataType::kFloat32
            ? plain
            : RoundToHalf(plain, l.weight_type == DataType::kBfloat16));
  }
  data.params =
      random->Floats({l.directions, l.mode == "LSTM" ? 3 * l.units : l.units});
  data.hidden = random->Floats(l.state());
  data.memory = random->Floats(l.state());
  return data;
}

OpCase CaseOf(const Layer &l, const Data &data) {
  OpCase op_case("Recurrent", l.outputs());
  op_case.Input(data.x);
  const auto pack = [&](const Value &weights) {
    l.pairs ? op_case.PackedPairs(weights)
            : op_case.Packed(weights, 1, l.weight_type);
  };
  pack(data.weights[0]);
  if (l.directions == 2) {
    pack(data.weights[1]);
  } else {
    op_case.NoInput();
  }
  l.with_params ? op_case.Constant(data.params) : op_case.NoInput();
  l.with_states ? op_case.Input(data.hidden) : op_case.NoInput();
  l.with_states &&l.mode == "LSTM" ? op_case.Input(data.memory)
                                   : op_case.NoInput();
  if (!l.lengths.empty()) op_case.Input(Value::Ints({l.batch}, l.lengths));
  return op_case.String("mode", l.mode)
      .Int("reverse", l.reverse ? 1 : 0)
      .Int("batch_first", l.batch_first ? 1 : 0)
      .Int("reset_after", l.reset_after ? 1 : 0)
      .Int("couple_gates", l.couple_gates ? 1 : 0)
      .Int("forget_unread", l.forget_unread ? 1 : 0)
      .Float("clip", static_cast<float>(l.clip))
      .String("gate_activation", l.gate.name)
      .Float("gate_alpha", static_cast<float>(l.gate.alpha))
      .Float("gate_beta", static_cast<float>(l.gate.beta))
      .String("cell_activation", l.cell.name)
      .Float("cell_alpha", static_cast<float>(l.cell.alpha))
      .Float("cell_beta", static_cast<float>(l.cell.beta))
      .String("output_activation", l.output.name)
      .Float("output_alpha", static_cast<float>(l.output.alpha))
      .Float("output_beta", static_cast<float>(l.output.beta));
}

// One row in one direction, step by step.
class Reference {
 public:
  Reference(const Layer &l, const Data &data, int64_t direction)
      : l_(l), w_(data.weights[static_cast<size_t>(direction)].floats()) {
    const std::vector<float> params = data.params.floats();
    const auto wide = static_cast<int64_t>(params.size()) / l.directions;
    params_.assign(params.begin() + direction * wide,
                   params.begin() + (direction + 1) * wide);
    if (!l.with_params) std::fill(params_.begin(), params_.end(), 0.0f);
  }

  // x: [G][H]; h and c are replaced.
  void Step(const float *x, std::vector<double> *h, std::vector<double> *c) {
    const int64_t n = l_.units;
    std::vector<double> next(h->size());
    std::vector<double> reset = *h;
    if (l_.mode == "GRU" && !l_.reset_after) {
      for (int64_t u = 0; u < n; ++u) {
        reset[at(u)] = Gate(x, *h, 1, u, 0) * (*h)[at(u)];
      }
    }
    for (int64_t u = 0; u < n; ++u) {
      const double old = (*h)[at(u)];
      if (l_.mode == "RNN") {
        next[at(u)] = l_.cell(Clip(x[u] + Product(*h, 0, u)));
      } else if (l_.mode == "GRU") {
        const double z = Gate(x, *h, 0, u, 0);
        double p = Product(reset, 2, u);
        if (l_.reset_after) {
          p = Gate(x, *h, 1, u, 0) * (p + params_[at(u)]);
        }
        next[at(u)] = (1 - z) * l_.cell(Clip(x[2 * n + u] + p)) + z * old;
      } else {
        double &m = (*c)[at(u)];
        const double in = Gate(x, *h, 0, u, params_[at(u)] * m);
        const double forget =
            l_.couple_gates ? 1 - in
                            : Gate(x, *h, 2, u, params_[at(2 * n + u)] * m);
        const double g = l_.cell(Clip(x[3 * n + u] + Product(*h, 3, u)));
        m = forget * m + in * g;
        const double out = Gate(x, *h, 1, u, params_[at(n + u)] * m);
        next[at(u)] = out * l_.output(m);
      }
    }
    *h = next;
  }

 private:
  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  double Clip(double x) const {
    return l_.clip > 0 ? std::min(std::max(x, -l_.clip), l_.clip) : x;
  }
  double Product(const std::vector<double> &h, int64_t gate, int64_t u) const {
    double sum = 0;
    for (int64_t k = 0; k < l_.units; ++k) {
      sum += h[at(k)] * w_[at((gate * l_.units + u) * l_.units + k)];
    }
    return sum;
  }
  double Gate(const float *x,
              const std::vector<double> &h,
              int64_t gate,
              int64_t u,
              double more) const {
    return l_.gate(Clip(x[gate * l_.units + u] + Product(h, gate, u) + more));
  }

  const Layer &l_;
  std::vector<float> w_;
  std::vector<float> params_;
};

std::vector<std::vector<double>> Expected(const Layer &l, const Data &data) {
  const std::vector<float> x = data.x.floats();
  const std::vector<float> hidden = data.hidden.floats();
  const std::vector<float> memory = data.memory.floats();
  const int64_t d_count = l.directions;
  std::vector<std::vector<double>> results(3);
  results[0].resize(static_cast<size_t>(l.steps * d_count * l.batch * l.units));
  results[1].resize(hidden.size());
  results[2].resize(hidden.size());
  for (int64_t d = 0; d < d_count; ++d) {
    Reference reference(l, data, d);
    for (int64_t b = 0; b < l.batch; ++b) {
      const int64_t state =
          (l.batch_first ? b * d_count + d : d * l.batch + b) * l.units;
      std::vector<double> h(static_cast<size_t>(l.units));
      std::vector<double> c = h;
      const int64_t length =
          l.lengths.empty() ? l.steps : l.lengths[static_cast<size_t>(b)];
      const bool forgets = l.forget_unread && length == 0;
      for (size_t u = 0; l.with_states && !forgets && u < h.size(); ++u) {
        h[u] = hidden[static_cast<size_t>(state) + u];
        c[u] = memory[static_cast<size_t>(state) + u];
      }
      for (int64_t i = 0; i < length; ++i) {
        const int64_t step = d == 1 || l.reverse ? length - 1 - i : i;
        const int64_t row =
            l.batch_first ? b * l.steps + step : step * l.batch + b;
        reference.Step(
            &x[static_cast<size_t>((row * d_count + d) * l.gates() * l.units)],
            &h, &c);
        const int64_t to = l.batch_first ? (b * l.steps + step) * d_count + d
                                         : (step * d_count + d) * l.batch + b;
        std::copy(h.begin(), h.end(), results[0].begin() + to * l.units);
      }
      std::copy(h.begin(), h.end(), results[1].begin() + state);
      std::copy(c.begin(), c.end(), results[2].begin() + state);
    }
  }
  results.resize(l.outputs());
  return results;
}

// Errors of a step are those of float products and functions, about 1e-6, and
// shrink or grow little from step to step.
void ExpectLayer(const Layer &l, uint32_t seed, double tolerance = 2e-5) {
  Random random(seed);
  const Data data = DataOf(l, &random);
  const std::vector<std::vector<double>> expected = Expected(l, data);
  for (const IsaResult &run : op_test::RunEverywhere(CaseOf(l, data))) {
    SCOPED_TRACE(CpuIsaName(run.isa));
    ASSERT_EQ(run.result.status.code(), MaceStatus::MACE_SUCCESS)
        << run.result.status.information();
    ASSERT_EQ(run.result.outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (i > 0) EXPECT_EQ(run.result.outputs[i].shape, l.state());
      ExpectNear(run.result.outputs[i].floats(), expected[i],
                 {tolerance, tolerance});
    }
  }
}

TEST(RecurrentTest, MatchesTheReference) {
  uint32_t seed = 400;
  for (const char *mode : {"RNN", "GRU", "LSTM"}) {
    for (const int64_t units : {1, 5, 16, 40, 67, 128}) {
      for (const int64_t batch : {1, 3}) {
        Layer l;
        l.mode = mode;
        l.units = units;
        l.batch = batch;
        l.with_params = l.mode == "LSTM";
        l.with_states = batch == 3;
        l.reverse = units == 40;
        l.batch_first = units == 16;
        SCOPED_TRACE(testing::Message()
                     << mode << " " << units << " of " << batch);
        ExpectLayer(l, ++seed);
        if (l.mode == "GRU") {
          l.reset_after = true;
          ExpectLayer(l, ++seed);
          l.with_params = true;
          ExpectLayer(l, ++seed);
        }
      }
    }
  }
}

TEST(RecurrentTest, BothDirectionsAndLengths) {
  uint32_t seed = 500;
  for (const char *mode : {"RNN", "GRU", "LSTM"}) {
    for (const bool batch_first : {false, true}) {
      for (const int64_t directions : {1, 2}) {
        Layer l;
        l.mode = mode;
        l.steps = 6;
        l.batch = 4;
        l.units = 21;
        l.directions = directions;
        l.reverse = directions == 1;
        l.batch_first = batch_first;
        l.with_params = l.mode == "LSTM";
        l.with_states = true;
        ExpectLayer(l, ++seed);
        l.lengths = {3, 0, 6, 1};
        ExpectLayer(l, ++seed);
        l.forget_unread = true;
        ExpectLayer(l, ++seed);
      }
    }
  }
}

// So large that threads divide the units of a direction.
TEST(RecurrentTest, UnitsThatThreadsDivide) {
  uint32_t seed = 600;
  for (const char *mode : {"RNN", "GRU", "LSTM"}) {
    for (const int64_t batch : {1, 9}) {
      Layer l;
      l.mode = mode;
      l.steps = 2;
      l.batch = batch;
      l.units = l.mode == "RNN" ? 560 : 304;
      l.with_states = true;
      ExpectLayer(l, ++seed);
      l.lengths.assign(static_cast<size_t>(batch), 1);
      l.reset_after = true;
      ExpectLayer(l, ++seed);
    }
  }
}

// So few weights that threads divide the rows.
TEST(RecurrentTest, RowsThatThreadsDivide) {
  uint32_t seed = 650;
  for (const char *mode : {"RNN", "GRU", "LSTM"}) {
    for (const int64_t batch : {4, 7, 12}) {
      Layer l;
      l.mode = mode;
      l.steps = 8;
      l.batch = batch;
      l.units = 99;
      l.with_states = true;
      l.batch_first = batch == 7;
      ExpectLayer(l, ++seed);
      l.lengths.assign(static_cast<size_t>(batch), 3);
      l.reset_after = true;
      ExpectLayer(l, ++seed);
    }
  }
}

TEST(RecurrentTest, EveryActivation) {
  const std::vector<Function> functions = {
      {"SIGMOID"},
      {"TANH"},
      {"RELU"},
      {"AFFINE", 0.5, 0.25},
      {"LEAKY_RELU", 0.1},
      {"THRESHOLDED_RELU", 0.3},
      {"SCALED_TANH", 1.5, 0.5},
      {"HARD_SIGMOID", 0.2, 0.5},
      {"ELU", 0.7},
      {"SOFTSIGN"},
      {"SOFTPLUS"},
  };
  uint32_t seed = 700;
  for (size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE(functions[i].name);
    Layer l;
    l.mode = "LSTM";
    l.units = 19;
    l.steps = 2;
    l.with_states = true;
    l.gate = functions[i];
    l.cell = functions[(i + 1) % functions.size()];
    l.output = functions[(i + 2) % functions.size()];
    // Sums of unbounded functions are larger.
    ExpectLayer(l, ++seed, 1e-4);
    l.clip = 0.6;
    l.couple_gates = true;
    l.with_params = true;
    ExpectLayer(l, ++seed, 1e-4);
    l.mode = "GRU";
    l.with_params = false;
    ExpectLayer(l, ++seed, 1e-4);
    l.mode = "RNN";
    ExpectLayer(l, ++seed, 1e-4);
  }
}

TEST(RecurrentTest, WeightsOfSixteenBits) {
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    for (const int64_t batch : {1, 4}) {
      Layer l;
      l.mode = "LSTM";
      l.units = 48;
      l.batch = batch;
      l.weight_type = type;
      ExpectLayer(l, 800);
    }
  }
}

TEST(RecurrentTest, WeightsInPairs) {
  uint32_t seed = 850;
  for (const char *mode : {"RNN", "GRU", "LSTM"}) {
    for (const int64_t units : {1, 2, 16, 17, 31, 33, 67}) {
      for (const int64_t batch : {1, 3, 8}) {
        Layer l;
        l.mode = mode;
        l.steps = 4;
        l.units = units;
        l.batch = batch;
        l.directions = batch == 3 ? 2 : 1;
        l.with_states = batch == 8;
        l.weight_type = DataType::kBfloat16;
        l.pairs = true;
        SCOPED_TRACE(testing::Message()
                     << mode << " " << units << " of " << batch);
        ExpectLayer(l, ++seed);
        l.reset_after = l.mode == "GRU";
        if (l.reset_after) ExpectLayer(l, ++seed);
      }
    }
  }
}

TEST(RecurrentTest, NoStepsAndNoRows) {
  Layer l;
  l.mode = "LSTM";
  l.steps = 0;
  l.with_states = true;
  ExpectLayer(l, 900);
  l.forget_unread = true;
  ExpectLayer(l, 902);
  l.forget_unread = false;
  l.steps = 2;
  l.batch = 0;
  ExpectLayer(l, 901);
}

TEST(RecurrentTest, Errors) {
  Random random(950);
  Layer l;
  const Data data = DataOf(l, &random);
  const auto error = [&](const Layer &changed, const std::string &text) {
    ExpectError(CaseOf(changed, data), MaceStatus::MACE_INVALID_ARGS, text);
  };
  Layer other = l;
  other.lengths = {4, 0};
  error(other, "length 4 of row 0 is not within [0, 3]");
  other.lengths = {0, -1};
  error(other, "length -1 of row 1 is not within [0, 3]");
  other = l;
  other.mode = "GRU";
  error(other, "input 'weights' has the shape [5, 5]; it must be [15, 5]");
  other = l;
  other.with_params = true;
  error(other, "has params, which belong to LSTM and to GRU with reset_after");
  OpCase wrong = CaseOf(l, data);
  wrong.outputs = 3;
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS, "has 3 outputs, not 2");
  wrong = CaseOf(l, data);
  wrong.inputs[0].value = random.Floats({3, 5});
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "the input has 2 dimensions, not 3");
  wrong.inputs[0].value = random.Floats({3, 2, 6});
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "input 'input' has the shape [3, 2, 6]; it must be [3, 2, 5]");
  wrong = CaseOf(l, data);
  wrong.inputs[4].kind = op_test::CaseInput::Kind::kComputed;
  wrong.inputs[4].value = random.Floats({2, 2, 5});
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "input 'initial_hidden' has the shape [2, 2, 5]");
  wrong = CaseOf(l, data);
  wrong.inputs[5].kind = op_test::CaseInput::Kind::kComputed;
  wrong.inputs[5].value = data.memory;
  ExpectError(wrong, MaceStatus::MACE_INVALID_ARGS,
              "has an initial_memory, which belongs to LSTM");
  Layer both = l;
  both.directions = 2;
  both.reverse = true;
  ExpectError(CaseOf(both, DataOf(both, &random)),
              MaceStatus::MACE_INVALID_ARGS,
              "has reverse_weights and the attribute reverse");
}

}  // namespace
}  // namespace mace
