// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Test;

/** The digit classifier on this computer's JVM; java_test.py starts it and sets the properties. */
public class MaceEngineTest {
  private static final String GRAPH = System.getProperty("mace.graph");
  private static final String WEIGHTS = System.getProperty("mace.weights");
  private static final int CLASSES = 10;

  // Batches are decided by runs.
  private static MaceModel openModel() {
    return MaceModel.fromFiles(
        System.getProperty("mace.open_graph"), System.getProperty("mace.open_weights"));
  }

  private static MaceEngine create() {
    return MaceEngine.create(MaceModel.fromFiles(GRAPH, WEIGHTS));
  }

  private static Map<String, MaceTensor> image(MaceTensor tensor) {
    return Collections.singletonMap("image", tensor);
  }

  private static Map<String, MaceTensor> probability(MaceTensor tensor) {
    return Collections.singletonMap("probability", tensor);
  }

  /** The input that mace_run had. */
  private static MaceTensor input() throws IOException {
    byte[] bytes = Files.readAllBytes(Paths.get(System.getProperty("mace.input")));
    MaceTensor tensor = MaceTensor.allocate(1, 8, 8, 1);
    tensor.getBuffer().put(bytes);
    return tensor;
  }

  /** Its bytes are what mace_run wrote. */
  private static void assertEqualsNative(MaceTensor output) throws IOException {
    byte[] wanted = Files.readAllBytes(Paths.get(System.getProperty("mace.output")));
    byte[] found = new byte[output.getBuffer().remaining()];
    output.getBuffer().get(found);
    assertArrayEquals(wanted, found);
  }

  private static void assertRuns(MaceEngine engine) throws IOException {
    MaceTensor output = MaceTensor.allocate(1, CLASSES);
    engine.run(image(input()), probability(output));
    assertEqualsNative(output);
  }

