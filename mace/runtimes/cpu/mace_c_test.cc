// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/public/mace_c.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"

namespace mace {
namespace {

using core_test::ModelBuilder;

class CApiTest : public ::testing::Test {
 protected:
  CApiTest() {
    ModelBuilder builder;
    builder.Input("x", {-1, 4})
        .Constant("c", {1, 4}, std::vector<float>{10, 20, 30, 40})
        .Operator("add", "TestAdd", {"x", "c"}, {"y"})
        .Output("y");
    graph_ = builder.graph();
    weights_path_ = ::testing::TempDir() + "/c_api_test.data";
    std::ofstream(weights_path_, std::ios::binary) << builder.weights();
    model_.graph = graph_.data();
    model_.graph_size = graph_.size();
    model_.weights_path = weights_path_.c_str();
  }
  ~CApiTest() override { mace_engine_destroy(engine_); }

  static mace_tensor TensorOf(const char *name,
                              std::vector<float> *values,
                              const std::vector<int64_t> &dims) {
    mace_tensor tensor{};
    tensor.name = name;
    tensor.data = values->data();
    tensor.bytes = values->size() * sizeof(float);
    tensor.type = MACE_TYPE_FLOAT;
    tensor.format = MACE_FORMAT_NHWC;
    tensor.rank = dims.size();
    std::copy(dims.begin(), dims.end(), tensor.dims);
    return tensor;
  }

