// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl_options/opencl_options.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "mace/core/base/logging.h"
#include "mace/core/graph/engine_options.h"
#include "mace/core/model/model.h"
#include "mace/core/testing/model_builder.h"
#include "mace/runtimes/opencl_options/file_storage.h"

namespace mace {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr const char *kVariables[] = {
    "MACE_OPENCL_SELF_TEST",         "MACE_INTERNAL_STORAGE_PATH",
    "MACE_RUN_PARAMETER_PATH",       "MACE_TUNING",
    "MACE_TUNING_SECONDS",           "MACE_OPENCL_PROFILING",
    "MACE_LIMIT_OPENCL_KERNEL_TIME", "MACE_OPENCL_QUEUE_WINDOW_SIZE",
    "MACE_OPENCL_COMMAND_BUFFERS",
};

class OpenclOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/options.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const char *variable : kVariables) unsetenv(variable);
    ConfigKVStorageFactory(nullptr);
    SetOpenCLBinaryPaths({});
    std::filesystem::remove_all(folder_);
  }

  // What the runtime reads from a configuration with this context.
  static OpenclOptions Read(GPUContextBuilder *builder) {
    MaceEngineConfig config(GPU);
    EXPECT_EQ(config.SetGPUContext(builder->Finalize()),
              MaceStatus::MACE_SUCCESS);
    return ReadOpenclOptions(config.impl()->options);
  }
  static OpenclOptions Read() { return ReadOpenclOptions(EngineOptions()); }

  // Writes a table with `key` and returns its path.
  std::string WriteFile(const std::string &name, const std::string &key) const {
    const std::string path = folder_ + "/" + name;
    EXPECT_EQ(ReplaceFile(path, WriteTable({{key, {1}}})),
              MaceStatus::MACE_SUCCESS);
    return path;
  }

  std::string folder_;
};

TEST_F(OpenclOptionsTest, NothingIsStoredOrLimitedByDefault) {
  const OpenclOptions options = Read();
  EXPECT_EQ(options.context, nullptr);
  EXPECT_EQ(options.storage_path, "");
  EXPECT_EQ(options.cache_full_path, "");
  EXPECT_EQ(options.tuned_parameter_path, "");
  EXPECT_EQ(options.cache_reuse_policy, OpenCLCacheReusePolicy::REUSE_SAME_GPU);
  EXPECT_EQ(options.perf_hint, PERF_DEFAULT);
  EXPECT_EQ(options.priority_hint, PRIORITY_DEFAULT);
  EXPECT_EQ(options.limit_kernel_time, 0);
  EXPECT_EQ(options.queue_window_size, 0);
  EXPECT_FALSE(options.out_of_range_check);
  EXPECT_FALSE(options.profiling);
  EXPECT_FALSE(options.tuning);
  EXPECT_EQ(options.replay, -1);
  const auto cache = OpenKernelCache(options);
  EXPECT_TRUE(cache->Insert("a", {1}));
  EXPECT_EQ(cache->Flush(), 0);
  EXPECT_EQ(OpenKernelCache(options)->Find("a"), nullptr);
  EXPECT_EQ(OpenShippedKernels(options)->Find("a"), nullptr);
  EXPECT_EQ(OpenShippedParameters(options)->Find("a"), nullptr);
}

// The self-test is on where its results can be kept, unless the environment
// says otherwise.
TEST_F(OpenclOptionsTest, TestsKernelsIfThereIsStorage) {
  EXPECT_FALSE(Read().self_test);
  EXPECT_EQ(OpenSelfTests(Read()), nullptr);
  const auto with = [](const std::shared_ptr<GPUContext> &context) {
    EngineOptions options;
    EXPECT_EQ(options.device_options.Set<GPUContext>(kGpuContext, context),
              MaceStatus::MACE_SUCCESS);
    return ReadOpenclOptions(options);
  };
  const OpenclOptions stored =
      with(GPUContextBuilder().SetStoragePath(folder_).Finalize());
  EXPECT_TRUE(stored.self_test);
  EXPECT_EQ(stored.self_test_path, folder_ + "/" + kSelfTestName);
  const auto table = OpenSelfTests(stored);
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->Insert("model", {1}));
  EXPECT_EQ(table->Flush(), 0);
  EXPECT_NE(OpenSelfTests(stored)->Find("model"), nullptr);
  const OpenclOptions beside =
      with(GPUContextBuilder().SetOpenCLCacheFullPath("/c/full").Finalize());
  EXPECT_TRUE(beside.self_test);
  EXPECT_EQ(beside.self_test_path, "/c/full.self_test");
  setenv("MACE_OPENCL_SELF_TEST", "0", 1);
  EXPECT_FALSE(
      with(GPUContextBuilder().SetStoragePath(folder_).Finalize()).self_test);
  setenv("MACE_OPENCL_SELF_TEST", "1", 1);
  EXPECT_TRUE(Read().self_test);
}

