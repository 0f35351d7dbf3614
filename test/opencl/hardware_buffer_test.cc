// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Inputs and outputs in an AHardwareBuffer, which stand-ins of Android and of
// two drivers have. The truth is the CPU's result.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/half.h"
#include "mace/public/mace_c.h"
#include "test/opencl/engine_testing.h"
#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {
namespace {

constexpr int64_t kHeight = 12;
constexpr int64_t kWidth = 70;
constexpr int64_t kChannels = 3;
constexpr int64_t kElements = kHeight * kWidth * kChannels;
constexpr uint32_t kBytes = kElements * 4;

// Each imports in its own way.
const char *const kFamilies[] = {"adreno_740", "mali_g710"};

// How a tensor is in memory.
struct Layout {
  IDataType type = IDataType::IDT_FLOAT;
  DataFormat format = DataFormat::NHWC;

  bool half() const { return type == IDataType::IDT_FLOAT16; }
  size_t element() const { return half() ? 2 : 4; }
  size_t Place(int64_t y, int64_t x, int64_t c) const {
    return static_cast<size_t>(format == DataFormat::NCHW
                                   ? (c * kHeight + y) * kWidth + x
                                   : (y * kWidth + x) * kChannels + c);
  }
};

class HardwareBuffers : public EngineOnTestDriver {
 protected:
  static void SetUpTestSuite() {
    EngineOnTestDriver::SetUpTestSuite();
    std::string why;
    window_ = LoadTestNativeWindow(&why);
    ASSERT_NE(window_, nullptr) << why;
  }
  void SetUp() override {
    ASSERT_NE(driver_, nullptr);
    ASSERT_NE(window_, nullptr);
    driver_->reset();
    misuses_ = window_->misuses();
  }
  void TearDown() override {
    ExpectClean();
    EXPECT_EQ(window_->misuses(), misuses_);
    for (const AHardwareBuffer *buffer : made_) {
      EXPECT_EQ(window_->references(buffer), 0);
    }
    made_.clear();
  }

  // With the reference of the application.
  static std::shared_ptr<void> Buffer(
      size_t bytes,
      uint32_t format = AHARDWAREBUFFER_FORMAT_BLOB,
      uint64_t usage = AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN |
                       AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER) {
    AHardwareBuffer_Desc desc = {};
    desc.width = static_cast<uint32_t>(bytes);
    desc.height = 1;
    desc.layers = 1;
    desc.format = format;
    desc.usage = usage;
    AHardwareBuffer *buffer = nullptr;
    EXPECT_EQ(window_->allocate(&desc, &buffer), 0);
    made_.push_back(buffer);
    return std::shared_ptr<void>(buffer, [](void *object) {
      window_->release(static_cast<AHardwareBuffer *>(object));
    });
  }
  static unsigned char *Memory(const MaceTensor &tensor) {
    return static_cast<unsigned char *>(window_->memory(
        static_cast<AHardwareBuffer *>(tensor.raw_data().get())));
  }
  static int References(const MaceTensor &tensor) {
    return window_->references(
        static_cast<const AHardwareBuffer *>(tensor.raw_data().get()));
  }

  static MaceTensor InputIn(std::shared_ptr<void> buffer,
                            const Layout &layout = {}) {
    return MaceTensor(layout.format == DataFormat::NCHW
                          ? std::vector<int64_t>{1, kChannels, kHeight, kWidth}
                          : std::vector<int64_t>{1, kHeight, kWidth, kChannels},
                      std::move(buffer), layout.format, layout.type,
                      GPU_HARDWARE_BUFFER);
  }
  static MaceTensor Input(int round, const Layout &layout = {}) {
    const MaceTensor tensor =
        InputIn(Buffer(kElements * layout.element()), layout);
    const std::vector<float> values = Image(round);
    unsigned char *to = Memory(tensor);
    size_t i = 0;
    for (int64_t y = 0; y < kHeight; ++y) {
      for (int64_t x = 0; x < kWidth; ++x) {
        for (int64_t c = 0; c < kChannels; ++c) {
          const float value = values[i++];
          const uint16_t half = FloatToHalf(value);
          std::memcpy(to + layout.Place(y, x, c) * layout.element(),
                      layout.half() ? static_cast<const void *>(&half) : &value,
                      layout.element());
        }
      }
    }
    return tensor;
  }
  static MaceTensor OutputIn(std::shared_ptr<void> buffer,
                             const Layout &layout = {}) {
    return MaceTensor({1, kClasses}, std::move(buffer), layout.format,
                      layout.type, GPU_HARDWARE_BUFFER);
  }
  static MaceTensor Output(const Layout &layout = {}) {
    return OutputIn(Buffer(kClasses * layout.element()), layout);
  }

