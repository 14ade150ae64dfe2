package main

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// textOf is Hive's text of every row, ROW__ID first where there is one, sorted.
func textOf(batches []arrow.RecordBatch) ([]string, error) {
	out := []string{}
	for _, batch := range batches {
		for row := 0; row < int(batch.NumRows()); row++ {
			var cells []string
			for i, column := range batch.Columns() {
				field := batch.Schema().Field(i)
				text, err := cell(field, column, row, false)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", field.Name, err)
				}
				if field.Name == "row__id" {
					cells = slices.Insert(cells, 0, text)
				} else {
					cells = append(cells, text)
				}
			}
			out = append(out, strings.Join(cells, "\t"))
		}
	}
	slices.Sort(out)
	return out, nil
}

func hiveType(field arrow.Field) string {
	name, _ := field.Metadata.GetValue("orc.type")
	return name
}

// cell is Hive's text of one value; nested values are JSON.
func cell(field arrow.Field, column arrow.Array, row int, nested bool) (string, error) {
	if column.IsNull(row) {
		if nested {
			return "null", nil
		}
		return "NULL", nil
	}
	text := func(s string) string {
		if nested {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
		}
		return s
	}
	switch values := column.(type) {
	case *array.Boolean:
		return strconv.FormatBool(values.Value(row)), nil
	case *array.Int8:
		return strconv.Itoa(int(values.Value(row))), nil
	case *array.Int16:
		return strconv.Itoa(int(values.Value(row))), nil
	case *array.Int32:
		return strconv.Itoa(int(values.Value(row))), nil
	case *array.Int64:
		return strconv.FormatInt(values.Value(row), 10), nil
	case *array.Float32:
		return javaDouble(float64(values.Value(row)), 32), nil
	case *array.Float64:
		return javaDouble(values.Value(row), 64), nil
	case *array.String:
		return text(padded(values.Value(row), hiveType(field))), nil
	case *array.Binary:
		return text(string(values.Value(row))), nil
	case *array.Date32:
		return text(values.Value(row).ToTime().Format(time.DateOnly)), nil
	case *array.Decimal128:
		scale := values.DataType().(*arrow.Decimal128Type).Scale
		return new(big.Rat).SetFrac(values.Value(row).BigInt(), power(int64(scale))).FloatString(int(scale)), nil
	case *array.Map:
		from, to := values.ValueOffsets(row)
		entries := values.ListValues().DataType().(*arrow.StructType)
		return join("{", "}", int(from), int(to), func(i int) (string, error) {
			key, err := cell(entries.Field(0), values.Keys(), i, true)
			if err != nil {
				return "", err
			}
			value, err := cell(entries.Field(1), values.Items(), i, true)
			return key + ":" + value, err
		})
	case *array.List:
		from, to := values.ValueOffsets(row)
		element := values.DataType().(*arrow.ListType).ElemField()
		return join("[", "]", int(from), int(to), func(i int) (string, error) {
			return cell(element, values.ListValues(), i, true)
		})
	case *array.Struct:
		if hiveType(field) == "timestamp" {
			return text(timestamp(values, row)), nil
		}
		fields := values.DataType().(*arrow.StructType).Fields()
		return join("{", "}", 0, len(fields), func(i int) (string, error) {
			value, err := cell(fields[i], values.Field(i), row, true)
			return strconv.Quote(fields[i].Name) + ":" + value, err
		})
	}
	return "", fmt.Errorf("no text of %v", column.DataType())
}

// padded is a char with the blanks that Hive shows; DoGet sends it without, as files hold it.
func padded(value, hive string) string {
	length := 0
	if _, err := fmt.Sscanf(hive, "char(%d)", &length); err != nil {
		return value
	}
	return value + strings.Repeat(" ", max(0, length-utf8.RuneCountInString(value)))
}

func join(open, end string, from, to int, part func(int) (string, error)) (string, error) {
	var parts []string
	for i := from; i < to; i++ {
		text, err := part(i)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return open + strings.Join(parts, ",") + end, nil
}

func power(scale int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil) }

// timestamp is "timestamps": "struct": seconds since 1970 and nanoseconds.
func timestamp(values *array.Struct, row int) string {
	seconds := values.Field(0).(*array.Int64).Value(row)
	nanos := values.Field(1).(*array.Int32).Value(row)
	return time.Unix(seconds, int64(nanos)).UTC().Format("2006-01-02 15:04:05.999999999")
}

// javaDouble is Java's Double.toString (or Float.toString): never less than one digit behind the point.
func javaDouble(value float64, bits int) string {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 0):
		return strings.Replace(strconv.FormatFloat(value, 'f', -1, bits), "Inf", "Infinity", 1)
	case value == 0:
		return strings.Replace(strconv.FormatFloat(value, 'f', 1, bits), "+", "", 1)
	}
	if size := math.Abs(value); size >= 1e-3 && size < 1e7 {
		text := strconv.FormatFloat(value, 'f', -1, bits)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	text := strconv.FormatFloat(value, 'e', -1, bits)
	if !strings.Contains(text, ".") {
		text = strconv.FormatFloat(value, 'e', 1, bits)
	}
	digits, exponent, _ := strings.Cut(text, "e")
	power, _ := strconv.Atoi(exponent)
	return digits + "E" + strconv.Itoa(power)
}
