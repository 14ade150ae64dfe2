import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.exec.vector.*;
import org.apache.orc.*;

/**
 * Writes ORC files with encrypted columns with Java's ORC, for packages/orc/test-files: NAME.orc, NAME.keys (the master keys, as
 * skep takes them), NAME.jsn (the rows as Java reads them with the keys) and NAME.masked.jsn (as it reads them without), in the
 * form of orc-contents. The keys are made of the names: they protect nothing. Usage: java EncryptedFiles OUT
 */
public class EncryptedFiles {
  private static final EncryptionAlgorithm AES128 = EncryptionAlgorithm.AES_CTR_128;
  private static final EncryptionAlgorithm AES256 = EncryptionAlgorithm.AES_CTR_256;
  private static final String PEOPLE =
      "struct<id:bigint,name:string,ssn:string,email:string,salary:decimal(12,2),born:date,seen:timestamp>";
  private static final String NESTED =
      "struct<id:int,who:struct<name:string,card:struct<number:string,limit:double>>,"
          + "visits:array<struct<place:string,spent:int>>,notes:map<string,string>,pick:uniontype<int,string>>";
  private static Path out;
  /** Of the local keys: the same files each time, and no two with one key. */
  private static int seed = 4;

  private record Key(String name, int version, EncryptionAlgorithm algorithm) {
    byte[] material() {
      byte[] bytes = new byte[algorithm.keyLength()];
      byte[] text = (name + "@" + version).getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (text[i % text.length] + 7 * i);
      return bytes;
    }
  }

  private static Configuration conf() {
    Configuration conf = new Configuration(false);
    conf.set("orc.stripe.row.count", "1500");
    conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    return conf;
  }

  private static InMemoryKeystore keystore(Key... keys) throws Exception {
    InMemoryKeystore keystore = new InMemoryKeystore(new Random(seed++));
    for (Key key : keys) keystore.addKey(key.name, key.version, key.algorithm, key.material());
    return keystore;
  }

  private interface Options {
    OrcFile.WriterOptions with(OrcFile.WriterOptions options);
  }

  /** Rows in batches of 100. */
  private static void write(String name, String schemaText, int rows, Options with, Key... keys) throws Exception {
    TypeDescription schema = TypeDescription.fromString(schemaText);
    Path file = out.resolve(name + ".orc");
    OrcFile.WriterOptions options = with.with(OrcFile.writerOptions(conf()).setSchema(schema).setKeyProvider(keystore(keys)).overwrite(true));
    try (Writer writer = OrcFile.createWriter(new org.apache.hadoop.fs.Path(file.toUri()), options)) {
      for (int first = 0; first < rows; first += 100) {
        VectorizedRowBatch batch = schema.createRowBatch(100);
        for (int row = first; row < Math.min(rows, first + 100); row++) {
          batch.size++;
          for (int i = 0; i < batch.cols.length; i++) fill(schema.getChildren().get(i), batch.cols[i], row - first, row);
        }
        writer.addRowBatch(batch);
      }
    }
    StringBuilder list = new StringBuilder("# NAME@VERSION=HEX\n");
    for (Key key : keys) list.append(key.name + "@" + key.version + "=" + HexFormat.of().formatHex(key.material()) + "\n");
    Files.writeString(out.resolve(name + ".keys"), list.toString());
    int stripes = print(file, keystore(keys), name + ".jsn");
    print(file, new InMemoryKeystore(), name + ".masked.jsn");
    System.out.println(name + ": " + Files.size(file) + " bytes, " + stripes + " stripes");
  }