  static void ExpectResult(const MaceTensor &tensor,
                           int round,
                           bool half_input = false) {
    const std::vector<float> &wanted = wanted_[static_cast<size_t>(round)];
    const bool half = tensor.data_type() == IDataType::IDT_FLOAT16;
    const unsigned char *from = Memory(tensor);
    ASSERT_NE(from, nullptr);
    for (size_t i = 0; i < wanted.size(); ++i) {
      float value = 0;
      if (half) {
        uint16_t bits = 0;
        std::memcpy(&bits, from + i * sizeof(bits), sizeof(bits));
        value = HalfToFloat(bits);
      } else {
        std::memcpy(&value, from + i * sizeof(value), sizeof(value));
      }
      EXPECT_NEAR(value, wanted[i], half || half_input ? 1e-3f : 1e-5f) << i;
    }
    // What is behind it stays as it was.
    const size_t bytes = wanted.size() * (half ? 2 : 4);
    for (size_t i = bytes; i < bytes + 64; ++i) {
      ASSERT_EQ(from[i], 0xEE) << i;
    }
  }

  static uint64_t CallsOf(const std::vector<const char *> &functions) {
    uint64_t calls = 0;
    for (const char *function : functions) calls += driver_->calls(function);
    return calls;
  }
  static uint64_t Imports() {
    return CallsOf({"clCreateBuffer", "clImportMemoryARM"});
  }
  static void ExpectOnGpu(const MadeEngine &made) {
    EXPECT_EQ(made.engine->GetPlacement().left_out.size(), 0u);
    for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
      EXPECT_EQ(op.device, DeviceType::GPU) << op.operator_name;
    }
  }

  // Each call of a run with new memory fails once: the result is right, or a
  // status says what failed, and nothing leaks. What fails while the buffers
  // are imported does not take the GPU from the engine.
  static void FailEveryCall(const char *family) {
    uint64_t failed = 0;
    bool kept = false;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(testing::Message() << family << ", call " << call);
      driver_->reset();
      ASSERT_NE(driver_->set_family(family), 0);
      bool done = false;
      const MaceTensor first = Input(0);
      const MaceTensor second = Input(1);
      const MaceTensor y = Output();
      {
        const MadeEngine made =
            core_test::Make(Network(), OnStoredPrograms({RT_OPENCL, RT_CPU}));
        ASSERT_OK(made.status);
        Tensors before = {{"y", Output()}};
        ASSERT_OK(made.engine->Run({{"x", first}}, &before));
        driver_->fail_call(call, 0);
        Tensors outputs = {{"y", y}};
        const MaceStatus status = made.engine->Run({{"x", second}}, &outputs);
        done = driver_->failures() == 0;
        driver_->stop_failing();
        const bool left = !made.engine->GetPlacement().left_out.empty();
        if (status == MaceStatus::MACE_SUCCESS) {
          ExpectResult(y, 1);
        } else {
          EXPECT_FALSE(done);
          if (left) {
            EXPECT_MENTIONS(status, "in GPU memory, but no operator");
          } else {
            EXPECT_MENTIONS(status, "put '");  // of an input or output
            kept = true;
          }
        }
        // What was not changed then is changed now.
        if (!left) {
          ASSERT_OK(made.engine->Run({{"x", first}}, &outputs));
          ExpectResult(y, 0);
        }
      }
      ExpectClean();
      for (const MaceTensor *tensor : {&first, &second, &y}) {
        EXPECT_EQ(References(*tensor), 1);
      }
      if (done || HasFailure()) break;
      ++failed;
    }
    EXPECT_GT(failed, 10u);
    EXPECT_TRUE(kept);
  }

  static inline const MaceTestNativeWindow *window_ = nullptr;
  static inline std::vector<const AHardwareBuffer *> made_;
  int misuses_ = 0;
};