  std::string graph_;
  std::string weights_path_;
  mace_model model_{};
  mace_engine *engine_ = nullptr;
};

TEST_F(CApiTest, RunsAModel) {
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  ASSERT_EQ(mace_config_set_device(config, MACE_DEVICE_CPU), MACE_OK);
  ASSERT_EQ(mace_config_set_cpu_threads(config, 1, MACE_AFFINITY_NONE),
            MACE_OK);
  ASSERT_EQ(mace_config_set_out_of_range_check(config, 1), MACE_OK);
  ASSERT_EQ(mace_engine_create(&model_, config, &engine_), MACE_OK)
      << mace_last_error();
  mace_config_destroy(config);

  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(9, -1);  // more room than needed
  const mace_tensor input = TensorOf("x", &x, {1, 4});
  mace_tensor output = TensorOf("y", &y, {});
  ASSERT_EQ(mace_engine_run(engine_, &input, 1, &output, 1), MACE_OK)
      << mace_last_error();
  EXPECT_EQ(output.rank, 2u);
  EXPECT_EQ(output.dims[0], 1);
  EXPECT_EQ(output.dims[1], 4);
  EXPECT_EQ(y, (std::vector<float>{11, 22, 33, 44, -1, -1, -1, -1, -1}));
  EXPECT_EQ(mace_engine_release_intermediate_buffer(engine_), MACE_OK);
  EXPECT_EQ(mace_engine_reset_states(engine_), MACE_OK);
  EXPECT_EQ(mace_engine_run(engine_, &input, 1, &output, 1), MACE_OK);
}

TEST_F(CApiTest, SaysInputsAndOutputs) {
  ASSERT_EQ(mace_engine_create(&model_, nullptr, &engine_), MACE_OK);
  std::vector<mace_port> ports;
  std::vector<std::string> names;
  struct Found {
    std::vector<mace_port> *ports;
    std::vector<std::string> *names;
  } found = {&ports, &names};
  const auto visit = [](const mace_port *port, void *user) {
    auto *to = static_cast<Found *>(user);
    to->ports->push_back(*port);
    to->names->push_back(port->name);
  };
  ASSERT_EQ(mace_engine_visit_inputs(engine_, visit, &found), MACE_OK);
  std::vector<float> none;
  const mace_tensor open = TensorOf("x", &none, {-1, 4});
  EXPECT_EQ(mace_engine_visit_outputs(engine_, &open, 1, visit, &found),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_visit_outputs(engine_, &open, 0, visit, &found),
            MACE_ERROR_INVALID_ARGS);
  const mace_tensor input = TensorOf("x", &none, {1, 4});
  ASSERT_EQ(mace_engine_visit_outputs(engine_, &input, 1, visit, &found),
            MACE_OK)
      << mace_last_error();
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0].dims[0], -1);
  EXPECT_EQ(ports[1].dims[0], 1);
  for (const mace_port &port : ports) {
    EXPECT_EQ(port.type, MACE_TYPE_FLOAT);
    EXPECT_EQ(port.rank, 2u);
    EXPECT_EQ(port.dims[1], 4);
  }
  EXPECT_EQ(mace_engine_visit_inputs(engine_, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
}

TEST_F(CApiTest, SaysWhereOperatorsRunAndHowLong) {
  ASSERT_EQ(mace_engine_create(&model_, nullptr, &engine_), MACE_OK);
  std::vector<int64_t> nanos;
  const auto visit = [](const mace_operator *op, void *user) {
    EXPECT_STREQ(op->name, "add");
    EXPECT_STREQ(op->type, "TestAdd");
    EXPECT_EQ(op->device, MACE_DEVICE_CPU);
    static_cast<std::vector<int64_t> *>(user)->push_back(op->measured_nanos);
  };
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(4);
  const mace_tensor input = TensorOf("x", &x, {1, 4});
  mace_tensor output = TensorOf("y", &y, {});
  ASSERT_EQ(mace_engine_run(engine_, &input, 1, &output, 1), MACE_OK);
  ASSERT_EQ(mace_engine_visit_operators(engine_, visit, &nanos), MACE_OK);
  ASSERT_EQ(mace_engine_run_timed(engine_, &input, 1, &output, 1), MACE_OK);
  ASSERT_EQ(mace_engine_visit_operators(engine_, visit, &nanos), MACE_OK);
  ASSERT_EQ(nanos.size(), 2u);
  EXPECT_EQ(nanos[0], -1);
  EXPECT_GE(nanos[1], 0);
  EXPECT_EQ(y[3], 44);

  std::string text;
  const auto write = [](const char *explained, void *user) {
    *static_cast<std::string *>(user) = explained;
  };
  ASSERT_EQ(mace_engine_explain(engine_, write, &text), MACE_OK);
  EXPECT_NE(text.find("TestAdd"), std::string::npos) << text;

  mace_engine_stats stats;
  ASSERT_EQ(mace_engine_get_stats(engine_, &stats), MACE_OK);
  EXPECT_EQ(stats.operator_count, 1u);
  EXPECT_EQ(stats.constant_bytes, 4 * sizeof(float));
}

TEST_F(CApiTest, TellsTheShapeThatDoesNotFit) {
  ASSERT_EQ(mace_engine_create(&model_, nullptr, &engine_), MACE_OK)
      << mace_last_error();
  std::vector<float> x(4, 1);
  const mace_tensor input = TensorOf("x", &x, {1, 4});
  std::vector<float> none;
  mace_tensor output = TensorOf("y", &none, {});
  EXPECT_EQ(mace_engine_run(engine_, &input, 1, &output, 1),
            MACE_ERROR_INVALID_ARGS);
  ASSERT_EQ(output.rank, 2u);
  EXPECT_EQ(output.dims[0], 1);
  EXPECT_EQ(output.dims[1], 4);
  std::vector<float> y(4, -1);
  output.data = y.data();
  output.bytes = y.size() * sizeof(float);
  ASSERT_EQ(mace_engine_run(engine_, &input, 1, &output, 1), MACE_OK)
      << mace_last_error();
  EXPECT_EQ(y[3], 41);
}

TEST_F(CApiTest, ChecksWeightsOnRequest) {
  // The builder's model says that the checksum is 0, which is wrong.
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  ASSERT_EQ(mace_config_set_weights_check(config, 1), MACE_OK);
  EXPECT_EQ(mace_engine_create(&model_, config, &engine_),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "damaged"), nullptr);
  ASSERT_EQ(mace_config_set_weights_check(config, 0), MACE_OK);
  EXPECT_EQ(mace_engine_create(&model_, config, &engine_), MACE_OK)
      << mace_last_error();
  mace_config_destroy(config);
  EXPECT_EQ(mace_config_set_weights_check(nullptr, 1), MACE_ERROR_INVALID_ARGS);
}

TEST_F(CApiTest, ScalarsHaveNoDimensions) {
  ModelBuilder builder;
  builder.Input("x", {})
      .Operator("scale", "TestAffine", {"x"}, {"y"}, {core_test::Scale(3)})
      .Output("y");
  const std::string graph = builder.graph();
  model_ = {};
  model_.graph = graph.data();
  model_.graph_size = graph.size();
  ASSERT_EQ(mace_engine_create(&model_, nullptr, &engine_), MACE_OK)
      << mace_last_error();
  std::vector<float> x = {2};
  std::vector<float> y = {-1};
  const mace_tensor input = TensorOf("x", &x, {});
  mace_tensor output = TensorOf("y", &y, {7});
  ASSERT_EQ(mace_engine_run(engine_, &input, 1, &output, 1), MACE_OK)
      << mace_last_error();
  EXPECT_EQ(output.rank, 0u);
  EXPECT_EQ(y[0], 6);
}

TEST_F(CApiTest, LimitsMemory) {
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  ASSERT_EQ(mace_config_set_memory_limit(config, 1), MACE_OK);
  EXPECT_EQ(mace_engine_create(&model_, config, &engine_),
            MACE_ERROR_OUT_OF_RESOURCES);
  EXPECT_NE(std::strstr(mace_last_error(), "over the limit"), nullptr);
  ASSERT_EQ(mace_config_set_memory_limit(config, 0), MACE_OK);
  EXPECT_EQ(mace_engine_create(&model_, config, &engine_), MACE_OK)
      << mace_last_error();
  mace_config_destroy(config);
  EXPECT_EQ(mace_config_set_memory_limit(nullptr, 1), MACE_ERROR_INVALID_ARGS);
  EXPECT_STREQ(mace_last_error() + std::strlen("MACE_INVALID_ARGS: "),
               "`config` is NULL");
}

TEST_F(CApiTest, ReportsErrorsByCodeAndMessage) {
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  EXPECT_EQ(mace_config_set_cpu_threads(config, 1, 77),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "77"), nullptr);
  ASSERT_EQ(mace_config_set_device(config, MACE_DEVICE_GPU), MACE_OK);
  EXPECT_EQ(mace_engine_create(&model_, config, &engine_),
            MACE_ERROR_UNSUPPORTED);
  EXPECT_NE(std::strstr(mace_last_error(), "GPU"), nullptr);
  mace_config_destroy(config);

