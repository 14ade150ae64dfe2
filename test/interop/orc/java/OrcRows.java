import java.io.BufferedWriter;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.exec.vector.*;
import org.apache.hadoop.hive.ql.io.sarg.PredicateLeaf;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgument;
import org.apache.hadoop.hive.ql.io.sarg.SearchArgumentFactory;
import org.apache.orc.*;

/**
 * Reads ORC files with Java's ORC. For each IN/NAME.orc it writes OUT/NAME.rows, one row a line in the form of
 * packages/orc/src/testing/canonical.ts. Where IN/NAME.sargs is, for each of its lines (column, type, operator, literal, by tabs)
 * OUT/NAME.sarg-N has the first column of the rows that are left, which is their number. Where IN/NAME.schemas is, for each of its
 * lines OUT/NAME.schema-N has the rows read as that schema, or the line "refused" where Java does not convert. Usage: java OrcRows IN OUT
 */
public class OrcRows {
  public static void main(String[] args) throws Exception {
    Path in = Paths.get(args[0]);
    Path out = Paths.get(args[1]);
    Files.createDirectories(out);
    List<Path> files = new ArrayList<>();
    try (var listed = Files.list(in)) {
      listed.filter(path -> path.toString().endsWith(".orc")).sorted().forEach(files::add);
    }
    for (Path file : files) {
      String name = file.getFileName().toString().replaceAll("\\.orc$", "");
      read(file, null, null, out.resolve(name + ".rows"));
      Path schemas = in.resolve(name + ".schemas");
      if (Files.exists(schemas)) {
        int number = 0;
        for (String line : Files.readAllLines(schemas)) read(file, null, line, out.resolve(name + ".schema-" + number++));
      }
      Path sargs = in.resolve(name + ".sargs");
      if (!Files.exists(sargs)) continue;
      int number = 0;
      for (String line : Files.readAllLines(sargs)) read(file, line.split("\t", -1), null, out.resolve(name + ".sarg-" + number++));
    }
  }

  private static void read(Path file, String[] sarg, String as, Path to) throws Exception {
    Configuration conf = new Configuration(false);
    conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    var path = new org.apache.hadoop.fs.Path(file.toUri());
    try (Reader reader = OrcFile.createReader(path, OrcFile.readerOptions(conf).convertToProlepticGregorian(true).useUTCTimestamp(true));
        PrintWriter writer = new PrintWriter(new BufferedWriter(new OutputStreamWriter(Files.newOutputStream(to), StandardCharsets.UTF_8)))) {
      Reader.Options options = reader.options();
      if (sarg != null) options.searchArgument(searchArgument(sarg), new String[] {sarg[0]});
      TypeDescription schema = as == null ? reader.getSchema() : TypeDescription.fromString(as);
      options.schema(schema);
      VectorizedRowBatch batch = schema.createRowBatch(TypeDescription.RowBatchVersion.ORIGINAL, 1024);
      boolean numbers = sarg != null;
      try (RecordReader rows = reader.rows(options)) {
        StringBuilder line = new StringBuilder();
        while (rows.nextBatch(batch)) {
          for (int row = 0; row < batch.size; row++) {
            line.setLength(0);
            if (numbers) line.append(((LongColumnVector) batch.cols[0]).vector[batch.cols[0].isRepeating ? 0 : row]);
            else struct(line, schema, batch.cols, row);
            writer.write(line.append('\n').toString());
          }
        }
      } catch (org.apache.orc.impl.SchemaEvolution.IllegalEvolutionException | IllegalArgumentException | ArithmeticException refused) {
        if (as == null) throw refused;
        writer.write("refused\n");
      }
    }
  }

  private static SearchArgument searchArgument(String[] parts) {
    PredicateLeaf.Type type = PredicateLeaf.Type.valueOf(parts[1]);
    Object literal = switch (type) {
      case LONG -> Long.valueOf(parts[3]);
      case FLOAT -> Double.valueOf(parts[3]);
      case STRING -> parts[3];
      case DATE -> java.sql.Date.valueOf(parts[3]);
      case TIMESTAMP -> java.sql.Timestamp.valueOf(parts[3]);
      case DECIMAL -> new org.apache.hadoop.hive.serde2.io.HiveDecimalWritable(parts[3]);
      case BOOLEAN -> Boolean.valueOf(parts[3]);
    };
    SearchArgument.Builder builder = SearchArgumentFactory.newBuilder();
    switch (parts[2]) {
      case "equals" -> builder.equals(parts[0], type, literal);
      case "lessThan" -> builder.lessThan(parts[0], type, literal);
      default -> throw new IllegalArgumentException(parts[2]);
    }
    return builder.build();
  }