TEST_F(OpenclOptionsTest, TakesEverySettingOfTheContext) {
  const Bytes binary = {1, 2, 3};
  const Bytes parameter = {4, 5};
  GPUContextBuilder builder;
  builder.SetStoragePath("/s")
      .SetOpenCLCacheFullPath("/c/full.bin")
      .SetOpenCLCacheReusePolicy(OpenCLCacheReusePolicy::REUSE_NONE)
      .SetOpenCLBinaryPaths({"/a", "/b"})
      .SetOpenCLBinary(binary.data(), binary.size())
      .SetOpenCLParameterPath("/p")
      .SetOpenCLParameter(parameter.data(), parameter.size());
  MaceEngineConfig config(GPU);
  const std::shared_ptr<OpenclContext> context = builder.Finalize();
  ASSERT_EQ(config.SetGPUContext(context), MaceStatus::MACE_SUCCESS);
  ASSERT_EQ(config.SetGPUHints(PERF_LOW, PRIORITY_NORMAL),
            MaceStatus::MACE_SUCCESS);
  ASSERT_EQ(config.SetOutOfRangeCheck(true), MaceStatus::MACE_SUCCESS);
  builder.SetStoragePath("/later");  // does not change a finished context
  const MaceEngineConfig copy(config);
  const OpenclOptions options = ReadOpenclOptions(copy.impl()->options);
  EXPECT_EQ(options.context, context);
  EXPECT_EQ(options.storage_path, "/s");
  EXPECT_EQ(options.cache_full_path, "/c/full.bin");
  EXPECT_EQ(options.cache_reuse_policy, OpenCLCacheReusePolicy::REUSE_NONE);
  EXPECT_EQ(options.binary_paths, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(options.binary, binary);
  EXPECT_EQ(options.parameter_path, "/p");
  EXPECT_EQ(options.parameter, parameter);
  EXPECT_TRUE(options.out_of_range_check);
  EXPECT_EQ(options.perf_hint, PERF_LOW);
  EXPECT_EQ(options.priority_hint, PRIORITY_NORMAL);
  EXPECT_EQ(builder.Finalize() == context, false);
}

TEST_F(OpenclOptionsTest, AnApplicationInCSetsTheSame) {
  const Bytes bytes = {1, 2, 3};
  mace_gpu gpu = {};
  gpu.storage_path = "/s";
  gpu.cache_full_path = "/c";
  gpu.reuse_none = 1;
  gpu.binary_path = "/b";
  gpu.binary = bytes.data();
  gpu.binary_size = 2;
  gpu.parameter_path = "/p";
  gpu.parameter = bytes.data();
  gpu.parameter_size = 3;
  ASSERT_NE(MakeGpuContext, nullptr);
  MaceEngineConfig config(GPU);
  ASSERT_EQ(config.SetGPUContext(MakeGpuContext(gpu)),
            MaceStatus::MACE_SUCCESS);
  OpenclOptions options = ReadOpenclOptions(config.impl()->options);
  EXPECT_EQ(options.storage_path, "/s");
  EXPECT_EQ(options.cache_full_path, "/c");
  EXPECT_EQ(options.cache_reuse_policy, OpenCLCacheReusePolicy::REUSE_NONE);
  EXPECT_EQ(options.binary_paths, std::vector<std::string>{"/b"});
  EXPECT_EQ(options.binary, (Bytes{1, 2}));
  EXPECT_EQ(options.parameter_path, "/p");
  EXPECT_EQ(options.parameter, bytes);
  EXPECT_EQ(config.SetGPUContext(MakeGpuContext(mace_gpu())),
            MaceStatus::MACE_SUCCESS);
  options = ReadOpenclOptions(config.impl()->options);
  EXPECT_EQ(options.cache_full_path, "");
  EXPECT_EQ(options.cache_reuse_policy, OpenCLCacheReusePolicy::REUSE_SAME_GPU);

  // The same through the C interface.
  mace_config *c_config = nullptr;
  ASSERT_EQ(mace_config_create(&c_config), MACE_OK);
  gpu.perf_hint = MACE_GPU_HINT_LOW;
  EXPECT_EQ(mace_config_set_gpu(c_config, &gpu), MACE_OK);
  gpu.binary = nullptr;
  EXPECT_EQ(mace_config_set_gpu(c_config, &gpu), MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "SetOpenCLBinary"), nullptr);
  gpu.priority_hint = 4;
  EXPECT_EQ(mace_config_set_gpu(c_config, &gpu), MACE_ERROR_INVALID_ARGS);
  EXPECT_NE(std::strstr(mace_last_error(), "GPU hints 1 and 4"), nullptr);
  EXPECT_EQ(mace_config_set_gpu(c_config, nullptr), MACE_ERROR_INVALID_ARGS);
  EXPECT_EQ(mace_config_set_gpu(nullptr, &gpu), MACE_ERROR_INVALID_ARGS);
  mace_config_destroy(c_config);
}

