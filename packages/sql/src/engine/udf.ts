import { VectorBuilder, type VectorValue, vectorValue } from '@skep/orc';
import type { Udf } from '../emit/udf.js';
import { toTypeDescription } from '../types/orc-type.js';
import type { Connection, Duck } from './bindings.js';
import { fillVector } from './fill-vector.js';
import { logicalType } from './logical-type.js';
import { readVector } from './read-vector.js';

/** Registers a function with DuckDB. `fail` keeps the error that DuckDB would only pass on as text. */
export function registerUdf(duck: Duck, connection: Connection, udf: Udf, fail: (error: unknown) => void): void {
  const fn = duck.create_scalar_function();
  duck.scalar_function_set_name(fn, udf.sqlName);
  for (const type of udf.parameters) duck.scalar_function_add_parameter(fn, logicalType(duck, type));
  duck.scalar_function_set_return_type(fn, logicalType(duck, udf.returns));
  duck.scalar_function_set_special_handling(fn);
  if (udf.volatile) duck.scalar_function_set_volatile(fn);
  const builder = new VectorBuilder(toTypeDescription(udf.returns));
  duck.scalar_function_set_function(fn, (info, input, output) => {
    try {
      const count = duck.data_chunk_get_size(input);
      const columns = udf.parameters.map((type, i) =>
        readVector(duck, type, duck.data_chunk_get_vector(input, i), count),
      );
      if (udf.vectorBody !== undefined) {
        fillVector(duck, udf.returns, output, udf.vectorBody(columns, count), 0, count);
        return;
      }
      const args: VectorValue[] = new Array(columns.length);
      for (let row = 0; row < count; row++) {
        let anyNull = false;
        for (let i = 0; i < columns.length; i++) {
          args[i] = vectorValue(columns[i], row);
          if (args[i] === null) anyNull = true;
        }
        builder.append(anyNull && !udf.onNull ? null : udf.body(...args));
      }
      fillVector(duck, udf.returns, output, builder.build(), 0, count);
    } catch (error) {
      builder.build();
      fail(error);
      duck.scalar_function_set_error(info, error instanceof Error ? error.message : String(error));
    }
  });
  duck.register_scalar_function(connection, fn);
}
