"""Reads the files of make-files.mjs with pyarrow and pyorc and compares every row. Usage: check-files.py DIR"""

import decimal
import glob
import json
import math
import sys

import pyarrow as pa
import pyarrow.orc
import pyorc
from pyorc.converters import ORCConverter
from pyorc.enums import StructRepr, TypeKind


# decimal(38) has more digits than Python's default context keeps.
decimal.getcontext().prec = 60


class Raw(ORCConverter):
    """Keeps what the file says, where Python's own types are narrower."""

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


CONVERTERS = {TypeKind.TIMESTAMP: Nanos, TypeKind.TIMESTAMP_INSTANT: Nanos, TypeKind.DATE: Raw, TypeKind.DECIMAL: Raw}


def plain_arrow(scalar):
    """The form of the expected values: see make-files.mjs."""
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return scalar.value
    if pa.types.is_binary(kind):
        return scalar.as_py().hex()
    if pa.types.is_decimal(kind):
        return int(scalar.as_py().scaleb(kind.scale).to_integral_value())
    if pa.types.is_map(kind):
        return [[plain_arrow(e["key"]), plain_arrow(e["value"])] for e in scalar.values or []]
    if pa.types.is_list(kind):
        return [plain_arrow(e) for e in scalar.values]
    if pa.types.is_struct(kind):
        return [plain_arrow(scalar[i]) for i in range(len(kind))]
    if pa.types.is_union(kind):
        return {"tag": scalar.type_code, "value": plain_arrow(scalar.value)}
    return scalar.as_py()


def plain_pyorc(kind, value):
    if value is None:
        return None
    name = kind.kind.name
    if name == "LIST":
        return [plain_pyorc(kind.type, e) for e in value]
    if name == "MAP":
        return [[k, plain_pyorc(kind.value, v)] for k, v in value.items()]
    if name == "STRUCT":
        return [plain_pyorc(k, v) for k, v in zip(kind.fields.values(), value)]
    if name == "UNION":
        return {"tag": None, "value": value}
    if name == "BINARY":
        return value.hex()
    if name == "DECIMAL":
        text = str(value)
        whole, _, fraction = text.partition(".")
        return int(whole + fraction.ljust(kind.scale, "0"))
    return value


def same(expected, got):
    if isinstance(expected, dict):
        # Neither reader tells a NULL union from a NULL alternative.
        if got is None:
            return expected["value"] is None
        return isinstance(got, dict) and got["tag"] in (None, expected["tag"]) and same(expected["value"], got["value"])
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, str) and isinstance(got, int) and not isinstance(got, bool):
        return int(expected) == got
    if isinstance(got, float):
        return isinstance(expected, (int, float)) and (
            expected == got or math.isnan(expected) and math.isnan(got)
        )
    return type(expected) is type(got) and expected == got


def compare(what, expected, rows):
    count = 0
    for number, row in enumerate(rows):
        if number >= len(expected) or not same(expected[number], row):
            wanted = expected[number] if number < len(expected) else "no more rows"
            for i, (a, b) in enumerate(zip(wanted, row)):
                if not same(a, b):
                    print(f"  column {i}: expected {a!r}, got {b!r}")
            print(f"FAILED {what} row {number}")
            return 1
        count += 1
    if count != len(expected):
        print(f"FAILED {what}: {count} rows, expected {len(expected)}")
        return 1
    return 0


def seek(what, expected, reader, kinds):
    """Jumps to rows: what it finds there depends on the positions in the row index."""
    for row in range(3, len(expected), max(1, len(expected) // 100)):
        try:
            reader.seek(row)
        except pyorc.errors.ParseError as error:
            # liborc cannot skip nothing at all in a direct text column, in its own files neither.
            if "lastBuffer_ is null" in str(error):
                continue
            raise
        got = [plain_pyorc(k, v) for k, v in zip(kinds, next(reader))]
        if compare(f"{what} {row}", [expected[row]], [got]):
            return 1
    return 0


def main():
    failed = checked = 0
    for path in sorted(glob.glob(sys.argv[1] + "/*.orc")):
        with open(path.replace(".orc", ".jsonl"), encoding="utf-8") as lines:
            head, *expected = [json.loads(line) for line in lines]
        table = pa.orc.ORCFile(path).read()
        columns = [[plain_arrow(scalar) for scalar in column] for column in table.columns]
        failed += compare(f"{path} pyarrow", expected, [list(row) for row in zip(*columns)])
        with open(path, "rb") as data:
            reader = pyorc.Reader(data, converters=CONVERTERS, struct_repr=StructRepr.TUPLE)
            kinds = list(reader.schema.fields.values())
            rows = [[plain_pyorc(k, v) for k, v in zip(kinds, row)] for row in reader]
            failed += compare(f"{path} pyorc", expected, rows)
            failed += seek(f"{path} pyorc seek", expected, reader, kinds)
        checked += 3
    print(f"{checked - failed} passed, {failed} failed")
    return 1 if failed or not checked else 0


sys.exit(main())
