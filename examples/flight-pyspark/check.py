"""Tables of Hive read by Spark equal what Hive read. Run by scripts/interop-flight-clients.mjs: SKEP_FLIGHT, SKEP_TABLES."""

import json
import os
import sys

from flight_table import FlightTable, local_spark

address = os.environ["SKEP_FLIGHT"]
with open(os.environ["SKEP_TABLES"]) as file:
    tables = json.load(file)
passed = failed = 0


def check(what, actual, expected):
    global passed, failed
    if actual == expected:
        passed += 1
    else:
        failed += 1
        print(f"  FAIL {what}: {actual}, expected {expected}")


def text(value):
    return "NULL" if value is None else str(value)


def flight(table):
    return FlightTable(address, table["database"], table["table"], snapshot={"writeIds": table["writeIds"]})


# Python and Hive write these alike.
simple = [t for t in tables if all(column.split(":")[1] in ("int", "bigint", "string") for column in t["columns"])]
planned = sorted(((flight(t), t) for t in simple), key=lambda pair: -pair[0].splits)
spark = local_spark()
try:
    chosen = [*planned[:4], *[pair for pair in planned[4:] if pair[1]["partitionColumns"]][:2]]
    check("tables of several splits", [f.splits > 1 for f, _ in chosen[:4]], [True] * 4)
    for table, golden in chosen:
        name = f"{golden['database']}.{golden['table']}"
        frame = table.dataframe(spark)
        check(f"{name}: one task a split", frame.rdd.getNumPartitions(), table.splits)
        rows = sorted("\t".join(text(value) for value in row) for row in frame.collect())
        skip = 1 if golden["rowIds"] else 0
        check(name, rows, sorted("\t".join(row.split("\t")[skip:]) for row in golden["rows"]))
    every = next(t for t in tables if t["database"] == "types_all_major")
    types = FlightTable(address, every["database"], every["table"], filter={"op": "=", "column": "k", "value": 1})
    rows = types.dataframe(spark).where("bi > 0").select("k", "d", "de", "s", "ts", "m", "st.y", "n").collect()
    check("all types", [tuple(row)[:2] for row in rows], [(1, 1.7976931348623157e308)])
    check("nested values", (rows[0]["m"], rows[0]["y"], rows[0]["n"][0]["q"]), ({"nine": 9}, "nine", [1.5, -2.5]))
    check("a timestamp", str(rows[0]["ts"]), "1900-01-01 00:00:00.500000")
    types.release()
finally:
    spark.stop()
    for table, _ in planned:
        table.release()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