  private static ByteBuffer mapWhole(String path) throws IOException {
    try (FileChannel channel = FileChannel.open(Paths.get(path), StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
    }
  }

  /** How often this process has a file mapped: once for each engine that has these weights. */
  private static long countMappings(Path file) throws IOException {
    String maps =
        new String(Files.readAllBytes(Paths.get("/proc/self/maps")), StandardCharsets.UTF_8);
    return Arrays.stream(maps.split("\n")).filter(line -> line.endsWith(file.toString())).count();
  }

  private static Path copyOfWeights() throws IOException {
    Path copy = Files.createTempFile("copy", ".data");
    copy.toFile().deleteOnExit();
    return Files.write(copy, Files.readAllBytes(Paths.get(WEIGHTS)));
  }

  private interface Action {
    void run() throws Exception;
  }

  private static void assertFails(MaceException.Code code, String part, Action action)
      throws Exception {
    try {
      action.run();
    } catch (MaceException exception) {
      assertEquals(exception.getMessage(), code, exception.getCode());
      assertTrue(exception.getMessage(), exception.getMessage().contains(part));
      return;
    }
    throw new AssertionError("no exception with '" + part + "'");
  }

  private static void assertInvalid(String part, Action action) throws Exception {
    assertFails(MaceException.Code.INVALID_ARGS, part, action);
  }

  @Test
  public void filesGiveTheNativeResult() throws IOException {
    try (MaceEngine engine = create()) {
      assertRuns(engine);
      assertRuns(engine);
    }
  }

  @Test
  public void namesAndSettingsReachTheEngine() throws IOException {
    MaceEngineConfig config = new MaceEngineConfig()
                                  .setCpuThreadPolicy(2, CpuAffinity.NONE)
                                  .setWeightsCheck(true)
                                  .setOutOfRangeCheck(true)
                                  .setFakeWarmup(true)
                                  .setMemoryLimit(1L << 40)
                                  .setRuntimeTypes(RuntimeType.CPU)
                                  .setSubgraphRuntimeTypes("digits", RuntimeType.CPU);
    List<String> inputs = Collections.singletonList("image");
    List<String> outputs = Collections.singletonList("probability");
    try (MaceEngine engine =
             MaceEngine.create(MaceModel.fromFiles(GRAPH, WEIGHTS), inputs, outputs, config)) {
      assertTrue(engine.getStats().getArenaBytes() > 0);
      assertRuns(engine);
    }
  }

  @Test
  public void aMemoryLimitIsKept() throws Exception {
    MaceModel model = MaceModel.fromFiles(GRAPH, WEIGHTS);
    long needed;
    try (MaceEngine engine = MaceEngine.create(model, new MaceEngineConfig().setFakeWarmup(true))) {
      EngineStats stats = engine.getStats();
      assertTrue(stats.getTensorBytes() > 0);
      needed = stats.getArenaBytes() + stats.getConstantBytes() + stats.getPreparedBytes()
          + stats.getStateBytes();
    }
    MaceEngineConfig config = new MaceEngineConfig().setFakeWarmup(true);
    try (MaceEngine engine = MaceEngine.create(model, config.setMemoryLimit(needed))) {
      assertRuns(engine);
    }
    for (long limit : new long[] {1, needed - 1}) {
      config.setMemoryLimit(limit);
      assertFails(
          MaceException.Code.OUT_OF_RESOURCES, "limit", () -> MaceEngine.create(model, config));
    }
    // Larger inputs need more.
    try (MaceEngine engine = MaceEngine.create(openModel(), config.setMemoryLimit(needed))) {
      MaceTensor images = MaceTensor.allocate(64, 8, 8, 1);
      MaceTensor output = MaceTensor.allocate(64, CLASSES);
      assertFails(MaceException.Code.OUT_OF_RESOURCES, "limit",
          () -> engine.run(image(images), probability(output)));
      assertRuns(engine);
    }
  }

  @Test
  public void buffersGiveTheNativeResult() throws IOException {
    ByteBuffer graph = ByteBuffer.wrap(Files.readAllBytes(Paths.get(GRAPH)));
    try (MaceEngine engine = MaceEngine.create(MaceModel.fromBuffers(graph, mapWhole(WEIGHTS)))) {
      System.gc();
      assertRuns(engine);
    }
  }

  @Test
  public void partsOfAFileGiveTheNativeResult() throws IOException {
    Path archive = Files.createTempFile("assets", ".bin");
    byte[] graph = Files.readAllBytes(Paths.get(GRAPH));
    byte[] weights = Files.readAllBytes(Paths.get(WEIGHTS));
    try (FileOutputStream stream = new FileOutputStream(archive.toFile())) {
      stream.write(new byte[3]);
      stream.write(graph);
      stream.write(weights);
    }
    MaceModel model;
    try (FileInputStream stream = new FileInputStream(archive.toFile())) {
      model = MaceModel.fromBuffers(MaceModel.map(stream.getFD(), 3, graph.length),
          MaceModel.map(stream.getFD(), 3 + graph.length, weights.length));
      assertTrue(stream.getFD().valid());
      assertInvalid(
          "of a file that has", () -> MaceModel.map(stream.getFD(), 4, Files.size(archive)));
      assertInvalid("can't map -1", () -> MaceModel.map(stream.getFD(), 0, -1));
    } catch (IOException exception) {
      throw exception;
    } catch (Exception exception) {
      throw new AssertionError(exception);
    }
    Files.delete(archive);
    try (MaceEngine engine = MaceEngine.create(model)) {
      assertRuns(engine);
    }
  }

  @Test
  public void tellsTheShapeOfAResult() {
    try (MaceEngine engine = MaceEngine.create(openModel(), new MaceEngineConfig())) {
      MaceTensor output = MaceTensor.allocate(5, CLASSES);
      for (int batch : new int[] {2, 4, 1, 3}) {
        engine.run(image(MaceTensor.allocate(batch, 8, 8, 1)), probability(output));
        assertArrayEquals(new long[] {batch, CLASSES}, output.getShape());
        assertEquals(batch * CLASSES, output.toFloatArray().length);
      }
    }
  }

  @Test
  public void saysInputsAndOutputs() throws Exception {
    try (MaceEngine engine = create()) {
      TensorInfo image = engine.getInputs().get("image");
      assertEquals(DataType.FLOAT32, image.getType());
      assertArrayEquals(new long[] {1, 8, 8, 1}, image.getShape());
      assertTrue(image.isStatic());
      TensorInfo result = engine.getOutputs().get("probability");
      assertArrayEquals(new long[] {1, CLASSES}, result.getShape());
      assertTrue(result.toString(), result.toString().startsWith("probability FLOAT32[1, "));
    }
    try (MaceEngine engine = MaceEngine.create(openModel(), new MaceEngineConfig())) {
      TensorInfo image = engine.getInputs().get("image");
      assertFalse(image.isStatic());
      assertInvalid("'image' has the shape [-1,", image::allocate);
      assertInvalid("image", engine::getOutputs);
      Map<String, MaceTensor> inputs = image(MaceTensor.allocate(3, 8, 8, 1));
      assertArrayEquals(
          new long[] {3, CLASSES}, engine.getOutputs(inputs).get("probability").getShape());
      MaceTensor found = engine.run(inputs).get("probability");
      MaceTensor expected = MaceTensor.allocate(3, CLASSES);
      engine.run(inputs, probability(expected));
      assertArrayEquals(expected.toFloatArray(), found.toFloatArray(), 0);
    }
  }

  @Test
  public void measuresOperators() {
    try (MaceEngine engine = create()) {
      MaceTensor output = MaceTensor.allocate(1, CLASSES);
      RunMetadata metadata =
          engine.runWithMetadata(image(MaceTensor.allocate(1, 8, 8, 1)), probability(output));
      assertEquals(engine.getStats().getOperatorCount(), metadata.getOperators().size());
      Set<String> types = new HashSet<>();
      for (RunMetadata.Operator operator : metadata.getOperators()) {
        types.add(operator.getType());
        assertFalse(operator.getName().isEmpty());
        assertTrue(operator.getDurationNanos() >= 0);
        assertEquals(RuntimeType.CPU, operator.getRuntime());
        assertFalse(operator.isQuantized());
        assertTrue(operator.getBytes() > 0);
      }
      assertTrue(types.toString(), types.contains("Conv2D"));
      RunMetadata.Operator last = metadata.getOperators().get(metadata.getOperators().size() - 1);
      assertArrayEquals(new long[] {1, CLASSES}, last.getOutputShapes().get(0));
      assertTrue(engine.explain(), engine.explain().contains("Conv2D"));
      assertTrue(engine.getStats().getConstantBytes() > 0);
      engine.resetStates();
      engine.releaseIntermediateBuffer();
      assertEquals(0, engine.getStats().getArenaBytes());
    }
    assertFalse(MaceEngine.getVersion().isEmpty());
    assertEquals(RuntimeType.CPU, MaceEngine.getRuntimeTypes()[0]);
  }

  @Test
  public void wrongModelsAreRefused() throws Exception {
    assertInvalid("the model is null", () -> MaceEngine.create(null));
    assertInvalid("the configuration is null",
        () -> MaceEngine.create(MaceModel.fromFiles(GRAPH, WEIGHTS), null));
    assertInvalid("graph is null", () -> MaceModel.fromFiles(null, WEIGHTS));
    assertInvalid("weights is empty", () -> MaceModel.fromFiles(GRAPH, ""));
    assertInvalid("contains a NUL", () -> MaceModel.fromFiles("a\0b", WEIGHTS));
    assertFails(MaceException.Code.INVALID_ARGS, "/nonexistent/\u00e4\ud83d\ude00.pb",
        ()
            -> MaceEngine.create(
                MaceModel.fromFiles("/nonexistent/\u00e4\ud83d\ude00.pb", WEIGHTS)));
    ByteBuffer weights = mapWhole(WEIGHTS);
    ByteBuffer heap = ByteBuffer.wrap(Files.readAllBytes(Paths.get(GRAPH)));
    assertInvalid("graph is null", () -> MaceModel.fromBuffers(null, weights));
    assertInvalid("weights is null", () -> MaceModel.fromBuffers(heap, null));
    assertInvalid("not direct", () -> MaceModel.fromBuffers(heap, ByteBuffer.allocate(9)));
    assertInvalid(
        "", () -> MaceEngine.create(MaceModel.fromBuffers(ByteBuffer.allocate(0), weights)));
    ByteBuffer shorter = weights.duplicate();
    shorter.limit(weights.limit() - 64);
    assertInvalid("bytes", () -> MaceEngine.create(MaceModel.fromBuffers(heap, shorter)));
    ByteBuffer noise = ByteBuffer.wrap(new byte[] {-1, -1, -1, -1, -1, -1});
    assertInvalid("", () -> MaceEngine.create(MaceModel.fromBuffers(noise, weights)));
    assertInvalid("descriptor is null", () -> MaceModel.map(null, 0, 1));
    FileInputStream closed = new FileInputStream(GRAPH);
    closed.close();
    assertFails(
        MaceException.Code.RUNTIME_ERROR, "can't map", () -> MaceModel.map(closed.getFD(), 0, 1));
    List<String> other = Collections.singletonList("picture");
    assertInvalid("picture",
        ()
            -> MaceEngine.create(MaceModel.fromFiles(GRAPH, WEIGHTS), other,
                Collections.<String>emptyList(), new MaceEngineConfig()));
    List<String> none = Collections.singletonList(null);
    assertInvalid("name of an input is null",
        ()
            -> MaceEngine.create(
                MaceModel.fromFiles(GRAPH, WEIGHTS), none, other, new MaceEngineConfig()));
  }

  @Test
  public void wrongSettingsAreRefused() throws Exception {
    MaceEngineConfig config = new MaceEngineConfig();
    assertInvalid("name a runtime", () -> config.setRuntimeTypes());
    assertInvalid("a runtime is null", () -> config.setRuntimeTypes((RuntimeType) null));
    assertInvalid("-2 threads", () -> config.setCpuThreadPolicy(-2, CpuAffinity.NONE));
    assertInvalid("affinity is null", () -> config.setCpuThreadPolicy(1, null));
    assertInvalid("storage path is null", () -> config.setGpuStoragePath(null));
    assertInvalid("hint is null", () -> config.setGpuHints(null, GpuHint.LOW));
    assertInvalid("OpenCL binary is null", () -> config.setOpenCLBinary(null));
    assertInvalid("OpenCL parameters is null", () -> config.setOpenCLParameter(null));
    assertInvalid("OpenCL cache is null", () -> config.setOpenCLCacheFullPath(null));
    assertInvalid("-1 bytes", () -> config.setMemoryLimit(-1));
    assertInvalid("corner is null", () -> config.setHexagonPower(null, true, 0));
    assertInvalid("-1 us", () -> config.setHexagonPower(HexagonCorner.SVS, true, -1));
    assertInvalid("policy of the cache is null", () -> config.setAcceleratorCache(null, "", ""));
    assertInvalid(
        "storage file is null", () -> config.setAcceleratorCache(AcceleratorCache.STORE, "", null));
    assertInvalid("boost of 101", () -> config.setApuHints(101, ApuPreference.LOW_POWER));
    assertInvalid("preference is null", () -> config.setApuHints(1, null));
    assertInvalid("performance is null", () -> config.setHtpPerformance(null));
    assertInvalid("NUL", () -> config.setSubgraphRuntimeTypes("", RuntimeType.CPU));
    assertInvalid("name a runtime", () -> config.setSubgraphRuntimeTypes("a"));
    MaceModel model = MaceModel.fromFiles(GRAPH, WEIGHTS);
    // This library has no such runtime, and says so.
    assertFails(MaceException.Code.UNSUPPORTED, "HTA",
        () -> MaceEngine.create(model, new MaceEngineConfig().setRuntimeTypes(RuntimeType.HTA)));
    assertInvalid("a runtime is set for subgraph 'other'",
        ()
            -> MaceEngine.create(
                model, new MaceEngineConfig().setSubgraphRuntimeTypes("other", RuntimeType.CPU)));
    // With the CPU as an alternative, and with settings of the GPU that have no effect.
    MaceEngineConfig gpu = new MaceEngineConfig()
                               .setRuntimeTypes(RuntimeType.GPU, RuntimeType.CPU)
                               .setGpuStoragePath("/nonexistent")
                               .setOpenCLBinaryPaths("/nonexistent/kernels.bin")
                               .setOpenCLParameterPath("/nonexistent/parameters.bin")
                               .setGpuHints(GpuHint.NORMAL, GpuHint.LOW);
    try (MaceEngine engine = MaceEngine.create(model, gpu)) {
      assertRuns(engine);
    }
  }

  @Test
  public void wrongTensorsAreRefused() throws Exception {
    DataType floats = DataType.FLOAT32;
    DataFormat nhwc = DataFormat.NHWC;
    ByteBuffer direct = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
    assertInvalid("is null", () -> MaceTensor.wrap(null, floats, nhwc, 1));
    assertInvalid("is null", () -> MaceTensor.wrap(direct, null, nhwc, 1));
    assertInvalid("is null", () -> MaceTensor.wrap(direct, floats, null, 1));
    assertInvalid("is null", () -> MaceTensor.wrap(direct, floats, nhwc, (long[]) null));
    assertInvalid("is null", () -> MaceTensor.ofFloats(null, 1));
    assertInvalid("not direct", () -> MaceTensor.wrap(ByteBuffer.allocate(64), floats, nhwc, 1));
    assertInvalid("nativeOrder",
        ()
            -> MaceTensor.wrap(
                ByteBuffer.allocateDirect(64).order(ByteOrder.BIG_ENDIAN), floats, nhwc, 1));
    assertInvalid("68 bytes", () -> MaceTensor.wrap(direct, floats, nhwc, 17));
    ByteBuffer moved = direct.duplicate().order(ByteOrder.nativeOrder());
    moved.position(4);
    assertInvalid("its buffer has 60", () -> MaceTensor.wrap(moved, floats, nhwc, 16));
    assertInvalid("-1", () -> MaceTensor.allocate(2, -1));
    assertInvalid("2^31", () -> MaceTensor.allocate(1L << 62, 1L << 62));
    assertInvalid("2^31", () -> MaceTensor.allocate(1 << 20, 1 << 20, 0));
    assertInvalid("at most 8", () -> MaceTensor.allocate(1, 1, 1, 1, 1, 1, 1, 1, 1));
    assertInvalid("2 elements", () -> MaceTensor.ofFloats(new float[2], 3));
    assertInvalid(
        "of the type UINT8", () -> MaceTensor.allocate(DataType.UINT8, nhwc, 3).getFloats());
  }

  @Test
  public void wrongRunsAreRefused() throws Exception {
    MaceTensor input = input();
    MaceTensor output = MaceTensor.allocate(1, CLASSES);
    try (MaceEngine engine = create()) {
      assertInvalid("inputs is null", () -> engine.run(null, probability(output)));
      assertInvalid("outputs is null", () -> engine.run(image(input), null));
      assertInvalid("input 'image' is null", () -> engine.run(image(null), probability(output)));
      Map<String, MaceTensor> unnamed = Collections.singletonMap(null, input);
      assertInvalid("name of an input is null", () -> engine.run(unnamed, probability(output)));
      Map<String, MaceTensor> nothing = Collections.emptyMap();
      assertInvalid("image", () -> engine.run(nothing, probability(output)));
      assertInvalid("", () -> engine.run(image(input), nothing));
      Map<String, MaceTensor> other = Collections.singletonMap("picture", input);
      assertInvalid("picture", () -> engine.run(other, probability(output)));
      MaceTensor small = MaceTensor.allocate(1, CLASSES - 1);
      assertInvalid("probability", () -> engine.run(image(input), probability(small)));
      MaceTensor wide = MaceTensor.allocate(1, 8, 8, 2);
      assertInvalid("", () -> engine.run(image(wide), probability(output)));
      MaceTensor bytes = MaceTensor.allocate(DataType.UINT8, DataFormat.NHWC, 1, 8, 8, 1);
      assertInvalid("image", () -> engine.run(image(bytes), probability(output)));
      ByteBuffer constant = ByteBuffer.allocateDirect(40).asReadOnlyBuffer();
      MaceTensor readOnly = MaceTensor.wrap(
          constant.order(ByteOrder.nativeOrder()), DataType.FLOAT32, DataFormat.NONE, 1, CLASSES);
      assertInvalid("read-only", () -> engine.run(image(input), probability(readOnly)));
      // None of them harmed it.
      assertRuns(engine);
    }
  }

  @Test
  public void closedEnginesAreRefused() throws Exception {
    MaceTensor output = MaceTensor.allocate(1, CLASSES);
    MaceEngine engine = create();
    assertFalse(engine.isClosed());
    engine.close();
    engine.close();
    assertTrue(engine.isClosed());
    assertInvalid("closed", () -> engine.run(image(input()), probability(output)));
    assertInvalid("closed", () -> engine.runWithMetadata(image(input()), probability(output)));
    assertInvalid("closed", engine::releaseIntermediateBuffer);
    assertInvalid("closed", engine::resetStates);
    assertInvalid("closed", engine::explain);
    assertInvalid("closed", engine::getInputs);
    assertInvalid("closed", engine::getOutputs);
    assertInvalid("closed", () -> engine.run(image(input())));
    assertInvalid("closed", engine::getStats);
    assertInvalid("closed",
        ()
            -> MaceEngine.create(
                MaceModel.fromFiles(GRAPH, WEIGHTS), new MaceEngineConfig().setTutor(engine)));
  }

  @Test
  public void aTutorMayBeClosedFirst() throws IOException {
    MaceEngine tutor = create();
    MaceEngineConfig config = new MaceEngineConfig().setTutor(tutor);
    try (MaceEngine pupil = MaceEngine.create(MaceModel.fromFiles(GRAPH, WEIGHTS), config)) {
      assertRuns(tutor);
      assertRuns(pupil);
      tutor.close();
      assertRuns(pupil);
    }
  }

  @Test
  public void threadsShareAnEngine() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Object>> ended = new ArrayList<>();
    try (MaceEngine engine = create()) {
      for (int thread = 0; thread < 4; ++thread) {
        ended.add(pool.submit(() -> {
          for (int i = 0; i < 100; ++i) assertRuns(engine);
          return null;
        }));
      }
      for (Future<Object> end : ended) end.get();
    }
    pool.shutdown();
  }

