// The Flight client of arrow-go reads the recorded tables of Hive, copies them with DoPut, changes and deletes rows by their
// ROW__IDs, and uses transactions, actions and errors. SKEP_FLIGHT: the service's address; SKEP_TABLES: a file with the JSON of
// test/interop/flight/server.ts. Prints a line a failure and the counts; ends with 1 if one failed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// goldenTable is what server.ts tells of a table.
type goldenTable struct {
	Database, Table, Copy, WriteIds string
	Columns, PartitionColumns, Rows []string
	RowIds                          bool
}

type command map[string]any

var passed, failed int

func check(what string, actual, expected any) bool {
	a, b := fmt.Sprintf("%q", actual), fmt.Sprintf("%q", expected)
	if a == b {
		passed++
		return true
	}
	failed++
	fmt.Printf("  FAIL %s: %s, expected %s\n", what, a, b)
	return false
}

// must ends the run where a call fails that nothing after it can do without.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Printf("  FAIL %v\n%d passed, %d failed\n", err, passed, failed+1)
		os.Exit(1)
	}
	return value
}

func main() {
	var tables []goldenTable
	text := must(os.ReadFile(os.Getenv("SKEP_TABLES")))
	must(0, json.Unmarshal(text, &tables))
	insecureChannel := grpc.WithTransportCredentials(insecure.NewCredentials())
	c := client{must(flight.NewClientWithMiddleware(os.Getenv("SKEP_FLIGHT"), nil, nil, insecureChannel))}
	for _, t := range tables {
		c.readsAndCopies(t)
	}
	c.lists(tables)
	c.changesRows(tables)
	c.transactions(tables)
	c.refusals(tables)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

type client struct{ flight.Client }

func deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

func descriptor(of command) *flight.FlightDescriptor {
	return &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: must(json.Marshal(of))}
}

// batches reads every split of what a command asks for. The caller releases the batches.
func (c client) batches(of command) (*arrow.Schema, []arrow.RecordBatch, error) {
	ctx, cancel := deadline()
	defer cancel()
	info, err := c.GetFlightInfo(ctx, descriptor(of))
	if err != nil {
		return nil, nil, err
	}
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	var out []arrow.RecordBatch
	for _, endpoint := range info.Endpoint {
		stream, err := c.DoGet(ctx, endpoint.Ticket)
		if err != nil {
			return nil, nil, err
		}
		reader, err := flight.NewRecordReader(stream)
		if err != nil {
			return nil, nil, err
		}
		if !reader.Schema().Equal(schema) {
			return nil, nil, fmt.Errorf("DoGet's schema %v is not GetFlightInfo's %v", reader.Schema(), schema)
		}
		for reader.Next() {
			batch := reader.RecordBatch()
			batch.Retain()
			out = append(out, batch)
		}
		if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		reader.Release()
	}
	var meta struct{ TxnId json.Number }
	if err := json.Unmarshal(info.AppMetadata, &meta); err != nil {
		return nil, nil, err
	}
	if snapshot, ok := of["snapshot"].(command); !ok || snapshot["txnId"] == nil {
		_, err = c.act("release", command{"txnId": meta.TxnId})
	}
	return schema, out, err
}

// rows is the text of all rows that a command asks for, sorted.
func (c client) rows(of command) ([]string, error) {
	_, batches, err := c.batches(of)
	if err != nil {
		return nil, err
	}
	return textOf(batches)
}

// put writes batches of one schema, and tells what the service says of it.
func (c client) put(of command, schema *arrow.Schema, batches []arrow.RecordBatch) (map[string]any, error) {
	ctx, cancel := deadline()
	defer cancel()
	stream, err := c.DoPut(ctx)
	if err != nil {
		return nil, err
	}
	writer := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	writer.SetFlightDescriptor(descriptor(of))
	for _, batch := range batches {
		// A stream that was refused ends early: why, is told by Recv.
		if err := writer.Write(batch); err != nil {
			break
		}
	}
	_ = writer.Close()
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	answer := map[string]any{}
	for {
		result, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return answer, nil
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(result.AppMetadata, &answer); err != nil {
			return nil, err
		}
	}
}

// act is the answer of an action.
func (c client) act(name string, body command) (map[string]any, error) {
	ctx, cancel := deadline()
	defer cancel()
	stream, err := c.DoAction(ctx, &flight.Action{Type: name, Body: must(json.Marshal(body))})
	if err != nil {
		return nil, err
	}
	result, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	answer := map[string]any{}
	return answer, json.Unmarshal(result.Body, &answer)
}

func (c client) readsAndCopies(t goldenTable) {
	what := t.Database + "." + t.Table
	as := command{"database": t.Database, "table": t.Table, "timestamps": "struct", "snapshot": command{"writeIds": t.WriteIds}}
	expected := slices.Sorted(slices.Values(t.Rows))
	if t.RowIds {
		withIds := command{"rowIds": true}
		for key, value := range as {
			withIds[key] = value
		}
		check(what+" with ROW__IDs", must(c.rows(withIds)), expected)
		for i, row := range expected {
			expected[i] = row[strings.Index(row, "\t")+1:]
		}
		slices.Sort(expected)
	}
	schema, batches, err := c.batches(as)
	if err != nil {
		check(what, err, nil)
		return
	}
	check(what, must(textOf(batches)), expected)
	report, err := c.put(command{"database": t.Database, "table": t.Copy}, schema, batches)
	if err != nil {
		check(what+" copied", err, nil)
		return
	}
	check(what+" copied: rows", report["rows"], float64(len(t.Rows)))
	check(what+" copied", must(c.rows(command{"database": t.Database, "table": t.Copy, "timestamps": "struct"})), expected)
}

