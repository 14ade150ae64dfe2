"""Writes ORC files with pyorc and pyarrow (liborc), every option and random schemas, and beside each NAME.orc its rows as
NAME.canonical, in the form of packages/orc/src/testing/canonical.ts. Usage: write-files.py OUT [SEED]"""

import datetime
import decimal
import json
import os
import random
import struct
import sys
import zoneinfo

import pyarrow as pa
import pyarrow.orc
import pyorc
from pyorc.converters import ORCConverter
from pyorc.enums import CompressionKind, CompressionStrategy, StructRepr, TypeKind

decimal.getcontext().prec = 60
OUT = sys.argv[1]
RANDOM = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
LETTERS = ["a", "b", "z", "é", "ß", "日", "😀", "0"]


class Raw(ORCConverter):
    """What the file holds, where Python's own types are narrower."""

    @staticmethod
    def from_orc(*args):
        return args[0]

    @staticmethod
    def to_orc(obj, *args):
        return obj


class Nanos(ORCConverter):
    @staticmethod
    def from_orc(seconds, nanoseconds, timezone):
        return seconds * 1_000_000_000 + nanoseconds

    @staticmethod
    def to_orc(obj, timezone):
        return divmod(obj, 1_000_000_000)


CONVERTERS = {TypeKind.TIMESTAMP: Nanos, TypeKind.TIMESTAMP_INSTANT: Nanos, TypeKind.DATE: Raw}


def signed(bits):
    return RANDOM.getrandbits(bits) - (1 << (bits - 1)) >> RANDOM.randrange(bits)


def text(most):
    return "".join(RANDOM.choices(LETTERS, k=RANDOM.randrange(most + 1)))


def nanos():
    seconds = RANDOM.randrange(-5_000_000_000, 7_000_000_000)
    # liborc loses a second before 1970 where there is a fraction of a microsecond only; we read what is written.
    fraction = RANDOM.choice([0, 500_000_000, 1_000_000, RANDOM.randrange(1_000_000_000)]) if seconds >= 0 else 0
    return seconds * 1_000_000_000 + fraction


def bits_of(value):
    return format(struct.unpack(">Q", struct.pack(">d", value))[0], "x")


def single(value):
    return struct.unpack(">f", struct.pack(">f", value))[0]


def decimals(precision, scale):
    def make():
        unscaled = RANDOM.randrange(10**precision) * RANDOM.choice([1, -1]) // 10 ** RANDOM.randrange(precision)
        return decimal.Decimal(unscaled).scaleb(-scale), str(unscaled)

    return make


def both(value, canonical=None):
    return value, value if canonical is None else canonical


def numbers(make):
    def pair():
        value = make()
        return value, str(value)

    return pair


# By type: the next value, as pyorc takes it, and its canonical form.
SIMPLE = {
    "boolean": lambda: both(RANDOM.random() < 0.5),
    "tinyint": numbers(lambda: signed(8)),
    "smallint": numbers(lambda: signed(16)),
    "int": numbers(lambda: signed(32)),
    "bigint": numbers(lambda: signed(64)),
    "float": lambda: (lambda v: (v, bits_of(v)))(single(RANDOM.choice([0.0, -0.0, 1.5, RANDOM.random() * 1e10]))),
    "double": lambda: (lambda v: (v, bits_of(v)))(RANDOM.choice([0.0, -2.25, RANDOM.random() * 1e300, 5e-324])),
    "string": lambda: both(text(12)),
    "char(5)": lambda: both(text(5)),
    "varchar(7)": lambda: both(text(7)),
    "binary": lambda: (lambda v: (v, v.hex()))(RANDOM.randbytes(RANDOM.randrange(20))),
    "date": numbers(lambda: RANDOM.randrange(-30_000, 30_000)),
    "timestamp": numbers(nanos),
    "timestamp with local time zone": numbers(nanos),
    "decimal(18,2)": decimals(18, 2),
    "decimal(9,0)": decimals(9, 0),
    "decimal(38,10)": decimals(38, 10),
}


def maybe_null(make, share):
    return lambda: (None, None) if RANDOM.random() < share else make()


def any_type(depth, below=True):
    """A random type's name and the maker of its values. No unions below others: liborc crashes where a NULL struct has one."""
    kind = RANDOM.randrange(7) if depth > 0 else 9
    share = RANDOM.choice([0, 0, 0.2, 0.9])
    if kind == 0:
        name, item = any_type(depth - 1)
        return f"array<{name}>", maybe_null(lambda: tuple(map(list, zip(*[item() for _ in range(RANDOM.randrange(4))]))) or ([], []), share)
    if kind == 1:
        name, item = any_type(depth - 1)

        def entries():
            pairs = {text(3): item() for _ in range(RANDOM.randrange(4))}
            return {k: v for k, (v, _) in pairs.items()}, [[k, c] for k, (_, c) in pairs.items()]

        return f"map<string,{name}>", maybe_null(entries, share)
    if kind == 2:
        fields = [any_type(depth - 1) for _ in range(RANDOM.randrange(1, 4))]

        def row():
            values = [make() for _, make in fields]
            return tuple(v for v, _ in values), [c for _, c in values]

        return "struct<" + ",".join(f"f{i}:{name}" for i, (name, _) in enumerate(fields)) + ">", maybe_null(row, share)
    if kind == 3 and not below:
        alternatives = [("int", SIMPLE["int"]), ("string", SIMPLE["string"]), ("boolean", SIMPLE["boolean"])][: RANDOM.choice([2, 3])]

        def tagged():
            # pyorc takes the first alternative that the value is of; True is an int to it.
            tag = RANDOM.randrange(2)
            value, canonical = alternatives[tag][1]()
            return value, [tag, canonical]

        return "uniontype<" + ",".join(name for name, _ in alternatives) + ">", tagged
    name = RANDOM.choice(list(SIMPLE))
    return name, maybe_null(SIMPLE[name], share)