  const char *wanted[] = {"nonsense"};
  model_.outputs = wanted;
  model_.output_count = 1;
  EXPECT_EQ(mace_engine_create(&model_, nullptr, &engine_),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "'nonsense'"), nullptr);
  EXPECT_EQ(engine_, nullptr);

  model_.output_count = 0;
  model_.weights_path = "/does/not/exist.data";
  EXPECT_EQ(mace_engine_create(&model_, nullptr, &engine_),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "/does/not/exist.data"), nullptr);

  model_.graph_size = SIZE_MAX;
  for (const char *path :
       {weights_path_.c_str(), static_cast<const char *>(nullptr)}) {
    model_.weights_path = path;
    EXPECT_EQ(mace_engine_create(&model_, nullptr, &engine_),
              MACE_ERROR_INVALID_ARGS);
    EXPECT_NE(std::strstr(mace_last_error(), "size of the graph"), nullptr)
        << mace_last_error();
  }
}

// Opening a FIFO waits for its writer.
TEST_F(CApiTest, RefusesWeightsThatAreNoRegularFile) {
  const std::string fifo = ::testing::TempDir() + "/c_api_test.fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string &path :
       {fifo, std::string("/dev/zero"), ::testing::TempDir()}) {
    model_.weights_path = path.c_str();
    EXPECT_EQ(mace_engine_create(&model_, nullptr, &engine_),
              MACE_ERROR_INVALID_ARGS);
    EXPECT_NE(std::strstr(mace_last_error(),
                          ("'" + path + "' is not a regular file").c_str()),
              nullptr)
        << mace_last_error();
  }
  unlink(fifo.c_str());
}

TEST_F(CApiTest, ChecksTensors) {
  ASSERT_EQ(mace_engine_create(&model_, nullptr, &engine_), MACE_OK);
  std::vector<float> x(4);
  std::vector<float> y(4);
  const auto run = [this](const mace_tensor &input, mace_tensor output) {
    return mace_engine_run(engine_, &input, 1, &output, 1);
  };
  const mace_tensor input = TensorOf("x", &x, {1, 4});
  const mace_tensor output = TensorOf("y", &y, {});
  EXPECT_EQ(run(input, output), MACE_OK);
  EXPECT_EQ(run(TensorOf("x", &x, {2, 4}), output), MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "16 bytes"), nullptr);
  mace_tensor bad = input;
  bad.rank = 9;
  EXPECT_EQ(run(bad, output), MACE_ERROR_INVALID_ARGS);
  bad = input;
  bad.type = 99;
  EXPECT_EQ(run(bad, output), MACE_ERROR_INVALID_ARGS);
  bad = input;
  bad.format = 99;
  EXPECT_EQ(run(bad, output), MACE_ERROR_INVALID_ARGS);
  bad = input;
  bad.name = nullptr;
  EXPECT_EQ(run(bad, output), MACE_ERROR_INVALID_ARGS);
  const mace_tensor twice[] = {input, input};
  mace_tensor result = output;
  EXPECT_EQ(mace_engine_run(engine_, twice, 2, &result, 1),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_run(engine_, nullptr, 1, &result, 1),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_run(engine_, &input, 1, nullptr, 0),
            MACE_ERROR_INVALID_ARGS);
}

TEST_F(CApiTest, NullHandlesAreErrorsNotCrashes) {
  EXPECT_EQ(mace_config_create(nullptr), MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_config_set_device(nullptr, MACE_DEVICE_CPU),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_create(nullptr, nullptr, &engine_),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_create(&model_, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_run(nullptr, nullptr, 0, nullptr, 0),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_reset_states(nullptr), MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_run_timed(nullptr, nullptr, 0, nullptr, 0),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_visit_inputs(nullptr, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_visit_outputs(nullptr, nullptr, 0, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_visit_operators(nullptr, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_explain(nullptr, nullptr, nullptr),
            MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_get_stats(nullptr, nullptr), MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_engine_release_intermediate_buffer(nullptr),
            MACE_ERROR_INVALID_ARGS);
  mace_engine_destroy(nullptr);
  mace_config_destroy(nullptr);
}

TEST_F(CApiTest, MessagesBelongToTheirThread) {
  EXPECT_EQ(mace_config_create(nullptr), MACE_ERROR_INVALID_ARGS);
  std::string other = "unset";
  std::thread([&other] { other = mace_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STRNE(mace_last_error(), "");
}

TEST_F(CApiTest, HasAVersion) { EXPECT_GT(std::strlen(mace_version()), 0u); }

}  // namespace
}  // namespace mace
