"""The pyarrow side of `npm run bench -- orc`: one request a line, seconds of the median round as the answer."""
import json
import sys
import time

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.orc as orc

pa.set_cpu_count(1)
pa.set_io_thread_count(1)


clock = time.perf_counter


def median(rounds, work):
    times = []
    for _ in range(rounds):
        start = clock()
        work()
        times.append(clock() - start)
    return sorted(times)[len(times) // 2]


def sink_write(table, compression):
    sink = pa.BufferOutputStream()
    orc.write_table(table, sink, compression=compression)
    return sink.getvalue()


tables = {}
target = None
for line in sys.stdin:
    request = json.loads(line)
    clock = time.process_time if request["cpu"] else time.perf_counter
    try:
        if request["op"] == "write":
            source = request["source"]
            if source not in tables:
                tables.clear()
                tables[source] = orc.ORCFile(source).read()
            table, compression = tables[source], request["compression"]
            seconds = median(request["rounds"], lambda: sink_write(table, compression))
            if target != request["target"]:
                target = request["target"]
                with open(target, "wb") as out:
                    out.write(sink_write(table, compression))
        elif request["op"] == "filter":
            field, low, high = ds.field(request["column"]), request["low"], request["high"]
            seconds = median(
                request["rounds"],
                lambda: ds.dataset(request["path"], format="orc").to_table(filter=(field >= low) & (field <= high), use_threads=False),
            )
        else:
            data = pa.py_buffer(open(request["path"], "rb").read())
            columns = request.get("columns")
            seconds = median(request["rounds"], lambda: orc.ORCFile(pa.BufferReader(data)).read(columns=columns))
        answer = {"seconds": seconds}
    except Exception as error:  # the other side prints it
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