  /** A value of the row's number; NULL now and then. */
  private static void fill(TypeDescription type, ColumnVector vector, int at, int row) {
    if (row % 11 == 5 && type.getId() != 1) {
      vector.noNulls = false;
      vector.isNull[at] = true;
      return;
    }
    switch (type.getCategory()) {
      case INT, LONG -> ((LongColumnVector) vector).vector[at] = row * 37L;
      case DATE -> ((LongColumnVector) vector).vector[at] = 3000 + row * 13L;
      case DOUBLE -> ((DoubleColumnVector) vector).vector[at] = row * 0.5;
      case STRING -> ((BytesColumnVector) vector).setVal(at, ("text " + row * type.getId() % 29 + " of " + row).getBytes(StandardCharsets.UTF_8));
      case DECIMAL -> ((DecimalColumnVector) vector).vector[at].set(org.apache.hadoop.hive.common.type.HiveDecimal.create(row * 12345L).scaleByPowerOfTen(-2));
      case TIMESTAMP -> {
        ((TimestampColumnVector) vector).time[at] = row * 86_461_000L;
        ((TimestampColumnVector) vector).nanos[at] = row * 1000;
      }
      case STRUCT -> {
        for (int i = 0; i < type.getChildren().size(); i++) fill(type.getChildren().get(i), ((StructColumnVector) vector).fields[i], at, row);
      }
      case LIST -> {
        ListColumnVector list = (ListColumnVector) vector;
        list.offsets[at] = list.childCount;
        list.lengths[at] = row % 4;
        list.childCount += row % 4;
        list.child.ensureSize(list.childCount, true);
        for (int i = 0; i < row % 4; i++) fill(type.getChildren().get(0), list.child, (int) list.offsets[at] + i, row * 3 + i);
      }
      case MAP -> {
        MapColumnVector map = (MapColumnVector) vector;
        map.offsets[at] = map.childCount;
        map.lengths[at] = row % 3;
        map.childCount += row % 3;
        map.keys.ensureSize(map.childCount, true);
        map.values.ensureSize(map.childCount, true);
        for (int i = 0; i < row % 3; i++) {
          ((BytesColumnVector) map.keys).setVal((int) map.offsets[at] + i, ("key " + i).getBytes(StandardCharsets.UTF_8));
          fill(type.getChildren().get(1), map.values, (int) map.offsets[at] + i, row + i);
        }
      }
      case UNION -> {
        UnionColumnVector union = (UnionColumnVector) vector;
        union.tags[at] = row % 2;
        fill(type.getChildren().get(row % 2), union.fields[row % 2], at, row);
      }
      default -> throw new IllegalArgumentException(type.toString());
    }
  }

  /** The file's rows as Java reads them. */
  private static int print(Path file, InMemoryKeystore keys, String to) throws Exception {
    try (Reader reader =
        OrcFile.createReader(new org.apache.hadoop.fs.Path(file.toUri()), OrcFile.readerOptions(conf()).setKeyProvider(keys).useUTCTimestamp(true))) {
      VectorizedRowBatch batch = reader.getSchema().createRowBatch();
      StringBuilder text = new StringBuilder();
      try (RecordReader rows = reader.rows()) {
        while (rows.nextBatch(batch)) {
          for (int row = 0; row < batch.size; row++) {
            struct(text, reader.getSchema(), batch.cols, row);
            text.append('\n');
          }
        }
      }
      if (text.length() < 20_000) Files.writeString(out.resolve(to), text);
      else {
        try (var zipped = new java.util.zip.GZIPOutputStream(Files.newOutputStream(out.resolve(to + ".gz")))) {
          zipped.write(text.toString().getBytes(StandardCharsets.UTF_8));
        }
      }
      return reader.getStripes().size();
    }
  }

  private static void struct(StringBuilder text, TypeDescription type, ColumnVector[] columns, int row) {
    for (int i = 0; i < columns.length; i++) {
      text.append(i == 0 ? "{" : ", ").append('"').append(type.getFieldNames().get(i)).append("\": ");
      print(text, type.getChildren().get(i), columns[i], row);
    }
    text.append('}');
  }

  private static void print(StringBuilder text, TypeDescription type, ColumnVector vector, int at) {
    int row = vector.isRepeating ? 0 : at;
    if (!vector.noNulls && vector.isNull[row]) {
      text.append("null");
      return;
    }
    switch (type.getCategory()) {
      case INT, LONG -> text.append(((LongColumnVector) vector).vector[row]);
      case DATE -> text.append('"').append(java.time.LocalDate.ofEpochDay(((LongColumnVector) vector).vector[row])).append('"');
      case DOUBLE -> {
        double number = ((DoubleColumnVector) vector).vector[row];
        text.append(number == (long) number ? String.valueOf((long) number) : String.valueOf(number));
      }
      case STRING -> text.append('"').append(((BytesColumnVector) vector).toString(row)).append('"');
      case DECIMAL -> text.append(((DecimalColumnVector) vector).vector[row].getHiveDecimal().bigDecimalValue().setScale(type.getScale()).toPlainString());
      case TIMESTAMP -> {
        TimestampColumnVector times = (TimestampColumnVector) vector;
        var time = java.time.LocalDateTime.ofEpochSecond(Math.floorDiv(times.time[row], 1000L), times.nanos[row], java.time.ZoneOffset.UTC);
        text.append('"').append(java.sql.Timestamp.valueOf(time)).append('"');
      }
      case STRUCT -> struct(text, type, ((StructColumnVector) vector).fields, row);
      case LIST -> {
        ListColumnVector list = (ListColumnVector) vector;
        text.append('[');
        for (int i = 0; i < list.lengths[row]; i++) {
          if (i > 0) text.append(", ");
          print(text, type.getChildren().get(0), list.child, (int) list.offsets[row] + i);
        }
        text.append(']');
      }
      case MAP -> {
        MapColumnVector map = (MapColumnVector) vector;
        text.append('[');
        for (int i = 0; i < map.lengths[row]; i++) {
          text.append(i == 0 ? "" : ", ").append("{\"key\": ");
          print(text, type.getChildren().get(0), map.keys, (int) map.offsets[row] + i);
          text.append(", \"value\": ");
          print(text, type.getChildren().get(1), map.values, (int) map.offsets[row] + i);
          text.append('}');
        }
        text.append(']');
      }
      case UNION -> {
        UnionColumnVector union = (UnionColumnVector) vector;
        text.append("{\"tag\": ").append(union.tags[row]).append(", \"value\": ");
        print(text, type.getChildren().get(union.tags[row]), union.fields[union.tags[row]], row);
        text.append('}');
      }
      default -> throw new IllegalArgumentException(type.toString());
    }
  }