TEST_F(OpenclOptionsTest, FilesAreInTheStoragePath) {
  GPUContextBuilder builder;
  const OpenclOptions options = Read(&builder.SetStoragePath("/s/"));
  EXPECT_EQ(options.cache_full_path, "/s/mace_cl_compiled_program.bin");
  EXPECT_EQ(options.tuned_parameter_path, "/s/mace_cl_tuned_parameter.bin");
}

TEST_F(OpenclOptionsTest, WrongArgumentsAreToldWhenTheContextIsSet) {
  struct Case {
    void (*build)(GPUContextBuilder *);
    const char *told;
  };
  const Case cases[] = {
      {[](GPUContextBuilder *b) { b->SetOpenCLBinary(nullptr, 4); },
       "SetOpenCLBinary: the data is null"},
      {[](GPUContextBuilder *b) { b->SetOpenCLParameter(nullptr, 4); },
       "SetOpenCLParameter: the data is null"},
      {[](GPUContextBuilder *b) {
         b->SetOpenCLCacheReusePolicy(static_cast<OpenCLCacheReusePolicy>(2))
             .SetOpenCLBinary(nullptr, 4);
       },
       "SetOpenCLCacheReusePolicy: give REUSE_NONE or REUSE_SAME_GPU"},
  };
  for (const Case &wrong : cases) {
    GPUContextBuilder builder;
    wrong.build(&builder);
    MaceEngineConfig config(GPU);
    const MaceStatus status = config.SetGPUContext(builder.Finalize());
    EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
    EXPECT_NE(status.information().find(wrong.told), std::string::npos)
        << status.information();
    EXPECT_EQ(config.impl()->options.device_options.Get(kGpuContext), nullptr);
  }
  GPUContextBuilder empty;
  EXPECT_EQ(Read(&empty.SetOpenCLBinary(nullptr, 0)).binary, Bytes());

  MaceEngineConfig config(GPU);
  EXPECT_EQ(config.SetGPUContext(nullptr).code(),
            MaceStatus::MACE_INVALID_ARGS);
  for (const int wrong : {-1, 4}) {
    for (const MaceStatus &status :
         {config.SetGPUHints(static_cast<GPUPerfHint>(wrong), PRIORITY_LOW),
          config.SetGPUHints(PERF_LOW, static_cast<GPUPriorityHint>(wrong))}) {
      EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
      EXPECT_NE(status.information().find("3 (high)"), std::string::npos)
          << status.information();
    }
  }
}

// The hints of a model file.
Result<OpenclHints> HintsOf(const core_test::ModelBuilder &model) {
  const std::string graph = model.graph();
  MACE_ASSIGN_OR_RETURN(const Model read,
                        ReadModel(graph.data(), graph.size()));
  return ReadOpenclHints(read.hints);
}

TEST_F(OpenclOptionsTest, ReadsTheHintsOfAModel) {
  const OpenclHints none = HintsOf(core_test::ModelBuilder()).value();
  EXPECT_FALSE(none.limit_kernel_time);
  EXPECT_EQ(none.queue_window_size, 0u);
  EXPECT_EQ(none.memory, ClMemoryType::kAny);
  const OpenclHints hints =
      HintsOf(core_test::ModelBuilder().Opencl(true, 16, "buffer")).value();
  EXPECT_TRUE(hints.limit_kernel_time);
  EXPECT_EQ(hints.queue_window_size, 16u);
  EXPECT_EQ(hints.memory, ClMemoryType::kBuffer);
  const std::pair<const char *, ClMemoryType> kCases[] = {
      {"", ClMemoryType::kAny}, {"image", ClMemoryType::kImage}};
  for (const auto &[text, memory] : kCases) {
    EXPECT_EQ(HintsOf(core_test::ModelBuilder().Opencl(false, 0, text))
                  .value()
                  .memory,
              memory);
  }
  DeploymentHints damaged;
  damaged.encoded = core_test::Message().Bytes(4, "true").data();
  const MaceStatus status = ReadOpenclHints(damaged).status();
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_NE(status.information().find("hints: field 4 has wire type 2, not 0"),
            std::string::npos)
      << status.information();
}

