"""ADBC's Flight SQL driver against a Flight service of ours. SKEP_FLIGHT: its address; SKEP_TABLES: the tables of Hive in it (server.ts)."""
import json
import os
import sys
import warnings

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow as pa

passed = failed = 0


def check(what, run, expected):
    global passed, failed
    try:
        found = run()
    except Exception as error:  # noqa: BLE001 - the next check goes on
        found = f"{type(error).__name__}: {error}"
    if callable(expected) and expected(found) or found == expected:
        passed += 1
    else:
        failed += 1
        print(f"{what}: {found}", file=sys.stderr)


def fetched(statement):
    cursor.execute(statement)
    return cursor.fetchall()


warnings.simplefilter("ignore")
# Their timestamps have nanoseconds and years before 1678: only both numbers hold them.
FORM = {"adbc.flight.sql.rpc.call_header.skep-timestamps": "struct"}
address = "grpc://" + os.environ["SKEP_FLIGHT"]
with dbapi.connect(address, db_kwargs=FORM, autocommit=True) as connection, connection.cursor() as cursor:
    for table in json.load(open(os.environ["SKEP_TABLES"])):
        name = f"`{table['database']}`.`{table['table']}`"
        rows = len(table["rows"])
        # Recorded under a list of write ids; statements see what is committed here, which is all.
        if table["writeIds"].split(":")[3:] != ["", ""]:
            continue
        check(f"count of {name}", lambda: fetched(f"select count(*) from {name}"), [(rows,)])
        check(f"rows of {name}", lambda: (cursor.execute(f"select * from {name}"), cursor.fetch_arrow_table().num_rows)[1], rows)
    data = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "name": ["Jerry", "Tom", None], "tags": [["a"], [], None]})
    check("create", lambda: cursor.adbc_ingest("adbc", data, mode="create"), 3)
    check("create again", lambda: cursor.adbc_ingest("adbc", data, mode="create"), lambda e: "ALREADY_EXISTS" in e)
    check("append", lambda: cursor.adbc_ingest("adbc", data.slice(0, 1), mode="append"), 1)
    check("select", lambda: fetched("select id, name from adbc where id > 1 order by id"), [(2, "Tom"), (3, None)])
    check("update", lambda: fetched("update adbc set name = 'Kate' where id = 3"), [])
    check("delete", lambda: connection.cursor().execute("delete from adbc where id = 2").fetchall(), [])
    check("after", lambda: (cursor.execute("select * from adbc order by id, name"), cursor.fetch_arrow_table().to_pydict())[1],
          {"id": [1, 1, 3], "name": ["Jerry", "Jerry", "Kate"], "tags": [["a"], ["a"], None]})
    check("schema", lambda: connection.adbc_get_table_schema("adbc", db_schema_filter="default").names, ["id", "name", "tags"])
    check("types", connection.adbc_get_table_types, ["TABLE"])
    check("info", lambda: connection.adbc_get_info()["vendor_name"], "skep")
    check("error", lambda: fetched("select nope from adbc"), lambda e: "Invalid table alias or column reference 'nope'" in e)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