  private static void struct(StringBuilder out, TypeDescription type, ColumnVector[] columns, int row) {
    out.append('[');
    for (int i = 0; i < columns.length; i++) {
      if (i > 0) out.append(',');
      value(out, type.getChildren().get(i), columns[i], row);
    }
    out.append(']');
  }

  private static void value(StringBuilder out, TypeDescription type, ColumnVector vector, int at) {
    int row = vector.isRepeating ? 0 : at;
    if (!vector.noNulls && vector.isNull[row]) {
      out.append("null");
      return;
    }
    switch (type.getCategory()) {
      case BOOLEAN -> out.append(((LongColumnVector) vector).vector[row] != 0);
      case BYTE, SHORT, INT, LONG, DATE -> out.append('"').append(((LongColumnVector) vector).vector[row]).append('"');
      case FLOAT, DOUBLE -> {
        double number = ((DoubleColumnVector) vector).vector[row];
        // Hive makes a float of it; after a conversion the vector may still have a double.
        if (type.getCategory() == TypeDescription.Category.FLOAT) number = (float) number;
        out.append('"').append(Double.isNaN(number) ? "nan" : Long.toHexString(Double.doubleToRawLongBits(number))).append('"');
      }
      case STRING, VARCHAR, CHAR -> {
        BytesColumnVector bytes = (BytesColumnVector) vector;
        text(out, new String(bytes.vector[row], bytes.start[row], bytes.length[row], StandardCharsets.UTF_8));
      }
      case BINARY -> {
        BytesColumnVector bytes = (BytesColumnVector) vector;
        int start = bytes.start[row];
        out.append('"').append(HexFormat.of().formatHex(bytes.vector[row], start, start + bytes.length[row])).append('"');
      }
      case TIMESTAMP, TIMESTAMP_INSTANT -> {
        TimestampColumnVector times = (TimestampColumnVector) vector;
        var seconds = java.math.BigInteger.valueOf(Math.floorDiv(times.time[row], 1000L));
        var nanos = java.math.BigInteger.valueOf(times.nanos[row]);
        out.append('"').append(seconds.multiply(java.math.BigInteger.valueOf(1_000_000_000L)).add(nanos)).append('"');
      }
      case DECIMAL -> {
        var decimal = ((DecimalColumnVector) vector).vector[row].getHiveDecimal().bigDecimalValue();
        out.append('"').append(decimal.setScale(type.getScale()).unscaledValue()).append('"');
      }
      case LIST -> {
        ListColumnVector list = (ListColumnVector) vector;
        out.append('[');
        for (long i = list.offsets[row], end = i + list.lengths[row], first = i; i < end; i++) {
          if (i > first) out.append(',');
          value(out, type.getChildren().get(0), list.child, (int) i);
        }
        out.append(']');
      }
      case MAP -> {
        MapColumnVector map = (MapColumnVector) vector;
        out.append('[');
        for (long i = map.offsets[row], end = i + map.lengths[row], first = i; i < end; i++) {
          if (i > first) out.append(',');
          out.append('[');
          value(out, type.getChildren().get(0), map.keys, (int) i);
          out.append(',');
          value(out, type.getChildren().get(1), map.values, (int) i);
          out.append(']');
        }
        out.append(']');
      }
      case STRUCT -> struct(out, type, ((StructColumnVector) vector).fields, row);
      case UNION -> {
        UnionColumnVector union = (UnionColumnVector) vector;
        int tag = union.tags[row];
        out.append('[').append(tag).append(',');
        value(out, type.getChildren().get(tag), union.fields[tag], row);
        out.append(']');
      }
      default -> throw new IllegalArgumentException(type.toString());
    }
  }

  /** As JSON.stringify. */
  private static void text(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c < 0x20) throw new IllegalArgumentException("a control character: no test has one");
          out.append(c);
        }
      }
    }
    out.append('"');
  }
}