TEST_F(OpenclOptionsTest, TheEnvironmentOverridesTheModel) {
  OpenclHints hints;
  hints.limit_kernel_time = true;
  hints.queue_window_size = 16;
  OpenclOptions options = WithModelHints(Read(), hints);
  EXPECT_EQ(options.limit_kernel_time, 1);
  EXPECT_EQ(options.queue_window_size, 16);
  setenv("MACE_LIMIT_OPENCL_KERNEL_TIME", "0", 1);
  setenv("MACE_OPENCL_QUEUE_WINDOW_SIZE", "8", 1);
  setenv("MACE_OPENCL_PROFILING", "1", 1);
  setenv("MACE_TUNING", "1", 1);
  options = WithModelHints(Read(), hints);
  EXPECT_EQ(options.limit_kernel_time, 0);
  EXPECT_EQ(options.queue_window_size, 8);
  EXPECT_TRUE(options.profiling);
  EXPECT_TRUE(options.tuning);
  EXPECT_EQ(options.tuning_seconds, 30);
  setenv("MACE_TUNING", "0", 1);
  setenv("MACE_TUNING_SECONDS", "100", 1);
  EXPECT_FALSE(Read().tuning);
  EXPECT_EQ(Read().tuning_seconds, 100);
  setenv("MACE_LIMIT_OPENCL_KERNEL_TIME", "0.25", 1);
  EXPECT_EQ(Read().limit_kernel_time, 0.25);
  setenv("MACE_OPENCL_COMMAND_BUFFERS", "0", 1);
  EXPECT_EQ(Read().replay, 0);
  setenv("MACE_OPENCL_COMMAND_BUFFERS", "1", 1);
  EXPECT_EQ(Read().replay, 1);
}