// On a queue of the engine's: nothing of OpenCL is the application's.
TEST_F(HardwareBuffers, AreReadAndWrittenInPlace) {
  const Layout in[] = {
      {}, {IDataType::IDT_FLOAT16}, {IDataType::IDT_FLOAT, DataFormat::NCHW}};
  const Layout out[] = {{}, {}, {IDataType::IDT_FLOAT16}};
  for (const char *family : kFamilies) {
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    std::vector<MaceTensor> used;
    {
      const MadeEngine made =
          core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
      ASSERT_OK(made.status);
      for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(testing::Message() << family << ", layout " << i);
        const int round = i % kRounds;
        const MaceTensor x = Input(round, in[i]);
        Tensors outputs = {{"y", Output(out[i])}};
        ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
        EXPECT_EQ(outputs["y"].shape(), (std::vector<int64_t>{1, kClasses}));
        ExpectResult(outputs["y"], round, in[i].half());
        used.push_back(x);
        used.push_back(outputs["y"]);
        EXPECT_GT(References(x), 1);
        EXPECT_GT(References(outputs["y"]), 1);
      }
      // Memory of the process, as ever, and one of each.
      std::vector<float> result;
      ASSERT_OK(RunOnce(made, 1, &result));
      ExpectRight(result, 1);
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      ASSERT_OK(made.engine->Run({{"x", Input(0)}}, &outputs));
      ExpectRight(Values(outputs["y"]), 0);
      outputs = {{"y", Output()}};
      ASSERT_OK(made.engine->Run(
          {{"x", Floats({1, kHeight, kWidth, kChannels}, Image(1))}},
          &outputs));
      ExpectResult(outputs["y"], 1);
      ExpectOnGpu(made);
    }
    for (const MaceTensor &tensor : used) EXPECT_EQ(References(tensor), 1);
    ExpectClean();
  }
}

TEST_F(HardwareBuffers, AreNotCopiedAndImportedOnce) {
  for (const char *family : kFamilies) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    ASSERT_OK(made.status);
    const MaceTensor x = Input(0);
    Tensors outputs = {{"y", Output()}};
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    const std::vector<const char *> copies = {
        "clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clEnqueueWriteImage",
        "clEnqueueReadImage",   "clEnqueueCopyBuffer", "clEnqueueMapBuffer"};
    const uint64_t copied = CallsOf(copies);
    const uint64_t imported = Imports();
    const uint64_t arguments = driver_->calls("clSetKernelArg");
    std::memset(Memory(outputs["y"]), 0, kClasses * 4);
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    ExpectResult(outputs["y"], 0);
    EXPECT_EQ(CallsOf(copies), copied);
    EXPECT_EQ(Imports(), imported);
    EXPECT_EQ(driver_->calls("clSetKernelArg"), arguments);
    // Nor after a run with memory of the process.
    std::vector<float> result;
    ASSERT_OK(RunOnce(made, 1, &result));
    const uint64_t before = Imports();
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    EXPECT_EQ(Imports(), before);
    EXPECT_EQ(driver_->calls("clImportMemoryARM"),
              std::string(family) == "mali_g710" ? 2u : 0u);
  }
}

