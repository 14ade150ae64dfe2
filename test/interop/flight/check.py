"""pyarrow.flight against `skep data`. `check.py ADDRESS`; prints `N passed, M failed`. Tables are made by scripts/interop-flight.mjs."""
import decimal
import json
import multiprocessing
import os
import signal
import sys
import threading
import time

import pyarrow as pa
import pyarrow.flight as fl

ADDRESS = sys.argv[1]
D = decimal.Decimal
passed = failed = 0


def connect():
    return fl.connect("grpc://" + ADDRESS)


client = connect()


def command(**fields):
    return fl.FlightDescriptor.for_command(json.dumps(fields))


def read(*args, **fields):
    info = client.get_flight_info(command(**fields) if fields else fl.FlightDescriptor.for_path(*args))
    tables = [client.do_get(e.ticket).read_all() for e in info.endpoints]
    table = pa.concat_tables(tables) if tables else info.schema.empty_table()
    assert table.schema.equals(info.schema), (table.schema, info.schema)
    act("release", txnId=json.loads(info.app_metadata)["txnId"]) if "txnId" not in str(fields.get("snapshot")) else None
    return table


def act(name, **fields):
    results = list(client.do_action(fl.Action(name, json.dumps(fields).encode())))
    return json.loads(results[0].body.to_pybytes())


def put(table, /, **fields):
    writer, reader = client.do_put(command(**fields), table.schema)
    with writer:
        writer.write_table(table)
        writer.done_writing()
        answer = reader.read()
    return json.loads(answer.to_pybytes())


def same(found, wanted):
    assert found == wanted, f"\n found {found}\nwanted {wanted}"


def fails(kind, text, run):
    try:
        run()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"nothing failed; wanted {kind.__name__}: {text}")


def check(run):
    global passed, failed
    try:
        run()
        passed += 1
    except Exception as error:  # noqa: BLE001 - the next check goes on
        failed += 1
        print(f"{run.__name__}: {type(error).__name__}: {error}", file=sys.stderr)


ALL = pa.schema(
    [
        ("b", pa.bool_()), ("i1", pa.int8()), ("i2", pa.int16()), ("i4", pa.int32()), ("i8", pa.int64()),
        ("f4", pa.float32()), ("f8", pa.float64()), ("s", pa.string()), ("vc", pa.string()), ("ch", pa.string()),
        ("bin", pa.binary()), ("d", pa.date32()), ("ts", pa.timestamp("ns")), ("dec", pa.decimal128(38, 10)),
        ("l", pa.list_(pa.int32())), ("m", pa.map_(pa.string(), pa.int64())),
        ("st", pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])),
    ]
)
ROWS = [
    dict(b=True, i1=-128, i2=-32768, i4=-(2**31), i8=-(2**63), f4=0.5, f8=1e300, s="zoë\0", vc="abc", ch="ab",
         bin=b"\0\xff", d=-719162, ts=-86400000000001, dec=D("-9999999999999999999999999999.9999999999"), l=[1, None, 3],
         m=[("k", 1), ("n", None)], st={"x": 1, "y": ["a", None]}),
    dict.fromkeys(ALL.names),
    dict(b=False, i1=127, i2=32767, i4=2**31 - 1, i8=2**63 - 1, f4=-0.0, f8=-1.5, s="", vc="", ch="x", bin=b"",
         d=2932896, ts=1577836800123456789, dec=D("0.0000000001"), l=[], m=[], st={"x": None, "y": []}),
]


def table_of(schema, rows):
    return pa.table({name: pa.array([row[name] for row in rows], schema.field(name).type) for name in schema.names}, schema=schema)


def golden_rows():
    same(sorted(read("default", "golden").to_pylist(), key=lambda r: r["id"]),
         [{"id": 1, "name": "one"}, {"id": 3, "name": "THREE"}, {"id": 4, "name": None}])


