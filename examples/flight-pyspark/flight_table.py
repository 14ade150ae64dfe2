"""A table of Hive as a Spark DataFrame, without Hive: one task reads one split over Arrow Flight.

    npx skep data --listen 127.0.0.1:9084                       # in one shell, on the home with the table
    python flight_table.py 127.0.0.1:9084 default emp           # in another: pip install pyspark pyarrow
"""

import json
import os
import sys

import pyarrow as pa
import pyarrow.flight as flight
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

# Spark's timestamps have microseconds.
COMMON = {"timestamps": "us"}


class FlightTable:
    """A snapshot of a table, planned once by the driver. It lasts until `release`, or until its tickets expire."""

    def __init__(self, address: str, database: str, table: str, **command):
        self.address = address
        command = {**COMMON, "database": database, "table": table, **command}
        descriptor = flight.FlightDescriptor.for_command(json.dumps(command))
        with flight.connect(f"grpc://{address}") as client:
            self.info = client.get_flight_info(descriptor)

    @property
    def splits(self) -> int:
        return len(self.info.endpoints)

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """Each endpoint is a row of its own partition, which the task turns into the rows of its split."""
        schema = from_arrow_schema(self.info.schema)
        if self.splits == 0:
            return spark.createDataFrame([], schema)
        endpoints = [(e.ticket.ticket, [loc.uri.decode() for loc in e.locations]) for e in self.info.endpoints]
        tickets = spark.sparkContext.parallelize(endpoints, self.splits).toDF("ticket binary, locations array<string>")
        return tickets.mapInArrow(reader(self.address), schema)

    def release(self) -> None:
        """Lets the Cleaner go on: no task may read after that."""
        body = json.dumps({"txnId": json.loads(self.info.app_metadata)["txnId"]}).encode()
        with flight.connect(f"grpc://{self.address}") as client:
            list(client.do_action(("release", body)))


def reader(address: str):
    """What a task does: it needs nothing but its tickets and where the service is."""

    def read(batches):
        for batch in batches:
            for endpoint in batch.to_pylist():
                # A split may be read at any of its locations; without one, where it was planned.
                where = endpoint["locations"][0] if endpoint["locations"] else f"grpc://{address}"
                with flight.connect(where) as client:
                    for chunk in client.do_get(flight.Ticket(endpoint["ticket"])):
                        yield plain(chunk.data)

    return read


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Spark compares schemas without the metadata of fields."""
    fields = [pa.field(field.name, field.type, field.nullable) for field in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields))


def local_spark() -> SparkSession:
    # The tasks' Python is the driver's: it has pyarrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("skep over Arrow Flight")
    # Timestamps of Hive have no zone: Spark must not read them in its own.
    settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.host": "127.0.0.1"}
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # Tasks on other hosts know this module by that.
    spark.sparkContext.addPyFile(os.path.abspath(__file__))
    return spark


if __name__ == "__main__":
    table = FlightTable(*sys.argv[1:4])
    session = local_spark()
    try:
        frame = table.dataframe(session)
        print(f"{table.splits} splits, {frame.rdd.getNumPartitions()} tasks")
        frame.printSchema()
        frame.show()
    finally:
        session.stop()
        table.release()