def save(name, canonical):
    with open(os.path.join(OUT, f"{name}.canonical"), "w", encoding="utf-8") as lines:
        for row in canonical:
            lines.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def wall(pair, zone):
    """A timestamp as the clocks of the zone show it: pyorc takes an instant and writes what they show."""
    value, canonical = pair
    if value is None:
        return pair
    at = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=value // 1_000_000_000)
    offset = at.astimezone(zone).utcoffset().total_seconds()
    return value, str(value + int(offset) * 1_000_000_000)


def with_pyorc(name, columns, rows, **options):
    zone = options.get("timezone")
    shift = lambda kind, pair: wall(pair, zone) if zone and kind == "timestamp" else pair
    made = [[shift(kind, make()) for kind, make in columns] for _ in range(rows)]
    schema = "struct<" + ",".join(f"c{i}:{kind}" for i, (kind, _) in enumerate(columns)) + ">"
    with open(os.path.join(OUT, f"{name}.orc"), "wb") as file:
        with pyorc.Writer(file, schema, struct_repr=StructRepr.TUPLE, converters=CONVERTERS, **options) as writer:
            for row in made:
                writer.write(tuple(value for value, _ in row))
            writer.set_user_metadata(made=b"pyorc")
    save(name, [[canonical for _, canonical in row] for row in made])


FLAT = [(name, maybe_null(make, share)) for (name, make), share in zip(SIMPLE.items(), [0, 0.2, 0, 0.5, 0] * 4)]
KINDS = [CompressionKind.NONE, CompressionKind.ZLIB, CompressionKind.SNAPPY, CompressionKind.LZ4, CompressionKind.ZSTD]


def pyorc_files():
    for kind in KINDS:
        for strategy in (CompressionStrategy.SPEED, CompressionStrategy.COMPRESSION):
            with_pyorc(f"pyorc-{kind.name}-{strategy.name}", FLAT, 1500, compression=kind, compression_strategy=strategy)
        small = {"stripe_size": 20_000, "row_index_stride": 300, "compression_block_size": 1024, "memory_block_size": 1024, "batch_size": 100}
        with_pyorc(f"pyorc-{kind.name}-small", FLAT, 3000, compression=kind, **small)
    for threshold in (0.0, 0.5, 1.0):
        with_pyorc(f"pyorc-dictionary-{threshold}", FLAT, 2000, dict_key_size_threshold=threshold, row_index_stride=500)
    names = [f"c{i}" for i, (kind, _) in enumerate(FLAT)]
    with_pyorc("pyorc-bloom", FLAT, 3000, bloom_filter_columns=names, bloom_filter_fpp=0.01, row_index_stride=500)
    with_pyorc("pyorc-padded", FLAT, 3000, padding_tolerance=0.5, stripe_size=20_000)
    with_pyorc("pyorc-no-index", FLAT, 2000, row_index_stride=0)
    with_pyorc("pyorc-memory", FLAT, 2000, memory_block_size=8192)
    with_pyorc("pyorc-empty", FLAT, 0)
    for zone in ("America/New_York", "Asia/Kolkata", "Europe/London"):
        times = [("timestamp", SIMPLE["timestamp"]), ("timestamp with local time zone", SIMPLE["timestamp"])]
        with_pyorc(f"pyorc-zone-{zone[:4]}", times, 1000, timezone=zoneinfo.ZoneInfo(zone), row_index_stride=100)
    for i in range(40):
        columns = [any_type(RANDOM.randrange(4), False) for _ in range(3)]
        small = {"stripe_size": 5000, "row_index_stride": 100, "batch_size": 64} if RANDOM.random() < 0.5 else {}
        with_pyorc(f"pyorc-any-{i}", columns, RANDOM.randrange(1, 900), compression=RANDOM.choice(KINDS), **small)


ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("ns"),
    "decimal(18,2)": pa.decimal128(18, 2),
    "decimal(38,10)": pa.decimal128(38, 10),
}


def arrow_array(name, values):
    kind = ARROW[name]
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).view(kind)
    if pa.types.is_date(kind):
        return pa.array(values, pa.int32()).view(kind)
    return pa.array(values, kind)


def with_pyarrow(name, rows, **options):
    columns = [(kind, [maybe_null(SIMPLE[kind], 0.2)() for _ in range(rows)]) for kind in ARROW]
    table = pa.table([arrow_array(kind, [v for v, _ in made]) for kind, made in columns], names=list(ARROW))
    pa.orc.write_table(table, os.path.join(OUT, f"{name}.orc"), **options)
    save(name, zip(*[[canonical for _, canonical in made] for _, made in columns]))


def pyarrow_files():
    for version in ("0.11", "0.12"):
        for compression in ("uncompressed", "zlib", "snappy", "lz4", "zstd"):
            with_pyarrow(f"pyarrow-{version}-{compression}", 2000, file_version=version, compression=compression, stripe_size=30_000, batch_size=100)
    with_pyarrow("pyarrow-dictionary", 3000, dictionary_key_size_threshold=1.0, row_index_stride=500, compression_strategy="compression")
    with_pyarrow("pyarrow-bloom", 3000, bloom_filter_columns=list(range(len(ARROW))), padding_tolerance=0.3, compression_block_size=131_072)


os.makedirs(OUT, exist_ok=True)
pyorc_files()
pyarrow_files()
