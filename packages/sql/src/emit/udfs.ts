import { type HiveType, typeName } from '../types/hive-type.js';
import type { Udf, UdfBody } from './udf.js';

/** The functions in JavaScript that one query needs. */
export class UdfCollector {
  private readonly byName = new Map<string, Udf>();

  /** SQL of a call. `name` and the types identify the function: the same name must always come with the same body. */
  call(
    name: string,
    parameters: readonly HiveType[],
    returns: HiveType,
    args: readonly string[],
    body: UdfBody,
    options: Partial<Pick<Udf, 'onNull' | 'volatile' | 'vectorBody'>> = {},
  ): string {
    const types = [...parameters, returns].map(typeName).join('_');
    const sqlName = `js_${`${name}_${types}`.replace(/[^a-z0-9_]/gi, (c) => `$${c.charCodeAt(0).toString(16)}`)}`;
    const quoted = `"${sqlName}"`;
    if (!this.byName.has(sqlName)) {
      this.byName.set(sqlName, {
        sqlName,
        parameters,
        returns,
        body,
        onNull: options.onNull ?? false,
        volatile: options.volatile ?? false,
        vectorBody: options.vectorBody,
      });
    }
    return `${quoted}(${args.join(', ')})`;
  }

  get all(): readonly Udf[] {
    return [...this.byName.values()];
  }
}