// With recordings, too. What another one replaced is given back.
TEST_F(HardwareBuffers, MayBeOthersInEachRun) {
  setenv("MACE_OPENCL_COMMAND_BUFFERS", "1", 1);
  for (const char *family : kFamilies) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    MaceTensor x[kRounds];
    Tensors y[kRounds];
    {
      const MadeEngine made =
          core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
      ASSERT_OK(made.status);
      for (int i = 0; i < kRounds; ++i) {
        x[i] = Input(i);
        y[i] = {{"y", Output()}};
      }
      for (int round : {0, 0, 0, 1, 1, 1, 0, 1, 0, 0}) {
        std::memset(Memory(y[round]["y"]), 0, kClasses * 4);
        ASSERT_OK(made.engine->Run({{"x", x[round]}}, &y[round]));
        ExpectResult(y[round]["y"], round);
        EXPECT_EQ(References(x[round]), 2);
        EXPECT_EQ(References(y[round]["y"]), 2);
        EXPECT_EQ(References(x[1 - round]), 1);
        EXPECT_EQ(References(y[1 - round]["y"]), 1);
      }
      if (std::string(family) == "adreno_740") {
        EXPECT_GT(driver_->calls("clEnqueueRecordingQCOM"), 0u);
      }
      // The application has none of them any longer; the engine has the last.
      for (int round : {0, 1, 0}) {
        Tensors outputs = {{"y", Output()}};
        ASSERT_OK(made.engine->Run({{"x", Input(round)}}, &outputs));
        ExpectResult(outputs["y"], round);
        const AHardwareBuffer *last = made_[made_.size() - 1];
        EXPECT_EQ(window_->references(last), 1);
      }
    }
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_EQ(References(x[i]), 1);
      EXPECT_EQ(References(y[i]["y"]), 1);
    }
    ExpectClean();
  }
  unsetenv("MACE_OPENCL_COMMAND_BUFFERS");
}

// A wrong buffer is an error that says what is wanted, and the GPU stays in
// use.
TEST_F(HardwareBuffers, AreChecked) {
  for (const char *family : kFamilies) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    ASSERT_OK(made.status);
    const struct {
      MaceTensor tensor;
      MaceStatus::Code code;
      const char *mentions[2];
    } wrong[] = {
        {InputIn(Buffer(kBytes - 4)),
         MaceStatus::MACE_INVALID_ARGS,
         {"10080 bytes", "the given AHardwareBuffer has 10076"}},
        {InputIn(Buffer(kBytes, AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM)),
         MaceStatus::MACE_INVALID_ARGS,
         {"format 1;", "AHARDWAREBUFFER_FORMAT_BLOB (33)"}},
        {InputIn(Buffer(kBytes, AHARDWAREBUFFER_FORMAT_BLOB,
                        AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN)),
         MaceStatus::MACE_INVALID_ARGS,
         {"without the usage", "AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER"}},
        {InputIn(Buffer(kBytes), {IDataType::IDT_FLOAT16, DataFormat::NCHW}),
         MaceStatus::MACE_UNSUPPORTED,
         {"NCHW", "float32"}},
        {InputIn(Buffer(kBytes), {IDataType::IDT_BFLOAT16}),
         MaceStatus::MACE_UNSUPPORTED,
         {"bfloat16", ""}},
        {InputIn(nullptr),
         MaceStatus::MACE_INVALID_ARGS,
         {"has a null buffer", ""}},
    };
    for (const auto &entry : wrong) {
      Tensors outputs = {{"y", core_test::Room(kClasses)}};
      const MaceStatus status =
          made.engine->Run({{"x", entry.tensor}}, &outputs);
      EXPECT_EQ(status.code(), entry.code) << status.information();
      EXPECT_MENTIONS(status, "input 'x'");
      for (const char *text : entry.mentions) EXPECT_MENTIONS(status, text);
    }
    const MaceTensor x = Input(1);
    Tensors small = {{"y", OutputIn(Buffer(kClasses * 4 - 1))}};
    const MaceStatus too_small = made.engine->Run({{"x", x}}, &small);
    EXPECT_CODE(too_small, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(too_small, "output 'y' has the shape");
    Tensors same = {{"y", OutputIn(x.raw_data())}};
    const MaceStatus shared = made.engine->Run({{"x", x}}, &same);
    EXPECT_CODE(shared, MACE_INVALID_ARGS);
    EXPECT_MENTIONS(shared, "the same GPU memory as");
    Tensors outputs = {{"y", Output()}};
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    ExpectResult(outputs["y"], 1);
    // The same buffer, large enough for elements of half the size only.
    const std::shared_ptr<void> half = Buffer(kElements * 2);
    ASSERT_OK(made.engine->Run({{"x", InputIn(half, {IDataType::IDT_FLOAT16})}},
                               &outputs));
    EXPECT_CODE(made.engine->Run({{"x", InputIn(half)}}, &outputs),
                MACE_INVALID_ARGS);
    ExpectOnGpu(made);
  }
}