def all_types_there_and_back():
    written = table_of(ALL, ROWS)
    report = put(written, table="types")
    same(report["rows"], 3)
    found = read("default", "types")
    for name in ALL.names:
        wanted = written[name].combine_chunks()
        if name == "ch":
            same([v and v.rstrip() for v in found[name].to_pylist()], wanted.to_pylist())
        else:
            assert found[name].combine_chunks().cast(wanted.type).equals(wanted), (name, found[name], wanted)


def rules_of_insert():
    t = pa.table({"id": pa.array([1], pa.int64()), "vc": ["abcdef"], "dec": pa.array([D("1.2350")], pa.decimal128(12, 4))})
    put(t, table="rules")
    same(read("default", "rules").to_pylist(), [{"id": 1, "vc": "abc", "dec": D("1.24"), "def": "given"}])
    fails(pa.ArrowInvalid, "NOT NULL constraint violated", lambda: put(pa.table({"id": pa.array([None], pa.int32())}), table="rules"))
    fails(pa.ArrowInvalid, "CHECK constraint violated", lambda: put(pa.table({"id": pa.array([-1], pa.int32())}), table="rules"))
    fails(pa.ArrowInvalid, "Invalid column reference 'nope'", lambda: put(pa.table({"nope": [1]}), table="rules"))
    same(read("default", "rules").num_rows, 1)


def partitions():
    put(pa.table({"id": pa.array([1, 2], pa.int32()), "day": ["2020-01-01", "2020-01-02"]}), table="parted")
    put(pa.table({"id": pa.array([3], pa.int32())}), table="parted", partition={"day": "2020-01-03"})
    info = client.get_flight_info(command(table="parted", filter={"op": ">=", "column": "day", "value": "2020-01-02"}))
    same(len(info.endpoints), 2)
    same(sorted(read(table="parted", columns=["id"]).to_pydict()["id"]), [1, 2, 3])
    put(pa.table({"id": pa.array([9], pa.int32())}), table="parted", partition={"day": "2020-01-03"}, mode="overwrite")
    same(sorted(read(table="parted", columns=["id"]).to_pydict()["id"]), [1, 2, 9])


def filters():
    ids = lambda f: sorted(read(table="numbers", columns=["id"], filter=f).to_pydict()["id"])  # noqa: E731
    same(ids({"op": "=", "column": "v", "value": 1}), [1])
    same(ids({"op": "<>", "column": "v", "value": 1}), [2])
    same(ids({"op": "not", "arg": {"op": "in", "column": "v", "values": [1, None]}}), [])
    same(ids({"op": "<=>", "column": "v", "value": None}), [3])
    same(ids({"op": "or", "args": [{"op": "isNull", "column": "v"}, {"op": "between", "column": "v", "low": 2, "high": 3}]}), [2, 3])


def a_transaction():
    txn = act("begin")["txnId"]
    put(pa.table({"id": pa.array([100], pa.int32())}), table="numbers", txnId=txn)
    same(read(table="numbers").num_rows, 3)
    same(read(table="numbers", snapshot={"txnId": txn}).num_rows, 4)
    act("heartbeat", txnId=txn)
    act("abort", txnId=txn)
    same(read(table="numbers").num_rows, 3)
    fails(KeyError, "none of the transactions", lambda: act("commit", txnId=txn))


def a_mutation():
    def change(snapshot):
        rows = read(table="mutable", rowIds=True)
        same(rows.num_rows, 3)
        rows = rows.sort_by("id").append_column("operation", pa.array(["update", "delete", "insert"]))
        rows = rows.set_column(rows.schema.names.index("v"), "v", pa.array(["changed", "gone", "new"]))
        return put(rows, table="mutable", mode="mutate", **snapshot)
    before = json.loads(client.get_flight_info(command(table="mutable")).app_metadata)  # kept: not released
    report = change({"snapshot": {"validTxns": before["validTxns"]}})
    same((report["inserted"], report["deleted"]), (2, 2))
    same(sorted(read("mutable").to_pydict()["v"]), ["changed", "new", "three"])
    # What was read before that may not be changed any more.
    fails(Exception, "write conflict", lambda: change({"snapshot": {"validTxns": before["validTxns"]}}))
    same(sorted(read("mutable").to_pydict()["v"]), ["changed", "new", "three"])