func (c client) lists(tables []goldenTable) {
	ctx, cancel := deadline()
	defer cancel()
	stream := must(c.ListFlights(ctx, &flight.Criteria{Expression: must(json.Marshal(command{"database": tables[0].Database}))}))
	var names []string
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		names = append(names, strings.Join(must(info, err).FlightDescriptor.Path, "."))
	}
	var expected []string
	for _, t := range tables {
		if t.Database == tables[0].Database {
			expected = append(expected, t.Database+"."+t.Table, t.Database+"."+t.Copy)
		}
	}
	slices.Sort(expected)
	slices.Sort(names)
	check("ListFlights", names, expected)
	path := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{tables[0].Database, tables[0].Table}}
	result := must(c.GetSchema(ctx, path))
	schema := must(flight.DeserializeSchema(result.Schema, memory.DefaultAllocator))
	var fields []string
	for _, field := range schema.Fields() {
		hive, _ := field.Metadata.GetValue("orc.type")
		fields = append(fields, field.Name+":"+hive)
	}
	check("GetSchema", fields, tables[0].Columns)
}

// full is a full ACID table with rows and without partitions, whose first column is an int.
func full(tables []goldenTable) goldenTable {
	for _, t := range tables {
		if t.RowIds && len(t.PartitionColumns) == 0 && len(t.Rows) > 2 && strings.HasSuffix(t.Columns[0], ":int") {
			return t
		}
	}
	panic("no table to change")
}

// withOperations puts the operation of each row behind a batch's columns.
func withOperations(schema *arrow.Schema, batch arrow.RecordBatch, operations []string) (*arrow.Schema, arrow.RecordBatch) {
	builder := array.NewStringBuilder(memory.DefaultAllocator)
	builder.AppendValues(operations, nil)
	fields := append(slices.Clone(schema.Fields()), arrow.Field{Name: "operation", Type: arrow.BinaryTypes.String})
	wider := arrow.NewSchema(fields, nil)
	return wider, array.NewRecordBatch(wider, append(slices.Clone(batch.Columns()), builder.NewArray()), batch.NumRows())
}

func (c client) changesRows(tables []goldenTable) {
	t := full(tables)
	table := command{"database": t.Database, "table": t.Copy, "timestamps": "struct"}
	before := must(c.rows(table))
	schema, batches, err := c.batches(command{"database": t.Database, "table": t.Copy, "rowIds": true})
	must(0, err)
	first := batches[0]
	deleted := must(textOf([]arrow.RecordBatch{first.NewSlice(0, 1)}))[0]
	wider, events := withOperations(schema, first.NewSlice(0, 1), []string{"delete"})
	report := must(c.put(command{"database": t.Database, "table": t.Copy, "mode": "mutate"}, wider, []arrow.RecordBatch{events}))
	check("a row deleted", report["deleted"], 1.0)
	at := slices.Index(before, deleted[strings.Index(deleted, "\t")+1:])
	after := slices.Delete(slices.Clone(before), at, at+1)
	check("rows after a delete", must(c.rows(table)), after)
}

func (c client) transactions(tables []goldenTable) {
	t := full(tables)
	copyOf := command{"database": t.Database, "table": t.Copy}
	before := must(c.rows(copyOf))
	schema, batches, err := c.batches(command{"database": t.Database, "table": t.Table})
	must(0, err)
	for _, end := range []string{"abort", "commit"} {
		txn := must(c.act("begin", command{}))["txnId"]
		must(c.put(command{"database": t.Database, "table": t.Copy, "txnId": txn}, schema, batches))
		inside := must(c.rows(command{"database": t.Database, "table": t.Copy, "snapshot": command{"txnId": txn}}))
		check("rows that the transaction itself sees", len(inside) > len(before), true)
		check("rows outside before "+end, must(c.rows(copyOf)), before)
		must(c.act(end, command{"txnId": txn}))
		seen := must(c.rows(copyOf))
		if end == "commit" {
			before = inside
		}
		check("rows after "+end, seen, before)
	}
}

// refusals: the status and the words of what cannot be.
func (c client) refusals(tables []goldenTable) {
	t := full(tables)
	refused := func(what string, err error, code codes.Code, words string) {
		found := status.Convert(err)
		if check(what, found.Code().String(), code.String()) {
			check(what+": "+found.Message(), strings.Contains(found.Message(), words), true)
		}
	}
	_, err := c.rows(command{"database": t.Database, "table": "nowhere"})
	refused("no table", err, codes.InvalidArgument, "nowhere")
	_, err = c.rows(command{"database": t.Database, "table": t.Table, "columns": []string{"nothing"}})
	refused("no column", err, codes.InvalidArgument, "nothing")
	_, err = c.rows(command{"database": t.Database, "table": t.Table, "colums": []string{}})
	refused("no such field", err, codes.InvalidArgument, "colums")
	_, err = c.act("fly", command{})
	refused("no action", err, codes.InvalidArgument, "fly")
	_, err = c.act("commit", command{"txnId": 999_999_999})
	refused("no transaction", err, codes.NotFound, "999999999")
	ctx, cancel := deadline()
	defer cancel()
	stream := must(c.DoGet(ctx, &flight.Ticket{Ticket: []byte("self-made")}))
	_, err = stream.Recv()
	refused("a ticket of others", err, codes.InvalidArgument, "ticket")
}