// What a driver refuses is the caller's error, too.
TEST_F(HardwareBuffers, MayBeRefusedByTheDriver) {
  for (const char *family : kFamilies) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    const bool arm = std::string(family) == "mali_g710";
    const char *function = arm ? "clImportMemoryARM" : "clCreateBuffer";
    const MaceTensor x = Input(0);
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    ASSERT_OK(made.status);
    Tensors outputs = {{"y", Output()}};
    driver_->fail_function(function, 1, CL_INVALID_OPERATION);
    const MaceStatus refused = made.engine->Run({{"x", x}}, &outputs);
    EXPECT_CODE(refused, MACE_RUNTIME_ERROR);
    EXPECT_MENTIONS(refused, function);
    EXPECT_MENTIONS(refused, "put '");
    EXPECT_MENTIONS(refused, "CL_INVALID_OPERATION");
    driver_->fail_function(function, 2, 0);
    EXPECT_NE(made.engine->Run({{"x", x}}, &outputs).code(),
              MaceStatus::MACE_SUCCESS);
    if (arm) {
      driver_->fail_function("clGetExtensionFunctionAddressForPlatform", 1, 0);
      const MaceStatus absent = made.engine->Run({{"x", Input(1)}}, &outputs);
      EXPECT_CODE(absent, MACE_UNSUPPORTED);
      EXPECT_MENTIONS(absent, "has no clImportMemoryARM");
    }
    ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
    ExpectResult(outputs["y"], 0);
    ExpectOnGpu(made);
  }
}

TEST_F(HardwareBuffers, NeedAnExtension) {
  for (const char *family : {"target", "adreno_630", "mali_g72"}) {
    SCOPED_TRACE(family);
    driver_->reset();
    ASSERT_NE(driver_->set_family(family), 0);
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    ASSERT_OK(made.status);
    const MaceTensor x = Input(0);
    Tensors outputs = {{"y", core_test::Room(kClasses)}};
    const MaceStatus status = made.engine->Run({{"x", x}}, &outputs);
    EXPECT_CODE(status, MACE_UNSUPPORTED);
    EXPECT_MENTIONS(status, "input 'x' is an AHardwareBuffer, but the driver");
    EXPECT_MENTIONS(status, "cl_arm_import_memory_android_hardware_buffer");
    EXPECT_MENTIONS(status, "cl_qcom_android_ahardwarebuffer_host_ptr");
    EXPECT_MENTIONS(status, "give GPU_BUFFER or CPU_BUFFER");
    EXPECT_EQ(References(x), 1);
    ExpectOnGpu(made);
  }
}

TEST_F(HardwareBuffers, NeedAndroid) {
  ASSERT_NE(driver_->set_family("mali_g710"), 0);
  const std::string stand_in = std::getenv("MACE_NATIVE_WINDOW_LIBRARY");
  const auto refused = [](const MaceTensor &x) {
    const MadeEngine made = core_test::Make(Network(), On({RT_OPENCL, RT_CPU}));
    EXPECT_SUCCESS(made.status);
    Tensors outputs = {{"y", core_test::Room(kClasses)}};
    return made.engine->Run({{"x", x}}, &outputs);
  };
  const MaceTensor x = Input(0);
  unsetenv("MACE_NATIVE_WINDOW_LIBRARY");
  const MaceStatus none = refused(x);
  setenv("MACE_NATIVE_WINDOW_LIBRARY", "/nowhere/libnativewindow.so", 1);
  const MaceStatus named = refused(x);
  // A library without the functions, as Android 7 has.
  setenv("MACE_NATIVE_WINDOW_LIBRARY", TestDriverPath().c_str(), 1);
  const MaceStatus old = refused(x);
  setenv("MACE_NATIVE_WINDOW_LIBRARY", stand_in.c_str(), 1);
  for (const MaceStatus &status : {none, named, old}) {
    EXPECT_CODE(status, MACE_UNSUPPORTED);
    EXPECT_MENTIONS(status, "input 'x' is an AHardwareBuffer, but ");
    EXPECT_MENTIONS(status, "give GPU_BUFFER or CPU_BUFFER");
  }
  EXPECT_MENTIONS(none, "Android 8");
  EXPECT_MENTIONS(none, "libnativewindow.so");
  EXPECT_MENTIONS(none, "libandroid.so");
  EXPECT_MENTIONS(named, "MACE_NATIVE_WINDOW_LIBRARY names /nowhere/");
  EXPECT_MENTIONS(old, "has no AHardwareBuffer_describe");
  EXPECT_EQ(References(x), 1);
}