def what_clients_send():
    def sent(column, values, name="t"):
        put(pa.table({column: values}), table="sent", mode="overwrite")
        return read(table="sent", columns=[column]).to_pydict()[column]
    same(sent("i", pa.array([1, None], pa.int64())), [1, None])
    same(sent("i", pa.array([7], pa.uint64())), [7])
    fails(pa.ArrowInvalid, "1099511627776 is no int", lambda: sent("i", pa.array([2**40])))
    same(sent("a", pa.array([[1, None], [], None])), [[1, None], [], None])
    fails(pa.ArrowInvalid, "is no int", lambda: sent("a", pa.array([[2**40]])))
    same(sent("a", pa.array([["5", "x"]])), [[5, None]])
    fails(pa.ArrowInvalid, "Cannot convert column a", lambda: sent("a", pa.array([{"x": 1}])))
    same(sent("s", pa.array([{"y": "q", "x": 1}], pa.struct([("Y", pa.large_string()), ("X", pa.int64())]))), [{"x": None, "y": None}])
    same(sent("s", pa.array([{"y": "q", "x": 1}], pa.struct([("y", pa.string()), ("x", pa.int64())]))), [{"x": 1, "y": "q"}])
    same(sent("u", pa.array(["a", None, "a"]).dictionary_encode()), ["a", None, "a"])
    same(sent("u", pa.array(["view", None], pa.string_view())), ["view", None])
    same(sent("d", pa.array([D("1.5"), None], pa.decimal32(5, 1))), [D("1.50"), None])
    same(sent("d", pa.array([D("-1.5")], pa.decimal256(20, 1))), [D("-1.50")])
    same(sent("d", pa.array([3], pa.uint64())), [D("3.00")])
    # Slices, batches without rows, one that is larger than gRPC's own limit of 4 MiB.
    rows = pa.table({"i": pa.array(range(200_000), pa.int32()), "u": ["x" * 400] * 200_000}).combine_chunks()
    batch = rows.to_batches()[0]
    writer, reader = client.do_put(command(table="sent", mode="overwrite"), rows.schema)
    with writer:
        for part in [batch.slice(5, 0), batch.slice(0, 3), batch.slice(3)]:
            writer.write_batch(part)
        writer.done_writing()
        same(json.loads(reader.read().to_pybytes())["inserted"], 200_000)
    found = read(table="sent", columns=["i"])
    same(sum(found["i"].to_pylist()), 199_999 * 100_000)
    info = client.get_flight_info(command(table="sent", columns=[]))
    same(sum(client.do_get(e.ticket).read_all().num_rows for e in info.endpoints), 200_000)


def a_stale_mutation():
    rows = read(table="numbers", rowIds=True)
    # The snapshot goes with the rows, also back to the service.
    assert b"skep.validTxns" in rows.append_column("operation", [["update"] * 3]).slice(1).schema.metadata, rows.schema
    put(rows.slice(0, 1).append_column("operation", [["update"]]), table="numbers", mode="mutate")
    stale = rows.append_column("operation", [["delete"] * rows.num_rows])
    fails(Exception, "it was changed or deleted since it was read", lambda: put(stale, table="numbers", mode="mutate"))
    same(read(table="numbers").num_rows, rows.num_rows)
    fails(pa.ArrowInvalid, "an update brings the whole row", lambda: put(
        read(table="numbers", columns=["id"], rowIds=True).append_column("operation", [["update"] * 3]), table="numbers", mode="mutate"))
    ids = read(table="numbers", columns=[], rowIds=True)
    put(ids.slice(0, 1).append_column("operation", [["delete"]]), table="numbers", mode="mutate")
    same(read(table="numbers").num_rows, 2)