TEST_F(OpenclOptionsTest, AWrongVariableIsNamedAndLeftOut) {
  setenv("MACE_OPENCL_QUEUE_WINDOW_SIZE", "many", 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(Read().queue_window_size, 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("MACE_OPENCL_QUEUE_WINDOW_SIZE=many has no effect"),
            std::string::npos)
      << said;
  setenv("MACE_OPENCL_QUEUE_WINDOW_SIZE", "1.5", 1);
  EXPECT_EQ(Read().queue_window_size, 0);
  setenv("MACE_LIMIT_OPENCL_KERNEL_TIME", "-1", 1);
  EXPECT_EQ(Read().limit_kernel_time, 0);
}

TEST_F(OpenclOptionsTest, TheApplicationsFolderComesBeforeTheEnvironment) {
  setenv("MACE_INTERNAL_STORAGE_PATH", "/env", 1);
  setenv("MACE_RUN_PARAMETER_PATH", "/env/tuned", 1);
  EXPECT_EQ(Read().cache_full_path, "/env/mace_cl_compiled_program.bin");
  EXPECT_EQ(Read().tuned_parameter_path, "/env/tuned");
  GPUContextBuilder builder;
  EXPECT_EQ(Read(&builder.SetStoragePath("/app")).storage_path, "/app");
}

TEST_F(OpenclOptionsTest, TheCacheKeepsKernelsUnlessThePolicyForbids) {
  GPUContextBuilder builder;
  const OpenclOptions options = Read(&builder.SetStoragePath(folder_));
  const auto cache = OpenKernelCache(options);
  EXPECT_TRUE(cache->Insert("kernel", {1, 2}));
  EXPECT_EQ(cache->Flush(), 0);
  EXPECT_NE(OpenKernelCache(options)->Find("kernel"), nullptr);
  const auto tuned = OpenTunedParameters(options);
  EXPECT_TRUE(tuned->Insert("parameter", {3}));
  EXPECT_EQ(tuned->Flush(), 0);
  EXPECT_NE(OpenTunedParameters(options)->Find("parameter"), nullptr);
  const OpenclOptions none = Read(
      &builder.SetOpenCLCacheReusePolicy(OpenCLCacheReusePolicy::REUSE_NONE));
  EXPECT_EQ(OpenKernelCache(none)->Find("kernel"), nullptr);
  EXPECT_NE(OpenTunedParameters(none)->Find("parameter"), nullptr);
}

TEST_F(OpenclOptionsTest, TheFirstShippedFileThatCanBeReadIsUsed) {
  const std::string first = WriteFile("first", "from first");
  const std::string second = WriteFile("second", "from second");
  GPUContextBuilder builder;
  builder.SetOpenCLBinaryPaths({"", folder_ + "/missing", first, second})
      .SetOpenCLParameterPath(second);
  const auto kernels = OpenShippedKernels(Read(&builder));
  EXPECT_NE(kernels->Find("from first"), nullptr);
  EXPECT_EQ(kernels->Find("from second"), nullptr);
  EXPECT_NE(OpenShippedParameters(Read(&builder))->Find("from second"),
            nullptr);
  // Bytes come before files.
  const Bytes bytes = WriteTable({{"from memory", {1}}});
  builder.SetOpenCLBinary(bytes.data(), bytes.size())
      .SetOpenCLParameter(bytes.data(), bytes.size());
  EXPECT_NE(OpenShippedKernels(Read(&builder))->Find("from memory"), nullptr);
  EXPECT_NE(OpenShippedParameters(Read(&builder))->Find("from memory"),
            nullptr);
}

TEST_F(OpenclOptionsTest, ShippedFilesThatCannotBeUsedAreNamed) {
  const std::string text = folder_ + "/text";
  ASSERT_EQ(ReplaceFile(text, {'h', 'e', 'l', 'l', 'o'}),
            MaceStatus::MACE_SUCCESS);
  GPUContextBuilder builder;
  builder.SetOpenCLBinaryPaths({folder_ + "/missing"})
      .SetOpenCLParameterPath(text);
  const OpenclOptions options = Read(&builder);
  testing::internal::CaptureStderr();
  OpenShippedKernels(options);
  OpenShippedParameters(options);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("/missing' can't be read: No such file"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("/text' is no file of compiled kernels"),
            std::string::npos)
      << said;
}

// Settings of the process, which older applications make.

TEST_F(OpenclOptionsTest, OldFunctionsSetWhatNoContextSets) {
  ConfigKVStorageFactory(std::make_shared<FileStorageFactory>(folder_));
  const std::string path = WriteFile("shipped", "shipped kernel");
  SetOpenCLBinaryPaths({path});
  const OpenclOptions options = Read();
  EXPECT_NE(OpenShippedKernels(options)->Find("shipped kernel"), nullptr);
  const auto cache = OpenKernelCache(options);
  EXPECT_TRUE(cache->Insert("kernel", {1}));
  EXPECT_EQ(cache->Flush(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/" + kKernelCacheName));
  EXPECT_NE(OpenKernelCache(Read())->Find("kernel"), nullptr);

  GPUContextBuilder builder;
  const OpenclOptions own =
      Read(&builder.SetStoragePath("/own").SetOpenCLBinaryPaths({"/b"}));
  EXPECT_EQ(own.storage_factory, nullptr);
  EXPECT_EQ(own.binary_paths, std::vector<std::string>{"/b"});
}

class CountingStorage final : public KVStorage {
 public:
  explicit CountingStorage(KVTable *table) : table_(table) {}
  int Load() override { return 0; }
  bool Insert(const std::string &key, const Bytes &value) override {
    (*table_)[key] = value;
    return true;
  }
  const Bytes *Find(const std::string &key) override {
    const auto found = table_->find(key);
    return found == table_->end() ? nullptr : &found->second;
  }
  int Flush() override { return 0; }

 private:
  KVTable *table_;
};

class CountingFactory final : public KVStorageFactory {
 public:
  explicit CountingFactory(std::map<std::string, KVTable> *tables)
      : tables_(tables) {}
  std::unique_ptr<KVStorage> CreateStorage(const std::string &name) override {
    if (name == kTunedParameterName) return nullptr;
    return std::make_unique<CountingStorage>(&(*tables_)[name]);
  }

 private:
  std::map<std::string, KVTable> *tables_;
};

TEST_F(OpenclOptionsTest, AnApplicationMayBringAStorageOfItsOwn) {
  std::map<std::string, KVTable> tables;
  SetKVStorageFactory(std::make_shared<CountingFactory>(&tables));
  EXPECT_TRUE(OpenKernelCache(Read())->Insert("kernel", {1}));
  EXPECT_EQ(tables[kKernelCacheName].count("kernel"), 1u);
  // It has no table of this name: kept in memory.
  EXPECT_TRUE(OpenTunedParameters(Read())->Insert("parameter", {1}));
  EXPECT_EQ(OpenTunedParameters(Read())->Find("parameter"), nullptr);
}

}  // namespace
}  // namespace mace
