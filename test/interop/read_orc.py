"""Reads ORC files with pyarrow and prints their rows, one file a line, values in a form that two programs can agree on."""
import datetime
import decimal
import json
import struct
import sys

import pyarrow as pa
import pyarrow.orc as orc


def canonical(value, kind):
    if value is None:
        return None
    if pa.types.is_boolean(kind):
        return "true" if value else "false"
    if pa.types.is_integer(kind):
        return str(value)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return struct.pack(">d", value).hex()
    if pa.types.is_decimal(kind):
        return format(decimal.Decimal(value), "f")
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return value.hex()
    if pa.types.is_date(kind):
        return str((value - datetime.date(1970, 1, 1)).days)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [canonical(item, kind.value_type) for item in value]
    if pa.types.is_map(kind):
        return [[canonical(k, kind.key_type), canonical(v, kind.item_type)] for k, v in value]
    if pa.types.is_struct(kind):
        return [canonical(value[field.name], field.type) for field in kind]
    return value


def column(array):
    kind = array.type
    if pa.types.is_timestamp(kind):
        # Python's datetime has no nanoseconds.
        scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit]
        return [None if v is None else str(v * scale) for v in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_struct(kind):
        # Through its fields, so that timestamps inside keep their nanoseconds.
        parts = [column(child) for child in array.flatten()]
        valid = array.is_valid().to_pylist()
        return [list(row) if ok else None for ok, row in zip(valid, zip(*parts))]
    return [canonical(value, kind) for value in array.to_pylist()]


for path in sys.argv[1:] or [line.strip() for line in sys.stdin if line.strip()]:
    try:
        table = orc.ORCFile(path).read().combine_chunks()
        columns = [column(table.column(i).combine_chunks()) for i in range(table.num_columns)]
        rows = [list(row) for row in zip(*columns)]
        print(json.dumps({"path": path, "rows": rows}, ensure_ascii=False))
    except Exception as error:  # what went wrong is an answer too
        print(json.dumps({"path": path, "error": f"{type(error).__name__}: {error}"}))
