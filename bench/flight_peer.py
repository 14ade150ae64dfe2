"""The Python side of `npm run bench -- flight`: one request a line; seconds over Flight and with pyarrow.orc as the answer."""
import glob
import json
import sys
import time

import pyarrow as pa
import pyarrow.flight as flight
import pyarrow.orc as orc

pa.set_cpu_count(1)
pa.set_io_thread_count(1)
client = flight.connect(f"grpc://{sys.argv[1]}")
sources = {}


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def command(**fields):
    return flight.FlightDescriptor.for_command(json.dumps(fields))


def act(name, **body):
    return list(client.do_action((name, json.dumps(body).encode())))


def get(name):
    info = client.get_flight_info(command(table=name))
    table = pa.concat_tables([client.do_get(endpoint.ticket).read_all() for endpoint in info.endpoints])
    act("release", txnId=json.loads(info.app_metadata)["txnId"])
    return table


def put(name, table):
    # Each round has the table's rows once.
    writer, reader = client.do_put(command(table=name, mode="overwrite"), table.schema)
    with writer:
        writer.write_table(table, max_chunksize=65536)
        writer.done_writing()
        reader.read()


def read_files(folder):
    files = sorted(glob.glob(f"{folder}/*/bucket_*"))[-1:]
    # The rows without their ACID columns.
    return pa.concat_tables([orc.ORCFile(path).read(columns=["row"]) for path in files])


for line in sys.stdin:
    request = json.loads(line)
    name, source = request["table"], request["source"]
    try:
        if name not in sources:
            sources.clear()
            sources[name] = orc.ORCFile(source).read()
        table = sources[name]
        if request["op"] == "put":
            seconds, _ = timed(lambda: put(name, table))
            codec = request["codec"].replace("none", "uncompressed")
            peer, _ = timed(lambda: orc.write_table(table, request["target"], compression=codec))
        else:
            seconds, got = timed(lambda: get(name))
            assert got.num_rows == table.num_rows, got.num_rows
            peer, read = timed(lambda: read_files(request["files"]))
            assert read.num_rows == table.num_rows, read.num_rows
        answer = {"seconds": seconds, "peerSeconds": peer, "bytes": table.nbytes}
    except Exception as error:  # the other side prints it
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