def read_in_process(tickets, queue):
    other = connect()
    queue.put([v for t in tickets for v in other.do_get(fl.Ticket(t)).read_all()["id"].to_pylist()])


def two_processes_read_the_splits_of_a_table():
    info = client.get_flight_info(command(table="split"))
    tickets = [e.ticket.ticket for e in info.endpoints]
    assert len(tickets) >= 4, len(tickets)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=read_in_process, args=(tickets[i::2], queue)) for i in range(2)]
    for w in workers:
        w.start()
    both = [queue.get(timeout=60) for _ in workers]
    assert all(both), "each has rows"
    same(sorted(both[0] + both[1]), list(range(400)))


def write_for_ever():
    writer, _ = connect().do_put(command(table="killed"), pa.schema([("id", pa.int32())]))
    while True:
        writer.write_table(pa.table({"id": pa.array(range(50_000), pa.int32())}))


def a_client_killed_in_do_put_leaves_nothing():
    process = multiprocessing.get_context("spawn").Process(target=write_for_ever)
    process.start()
    time.sleep(3)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    for _ in range(50):
        if not [t for t in act("list-snapshots")["openTxns"] if t["txnId"] not in KEPT]:
            break
        time.sleep(0.1)
    same(read("killed").num_rows, 0)
    folder = os.path.join(os.environ["SKEP_HOME"], "warehouse", "killed")
    left = [f for _, _, files in os.walk(folder) for f in files]
    same(left, [])


def a_thousand_streams():
    info = client.get_flight_info(command(table="split"))
    ticket = max(info.endpoints, key=lambda e: len(e.app_metadata)).ticket
    readers = [client.do_get(ticket) for _ in range(1000)]
    counts = []
    lock = threading.Lock()

    def drain(part):
        for r in part:
            rows = r.read_all().num_rows
            with lock:
                counts.append(rows)
    threads = [threading.Thread(target=drain, args=(readers[i::20],)) for i in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    same(len(counts), 1000)
    assert len(set(counts)) == 1 and counts[0] > 0, set(counts)


def tickets():
    info = client.get_flight_info(command(table="golden"))
    forged = bytearray(info.endpoints[0].ticket.ticket)
    forged[-3] ^= 1
    fails(pa.ArrowInvalid, "was not made here", lambda: client.do_get(fl.Ticket(bytes(forged))).read_all())
    act("release", txnId=json.loads(info.app_metadata)["txnId"])
    fails(Exception, "ask for new tickets", lambda: client.do_get(info.endpoints[0].ticket).read_all())


def what_there_is():
    names = {tuple(p.decode() for p in f.descriptor.path) for f in client.list_flights()}
    assert ("default", "golden") in names and ("default", "text_table") in names, names
    same(client.get_schema(command(table="golden")).schema.names, ["id", "name"])
    same({a.type for a in client.list_actions()},
         {"begin", "commit", "abort", "heartbeat", "release", "compact", "list-snapshots", "compact-folder", "discard-compaction",
          "folder-owner", "CreatePreparedStatement", "ClosePreparedStatement"})
    fails(Exception, "is not its message", lambda: list(client.do_action(("compact-folder", b"{}"))))
    same(sorted(read("text_table").to_pydict()["id"]), [1, 2])
    same(sorted(read("parquet_table").to_pydict()["id"]), [1, 2])
    same(sorted(read("insert_only").to_pydict()["id"]), [1, 2])


KEPT = set()
if __name__ == "__main__":
    for run in [golden_rows, all_types_there_and_back, rules_of_insert, partitions, filters, a_transaction, a_mutation,
                what_clients_send, a_stale_mutation, two_processes_read_the_splits_of_a_table, tickets, what_there_is]:
        check(run)
    KEPT |= {t["txnId"] for t in act("list-snapshots")["openTxns"]}
    check(a_client_killed_in_do_put_leaves_nothing)
    check(a_thousand_streams)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
