package dev.skep.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightEndpoint;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.SyncPutListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * The Flight client of arrow-java reads the recorded tables of Hive, copies them with DoPut batch by batch, and uses transactions and errors. SKEP_FLIGHT: the service's address; SKEP_TABLES: JSON of test/interop/flight/server.ts.
 */
public final class FlightCheck {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final FlightClient client;
  private final BufferAllocator allocator;
  private int passed;
  private int failed;

  private FlightCheck(FlightClient client, BufferAllocator allocator) {
    this.client = client;
    this.allocator = allocator;
  }

  public static void main(String[] args) throws Exception {
    String[] address = System.getenv("SKEP_FLIGHT").split(":");
    try (BufferAllocator allocator = new RootAllocator();
        FlightClient client =
            FlightClient.builder(allocator, Location.forGrpcInsecure(address[0], Integer.parseInt(address[1]))).build()) {
      FlightCheck check = new FlightCheck(client, allocator);
      for (JsonNode table : JSON.readTree(new File(System.getenv("SKEP_TABLES")))) check.table(table);
      check.writes();
      check.errors();
      System.out.println(check.passed + " passed, " + check.failed + " failed");
      if (check.failed > 0) System.exit(1);
    }
  }

  private void check(String what, Object expected, Callable<Object> run) {
    Object found;
    try {
      found = run.call();
    } catch (Exception error) {
      found = error;
    }
    if (Objects.equals(String.valueOf(found), String.valueOf(expected))) {
      passed++;
      return;
    }
    failed++;
    System.out.println("  FAIL " + what + ": " + found + ", expected " + expected);
    if (found instanceof Exception error) error.printStackTrace();
  }

  private static FlightDescriptor command(Map<String, ?> fields) throws Exception {
    return FlightDescriptor.command(JSON.writeValueAsBytes(fields));
  }

  private JsonNode act(String type, Map<String, ?> body) throws Exception {
    return JSON.readTree(client.doAction(new Action(type, JSON.writeValueAsBytes(body))).next().getBody());
  }

  /** Rows of all splits; each batch is given to `use`. */
  private long read(FlightDescriptor descriptor, java.util.function.Consumer<VectorSchemaRoot> use) throws Exception {
    FlightInfo info = client.getInfo(descriptor);
    long rows = 0;
    for (FlightEndpoint endpoint : info.getEndpoints()) {
      try (FlightStream stream = client.getStream(endpoint.getTicket())) {
        while (stream.next()) {
          rows += stream.getRoot().getRowCount();
          use.accept(stream.getRoot());
        }
      }
    }
    act("release", Map.of("txnId", JSON.readTree(info.getAppMetadata()).get("txnId")));
    return rows;
  }

  private void table(JsonNode table) {
    String database = table.get("database").asText();
    String name = table.get("table").asText();
    Map<String, ?> wanted =
        Map.of("database", database, "table", name, "timestamps", "struct", "snapshot", Map.of("writeIds", table.get("writeIds").asText()));
    int rows = table.get("rows").size();
    check("rows of " + database + "." + name, rows, () -> read(command(wanted), root -> {}));
    check(
        "copy of " + database + "." + name,
        rows,
        () -> {
          Map<String, ?> into = Map.of("database", database, "table", table.get("copy").asText());
          List<Long> written = new ArrayList<>();
          read(
              command(wanted),
              root -> {
                try {
                  written.add(put(command(into), root).get("inserted").asLong());
                } catch (Exception error) {
                  throw new IllegalStateException(error);
                }
              });
          return written.stream().mapToLong(Long::longValue).sum();
        });
    Map<String, ?> copy = Map.of("database", database, "table", table.get("copy").asText(), "timestamps", "struct");
    check("rows of the copy of " + name, rows, () -> read(command(copy), root -> {}));
  }

  /** One batch. */
  private JsonNode put(FlightDescriptor descriptor, VectorSchemaRoot rows) throws Exception {
    try (SyncPutListener listener = new SyncPutListener()) {
      FlightClient.ClientStreamListener writer = client.startPut(descriptor, rows, listener);
      writer.putNext();
      writer.completed();
      try (PutResult result = listener.read()) {
        if (result == null) {
          writer.getResult();
          return null;
        }
        byte[] bytes = new byte[(int) result.getApplicationMetadata().readableBytes()];
        result.getApplicationMetadata().getBytes(0, bytes);
        writer.getResult();
        return JSON.readTree(bytes);
      }
    }
  }

  private void writes() throws Exception {
    Schema schema = client.getSchema(FlightDescriptor.path("default", "emp")).getSchema();
    try (VectorSchemaRoot rows = VectorSchemaRoot.create(schema, allocator)) {
      IntVector id = (IntVector) rows.getVector("id");
      VarCharVector name = (VarCharVector) rows.getVector("name");
      for (int i = 0; i < 3; i++) {
        id.setSafe(i, i);
        name.setSafe(i, ("n" + i).getBytes(StandardCharsets.UTF_8));
      }
      rows.setRowCount(3);
      JsonNode txn = act("begin", Map.of()).get("txnId");
      check("rows in a transaction", 3, () -> put(command(Map.of("table", "emp", "txnId", txn)), rows).get("inserted"));
      check("others do not see them", 0, () -> read(FlightDescriptor.path("default", "emp"), root -> {}));
      check("commit", txn, () -> act("commit", Map.of("txnId", txn)).get("txnId"));
      check("others see them", 3, () -> read(FlightDescriptor.path("default", "emp"), root -> {}));
    }
  }

  private void errors() {
    check("no such table", "INVALID_ARGUMENT", () -> status(() -> client.getInfo(FlightDescriptor.path("default", "nope"))));
    check("no such action", "INVALID_ARGUMENT", () -> status(() -> act("nope", Map.of())));
    check("no such transaction", "NOT_FOUND", () -> status(() -> act("commit", Map.of("txnId", 999999999))));
  }

  private static String status(Callable<?> run) throws Exception {
    try {
      return "nothing failed: " + run.call();
    } catch (FlightRuntimeException error) {
      return error.status().code().name();
    }
  }
}