// The self-test writes to memory of its own.
TEST_F(HardwareBuffers, AreNotTouchedByTheSelfTest) {
  ASSERT_NE(driver_->set_family("mali_g710"), 0);
  MakeOptions options = On({RT_OPENCL, RT_CPU});
  EXPECT_SUCCESS(options.config.SetGPUContext(
      GPUContextBuilder().SetStoragePath(getenv("TEST_TMPDIR")).Finalize()));
  const MadeEngine made = core_test::Make(Network(), options);
  ASSERT_OK(made.status);
  const MaceTensor x = Input(0);
  const std::vector<unsigned char> before(Memory(x), Memory(x) + kBytes);
  Tensors outputs = {{"y", Output()}};
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  ExpectResult(outputs["y"], 0);
  EXPECT_EQ(std::memcmp(Memory(x), before.data(), kBytes), 0);
  ExpectOnGpu(made);
}

TEST_F(HardwareBuffers, WorkInC) {
  ASSERT_NE(driver_->set_family("adreno_740"), 0);
  mace_config *config = nullptr;
  ASSERT_EQ(mace_config_create(&config), MACE_OK);
  ASSERT_EQ(mace_config_set_device(config, MACE_DEVICE_GPU), MACE_OK);
  const ModelBuilder network = Network();
  const std::string graph = network.graph();
  const auto weights = core_test::AlignedCopy(network.weights());
  mace_model model = {};
  model.graph = graph.data();
  model.graph_size = graph.size();
  model.weights = weights.get();
  model.weights_size = network.weights().size();
  mace_engine *engine = nullptr;
  ASSERT_EQ(mace_engine_create(&model, config, &engine), MACE_OK)
      << mace_last_error();
  const MaceTensor image = Input(0);
  const MaceTensor classes = Output();
  mace_tensor x = {};
  x.name = "x";
  x.data = image.raw_data().get();
  x.bytes = kBytes;
  x.type = MACE_TYPE_FLOAT;
  x.format = MACE_FORMAT_NHWC;
  x.rank = 4;
  const int64_t dims[] = {1, kHeight, kWidth, kChannels};
  std::memcpy(x.dims, dims, sizeof(dims));
  x.memory = MACE_MEMORY_GPU_HARDWARE_BUFFER;
  mace_tensor y = {};
  y.name = "y";
  y.data = classes.raw_data().get();
  y.bytes = kClasses * 4;
  y.type = MACE_TYPE_FLOAT;
  y.format = MACE_FORMAT_NHWC;
  y.memory = MACE_MEMORY_GPU_HARDWARE_BUFFER;
  EXPECT_EQ(mace_engine_run(engine, &x, 1, &y, 1), MACE_OK)
      << mace_last_error();
  EXPECT_EQ(y.rank, 2u);
  ExpectResult(classes, 0);
  mace_engine_destroy(engine);
  mace_config_destroy(config);
  EXPECT_EQ(References(image), 1);
  EXPECT_EQ(References(classes), 1);
}

TEST_F(HardwareBuffers, SurviveFailuresOnAdreno) {
  FailEveryCall("adreno_740");
}

TEST_F(HardwareBuffers, SurviveFailuresOnMali) { FailEveryCall("mali_g710"); }

}  // namespace
}  // namespace test_opencl
}  // namespace mace