  @Test
  public void closingWaitsForRuns() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    for (int round = 0; round < 20; ++round) {
      MaceEngine engine = create();
      Future<Boolean> refused = pool.submit(() -> {
        try {
          while (true) assertRuns(engine);
        } catch (MaceException exception) {
          return exception.getMessage().contains("closed");
        }
      });
      Thread.sleep(2);
      engine.close();
      assertTrue(refused.get());
    }
    pool.shutdown();
  }

  @Test
  public void enginesDoNotLeak() throws Exception {
    Path weights = copyOfWeights();
    for (int i = 0; i < 30; ++i) createAndClose(weights);
    long resident = residentPages();
    for (int i = 0; i < 300; ++i) createAndClose(weights);
    assertEquals(0, countMappings(weights));
    // 1 KB for each engine, whose own memory is several times that, and 2 MB for Java.
    long grown = (residentPages() - resident) * 4;
    assertTrue(grown + " KB more", grown < 300 + 2048);
  }

  private static void createAndClose(Path weights) throws Exception {
    MaceModel model = MaceModel.fromFiles(GRAPH, weights.toString());
    try (MaceEngine engine = MaceEngine.create(model)) {
      assertRuns(engine);
      assertEquals(1, countMappings(weights));
      assertInvalid("picture", () -> engine.run(image(input()), picture()));
    }
    List<String> wrong = Collections.singletonList("picture");
    assertInvalid("picture", () -> MaceEngine.create(model, wrong, wrong, new MaceEngineConfig()));
  }

  private static Map<String, MaceTensor> picture() {
    return Collections.singletonMap("picture", MaceTensor.allocate(1, CLASSES));
  }

  private static long residentPages() throws IOException {
    System.gc();
    byte[] text = Files.readAllBytes(Paths.get("/proc/self/statm"));
    return Long.parseLong(new String(text, StandardCharsets.UTF_8).split(" ")[1]);
  }

  @Test
  public void lostEnginesAreFreed() throws Exception {
    Path weights = copyOfWeights();
    MaceModel model = MaceModel.fromFiles(GRAPH, weights.toString());
    for (int i = 0; i < 20; ++i) MaceEngine.create(model);
    assertTrue(countMappings(weights) > 0);
    long deadline = System.nanoTime() + 10_000_000_000L;
    do {
      System.gc();
      Thread.sleep(10);
      create().close();
    } while (countMappings(weights) > 0 && System.nanoTime() < deadline);
    assertEquals(0, countMappings(weights));
  }
}
