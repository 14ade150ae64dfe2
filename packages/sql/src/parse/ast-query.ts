import type { RowFormat, StorageFormat } from './ast-ddl.js';
import type {
  Expression,
  FunctionCall,
  Identifier,
  Node,
  NumberLiteral,
  OrderItem,
  ParameterExpression,
  TableName,
  WindowSpecification,
} from './ast-expression.js';

/** ORDER BY … LIMIT belong to the whole body, also where that is a UNION. `LIMIT m, n` comes as offset m, limit n. */
export interface Query extends Node {
  readonly kind: 'query';
  readonly with: readonly CommonTableExpression[];
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly distributeBy: readonly Expression[];
  readonly sortBy: readonly OrderItem[];
  readonly clusterBy: readonly Expression[];
  readonly limit?: NumberLiteral | ParameterExpression;
  readonly offset?: NumberLiteral | ParameterExpression;
}

/** A `Query` as body is one in parentheses. */
export type QueryBody = Select | SetOperation | Values | Query;

export interface CommonTableExpression extends Node {
  readonly name: Identifier;
  readonly columns?: readonly Identifier[];
  readonly query: Query;
}

/** Of `from t select a` (FROM first) the same node comes as of `select a from t`. */
export interface Select extends Node {
  readonly kind: 'select';
  readonly distinct: boolean;
  /** The text inside a hint comment (slash, star, plus), without the marks. */
  readonly hints?: string;
  readonly items: readonly SelectItem[];
  /** Set for SELECT TRANSFORM (…) USING '…', MAP and REDUCE: a script, its inputs are then `items`. */
  readonly transform?: ScriptTransform;
  readonly from?: TableReference;
  readonly where?: Expression;
  readonly groupBy?: GroupBy;
  readonly having?: Expression;
  readonly qualify?: Expression;
  readonly windows: readonly NamedWindow[];
}
export type SelectItem = StarItem | ExpressionItem;
/** `*`, `t.*`, `db.t.*`. */
export interface StarItem extends Node {
  readonly kind: 'star';
  readonly qualifier: readonly Identifier[];
}
/** `aliases` has several names for a table-generating function: `posexplode(a) AS (pos, val)`. */
export interface ExpressionItem extends Node {
  readonly kind: 'expression';
  readonly expression: Expression;
  readonly alias?: Identifier;
  readonly aliases?: readonly Identifier[];
}
export interface ScriptTransform extends Node {
  readonly script: string;
  readonly columns: readonly Identifier[];
}
/** `sets` only for grouping sets; `expressions` are then the keys before GROUPING SETS. `GROUP BY ()` is plain and empty. */
export interface GroupBy extends Node {
  readonly mode: 'plain' | 'rollup' | 'cube' | 'grouping-sets';
  readonly expressions: readonly Expression[];
  readonly sets?: readonly (readonly Expression[])[];
}
export interface NamedWindow extends Node {
  readonly name: Identifier;
  readonly specification: WindowSpecification;
}

/** Equal operators in a row are flat: `a UNION ALL b UNION ALL c` is one node of three branches; otherwise the left is a branch. MINUS is except. */
export interface SetOperation extends Node {
  readonly kind: 'set-operation';
  readonly operator: 'union' | 'intersect' | 'except';
  readonly all: boolean;
  readonly branches: readonly QueryBody[];
}
/** Rows as written; INSERT … VALUES and (VALUES …) AS v. */
export interface Values extends Node {
  readonly kind: 'values';
  readonly rows: readonly (readonly Expression[])[];
}

export type TableReference = TableSource | SubquerySource | ValuesSource | Join | LateralView;

export interface TableSource extends Node {
  readonly kind: 'table';
  readonly table: TableName;
  readonly alias?: Identifier;
  readonly sample?: TableSample;
  /** FOR SYSTEM_TIME | SYSTEM_VERSION AS OF. */
  readonly asOf?: { readonly kind: 'time' | 'version'; readonly value: Expression };
}
export interface SubquerySource extends Node {
  readonly kind: 'subquery';
  readonly query: Query;
  readonly alias?: Identifier;
  readonly columns?: readonly Identifier[];
}
/** `(VALUES …) AS v(x, y)`, `TABLE(VALUES …) AS v(x, y)`, and `LATERAL TABLE(VALUES …)`, whose expressions see the tables to its left. */
export interface ValuesSource extends Node {
  readonly kind: 'values';
  readonly rows: readonly (readonly Expression[])[];
  readonly alias?: Identifier;
  readonly columns?: readonly Identifier[];
  readonly lateral: boolean;
}
/** A comma is 'cross'; JOIN without ON is 'inner' without `on`. */
export interface Join extends Node {
  readonly kind: 'join';
  readonly type: 'inner' | 'left' | 'right' | 'full' | 'cross' | 'left-semi' | 'left-anti';
  readonly left: TableReference;
  readonly right: TableReference;
  readonly on?: Expression;
  readonly using?: readonly Identifier[];
}
export interface LateralView extends Node {
  readonly kind: 'lateral-view';
  readonly input: TableReference;
  readonly outer: boolean;
  readonly function: FunctionCall;
  readonly alias: Identifier;
  readonly columns: readonly Identifier[];
}
export type TableSample =
  | {
      readonly kind: 'bucket';
      readonly numerator: number;
      readonly denominator: number;
      readonly on: readonly Expression[];
    }
  | { readonly kind: 'percent' | 'rows'; readonly value: string }
  /** A size such as `100M`. */
  | { readonly kind: 'bytes'; readonly value: string };

/** `PARTITION (ds='x', hr)`: without a value the partition is dynamic. */
export interface PartitionSpec extends Node {
  readonly columns: readonly PartitionColumn[];
}
export interface PartitionColumn extends Node {
  readonly column: Identifier;
  readonly value?: Expression;
}

export type InsertTarget = InsertTable | InsertDirectory;
export interface InsertTable extends Node {
  readonly kind: 'table';
  readonly overwrite: boolean;
  readonly table: TableName;
  readonly partition?: PartitionSpec;
  readonly ifNotExists: boolean;
  readonly columns?: readonly Identifier[];
}
export interface InsertDirectory extends Node {
  readonly kind: 'directory';
  readonly local: boolean;
  readonly path: string;
  readonly rowFormat?: RowFormat;
  readonly storage?: StorageFormat;
}
