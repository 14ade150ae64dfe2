"""Compares pyarrow's reading of an ORC file with canonical rows on stdin (scripts/canonical.mjs)."""

import decimal
import json
import struct
import sys

import pyarrow as pa
import pyarrow.orc as orc


decimal.getcontext().prec = 80


def canonical(scalar):
    kind = scalar.type
    if not scalar.is_valid and not pa.types.is_union(kind):
        return None
    if pa.types.is_list(kind):
        return [canonical(item) for item in scalar.values]
    if pa.types.is_map(kind):
        return [[canonical(entry["key"]), canonical(entry["value"])] for entry in scalar.values]
    if pa.types.is_struct(kind):
        return [canonical(scalar[i]) for i in range(kind.num_fields)]
    if pa.types.is_union(kind):
        # pyarrow's unions have no NULL of their own: it becomes a NULL of alternative 0.
        inner = None if scalar.value is None else canonical(scalar.value)
        return None if inner is None else [scalar.type_code, inner]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return str(scalar.value)
    return simple(scalar.as_py(), kind)


def simple(value, kind):
    if value is None:
        return None
    if pa.types.is_boolean(kind):
        return value
    if pa.types.is_floating(kind):
        return "nan" if value != value else format(struct.unpack(">Q", struct.pack(">d", value))[0], "x")
    if pa.types.is_decimal(kind):
        return str(int(value.scaleb(kind.scale).to_integral_value()))
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else str(value)


def column(array):
    """Dates and timestamps as integers: Python's own types hold neither nanoseconds nor all years."""
    kind = array.type
    if pa.types.is_nested(kind):
        return [canonical(scalar) for scalar in array]
    if pa.types.is_date32(kind):
        array = array.view(pa.int32())
    if pa.types.is_timestamp(kind):
        array = array.view(pa.int64())
    return [simple(value, array.type) for value in array.to_pylist()]


def without_blanks(value):
    if isinstance(value, list):
        return [without_blanks(item) for item in value]
    return value.rstrip(" ") if isinstance(value, str) else value


def without_null_unions(row):
    return [None if isinstance(v, list) and len(v) == 2 and v[1] is None and isinstance(v[0], int) else v for v in row]


path = sys.argv[1]
file = orc.ORCFile(path)
mismatches = 0
rows = 0
for stripe in range(file.nstripes):
    batch = file.read_stripe(stripe)
    columns = [column(array) for array in batch.columns]
    for r in range(batch.num_rows):
        theirs = [values[r] for values in columns]
        line = sys.stdin.readline()
        ours = json.loads(line) if line else "no row"
        rows += 1
        # CHAR is padded with blanks in pyarrow, not in our vectors.
        if without_blanks(ours) == without_blanks(theirs):
            continue
        if ours != theirs and without_null_unions(ours) != theirs:
            mismatches += 1
            if mismatches <= 3:
                print(f"  row {rows - 1}\n    ours   {ours}\n    theirs {theirs}")
extra = len(sys.stdin.readlines())
print(f"{'same' if mismatches == 0 and extra == 0 else 'DIFFERENT'} {rows} rows, {mismatches} differ, {extra} more of ours: {path}")
sys.exit(mismatches > 0 or extra > 0)