  private static OrcFile.WriterOptions small(OrcFile.WriterOptions options) {
    return options.rowIndexStride(1000);
  }

  public static void main(String[] args) throws Exception {
    out = Paths.get(args[0]);
    Files.createDirectories(out);
    Key pii = new Key("pii", 0, AES128);
    Key secret = new Key("top_secret", 3, AES256);
    write("encrypted-none", PEOPLE, 30,
        o -> o.compress(CompressionKind.NONE).encrypt("pii:ssn,email").masks("sha256:email"), pii);
    write("encrypted-zlib-two-keys", PEOPLE, 30,
        o -> o.compress(CompressionKind.ZLIB).encrypt("pii:ssn,email;top_secret:salary,born,seen").masks("sha256:email;redact:born,seen"),
        pii, secret);
    write("encrypted-zstd-256", PEOPLE, 30,
        o -> o.compress(CompressionKind.ZSTD).encrypt("top_secret:id,name,salary").masks("redact:id;sha256:name"), secret);
    write("encrypted-nested", NESTED, 30,
        o -> o.compress(CompressionKind.SNAPPY).encrypt("pii:who.card,notes;top_secret:visits,pick").masks("nullify:who.card"), pii, secret);
    write("encrypted-element", NESTED, 30,
        o -> o.compress(CompressionKind.NONE).encrypt("pii:who.name,visits._elem.spent"), pii);
    // The writer takes the newest version; the file says which it was.
    write("encrypted-second-version", PEOPLE, 20,
        o -> o.compress(CompressionKind.ZLIB).encrypt("pii:ssn"), pii, new Key("pii", 1, AES256));
    write("encrypted-first-version", PEOPLE, 20,
        o -> o.compress(CompressionKind.ZLIB).encrypt("pii:ssn").setKeyVersion("pii", 0, AES128), pii, new Key("pii", 1, AES256));
    write("encrypted-stripes", "struct<id:bigint,ssn:string,salary:decimal(12,2)>", 3200,
        o -> small(o).compress(CompressionKind.ZSTD).encrypt("pii:ssn;top_secret:salary,id").bloomFilterColumns("ssn,id"), pii, secret);
    write("encrypted-stripes-none", "struct<id:bigint,code:string>", 2100,
        o -> small(o).compress(CompressionKind.NONE).encrypt("pii:id,code").bloomFilterColumns("code"), pii);
    write("encrypted-bloom", "struct<id:bigint,ssn:string>", 40,
        o -> o.compress(CompressionKind.ZLIB).encrypt("pii:ssn").masks("sha256:ssn").bloomFilterColumns("ssn"), pii);
    write("encrypted-empty", PEOPLE, 0, o -> o.encrypt("pii:ssn"), pii);
    merged("encrypted-merged", pii);
  }

  /** Files put together as they are: each stripe keeps the key and the number that it was encrypted with. */
  private static void merged(String name, Key... keys) throws Exception {
    List<org.apache.hadoop.fs.Path> parts = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      String part = name + "-part-" + i;
      int key = i;
      write(part, "struct<id:bigint,ssn:string>", 30 + 10 * i, o -> o.compress(CompressionKind.ZLIB).encrypt("pii:ssn"), keys);
      parts.add(new org.apache.hadoop.fs.Path(out.resolve(part + ".orc").toUri()));
    }
    var to = new org.apache.hadoop.fs.Path(out.resolve(name + ".orc").toUri());
    OrcFile.mergeFiles(to, OrcFile.writerOptions(conf()).setKeyProvider(keystore(keys)).encrypt("pii:ssn").compress(CompressionKind.ZLIB).overwrite(true), parts);
    Files.copy(out.resolve(name + "-part-0.keys"), out.resolve(name + ".keys"), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    System.out.println(name + ": " + print(out.resolve(name + ".orc"), keystore(keys), name + ".jsn") + " stripes");
    print(out.resolve(name + ".orc"), new InMemoryKeystore(), name + ".masked.jsn");
    for (int i = 0; i < 3; i++) {
      for (String end : List.of(".orc", ".keys", ".jsn", ".masked.jsn")) Files.delete(out.resolve(name + "-part-" + i + end));
    }
  }
}
