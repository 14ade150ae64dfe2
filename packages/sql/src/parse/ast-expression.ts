import type { Query } from './ast-query.js';
import type { TypeNode } from './ast-type.js';

/**
 * Where a node stands in its statement's text. `line` counts from 1 and `column` from 0, as Hive prints them
 * (ParseException "line 1:24"); `text.slice(start, end)` is the node's own text (UTF-16 units).
 */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

export interface Node {
  readonly position: Position;
}

/** A name as written: backticks removed, letter case kept (Hive folds table, column and function names to lower case later). */
export interface Identifier extends Node {
  readonly name: string;
  readonly quoted: boolean;
}

/** `table` or `db.table`; a third part is a metadata table (`db.t.files`). */
export interface TableName extends Node {
  readonly database?: Identifier;
  readonly name: Identifier;
  readonly metadataTable?: Identifier;
}

export type TimeUnit = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'dow' | 'hour' | 'minute' | 'second';
export type IntervalUnit = TimeUnit | 'year to month' | 'day to second';

export interface NullLiteral extends Node {
  readonly kind: 'null';
}
export interface BooleanLiteral extends Node {
  readonly kind: 'boolean';
  readonly value: boolean;
}
/** Escapes are resolved and adjacent literals concatenated. */
export interface StringLiteral extends Node {
  readonly kind: 'string';
  readonly value: string;
}
/**
 * `text` is the number without its suffix and without a sign (a minus is a `unary` node around it). Suffix: Y tinyint,
 * S smallint, L bigint, D double, BD decimal; '' lets the text decide (an integer, a decimal, a double where it has an exponent).
 */
export interface NumberLiteral extends Node {
  readonly kind: 'number';
  readonly text: string;
  readonly suffix: '' | 'Y' | 'S' | 'L' | 'D' | 'BD';
}
/** `DATE '…'`, `TIMESTAMP '…'`, `TIMESTAMP WITH LOCAL TIME ZONE '…'` (also TIMESTAMPLOCALTZ); `value` unchecked. */
export interface DateLiteral extends Node {
  readonly kind: 'date';
  readonly value: string;
}
export interface TimestampLiteral extends Node {
  readonly kind: 'timestamp';
  readonly value: string;
  readonly localTimeZone: boolean;
}
/** `INTERVAL '1' DAY`, `INTERVAL (a + 1) MONTH`, `3 DAYS`: a string or number literal, or any expression. */
export interface IntervalExpression extends Node {
  readonly kind: 'interval';
  readonly value: Expression;
  readonly unit: IntervalUnit;
}
/** CURRENT_DATE, CURRENT_TIMESTAMP without parentheses come as `function` calls; DEFAULT in VALUES and SET is this node. */
export interface DefaultKeyword extends Node {
  readonly kind: 'default';
}
/** `?` of a prepared statement. */
export interface ParameterExpression extends Node {
  readonly kind: 'parameter';
}
/**
 * A chain of names: `c`, `t.c`, `db.t.c`, `c.field`, `t.c.field.inner`. Which part is table, column or struct field is the
 * analyser's decision. Never empty.
 */
export interface ColumnReference extends Node {
  readonly kind: 'column';
  readonly path: readonly Identifier[];
}
/** `expression.field` where the base is not a plain chain of names: `a[0].x`, `f(x).y`. */
export interface FieldAccess extends Node {
  readonly kind: 'field';
  readonly base: Expression;
  readonly field: Identifier;
}
/** `array[i]`, `map['k']`. */
export interface IndexAccess extends Node {
  readonly kind: 'index';
  readonly base: Expression;
  readonly index: Expression;
}
/** `!x` is 'not'. */
export interface UnaryExpression extends Node {
  readonly kind: 'unary';
  readonly operator: '-' | '+' | '~' | 'not';
  readonly operand: Expression;
}
/** `==` is '=', `!=` is '<>'. */
export type ComparisonOperator = '=' | '<=>' | '<>' | '<' | '<=' | '>' | '>=';
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | 'div' | '&' | '|' | '^' | '||';
export type BinaryOperator = ComparisonOperator | ArithmeticOperator;

export interface BinaryExpression extends Node {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}
/** AND and OR chains are flat (at least two operands), so that a WHERE of thousands of terms is not thousands of levels deep. */
export interface LogicalExpression extends Node {
  readonly kind: 'logical';
  readonly operator: 'and' | 'or';
  readonly operands: readonly Expression[];
}
/** `x IS [NOT] NULL | TRUE | FALSE | UNKNOWN`. */
export interface IsExpression extends Node {
  readonly kind: 'is';
  readonly operand: Expression;
  readonly test: 'null' | 'true' | 'false' | 'unknown';
  readonly negated: boolean;
}
/** `a IS [NOT] DISTINCT FROM b`; `negated` is the form with NOT, which means `<=>`. */
export interface IsDistinctExpression extends Node {
  readonly kind: 'is-distinct';
  readonly left: Expression;
  readonly right: Expression;
  readonly negated: boolean;
}
export interface InListExpression extends Node {
  readonly kind: 'in-list';
  readonly operand: Expression;
  readonly items: readonly Expression[];
  readonly negated: boolean;
}
export interface InSubqueryExpression extends Node {
  readonly kind: 'in-subquery';
  readonly operand: Expression;
  readonly query: Query;
  readonly negated: boolean;
}
export interface BetweenExpression extends Node {
  readonly kind: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
}
/** LIKE, RLIKE and REGEXP (its synonym: comes as 'rlike'). `quantifier` with several patterns is `LIKE ANY (…)`, `LIKE ALL (…)`. */
export interface LikeExpression extends Node {
  readonly kind: 'like';
  readonly operator: 'like' | 'rlike';
  readonly operand: Expression;
  readonly patterns: readonly Expression[];
  readonly quantifier?: 'any' | 'all';
  readonly negated: boolean;
}
export interface ExistsExpression extends Node {
  readonly kind: 'exists';
  readonly query: Query;
}
/** A scalar subquery. */
export interface SubqueryExpression extends Node {
  readonly kind: 'subquery';
  readonly query: Query;
}
/** `a = ANY (SELECT …)`, `a <> ALL (SELECT …)`; SOME is ANY. */
export interface QuantifiedComparison extends Node {
  readonly kind: 'quantified-comparison';
  readonly operator: ComparisonOperator;
  readonly quantifier: 'any' | 'all';
  readonly operand: Expression;
  readonly query: Query;
}
/** `(a, b)` as in `(a, b) IN ((1, 2))`: a struct without names. */
export interface RowExpression extends Node {
  readonly kind: 'row';
  readonly items: readonly Expression[];
}
export interface CaseExpression extends Node {
  readonly kind: 'case';
  readonly operand?: Expression;
  readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
  readonly otherwise?: Expression;
}
export interface CastExpression extends Node {
  readonly kind: 'cast';
  readonly operand: Expression;
  readonly type: TypeNode;
  readonly format?: string;
}
export interface ExtractExpression extends Node {
  readonly kind: 'extract';
  readonly unit: TimeUnit;
  readonly operand: Expression;
}
/** `FLOOR(x TO month)`. */
export interface FloorToExpression extends Node {
  readonly kind: 'floor-to';
  readonly operand: Expression;
  readonly unit: TimeUnit;
}
/** `TRIM([BOTH | LEADING | TRAILING] [characters] FROM x)`; plain `trim(x)` is a `function`. */
export interface TrimExpression extends Node {
  readonly kind: 'trim';
  readonly mode: 'both' | 'leading' | 'trailing';
  readonly characters?: Expression;
  readonly operand: Expression;
}
/** `name` is lower case, `db.f` for a qualified one. `f(*)` has `star` and no arguments. */
export interface FunctionCall extends Node {
  readonly kind: 'function';
  readonly name: string;
  readonly arguments: readonly Expression[];
  readonly distinct: boolean;
  readonly star: boolean;
  readonly nulls?: 'ignore' | 'respect';
  readonly withinGroup?: readonly OrderItem[];
  readonly over?: WindowSpecification;
}

/** `t.*` or `*` among the arguments of a function: `count(t.*)`, `struct(*)`. `f(*)` alone is `star` of the call. */
export interface AllColumnsExpression extends Node {
  readonly kind: 'all-columns';
  readonly qualifier: readonly Identifier[];
}

export interface OrderItem extends Node {
  readonly expression: Expression;
  readonly direction: 'asc' | 'desc';
  /** undefined where not written: Hive's default then follows `hive.default.nulls.last`. */
  readonly nulls?: 'first' | 'last';
}

/** `OVER w` has only `reference`; `OVER (w PARTITION BY …)` both. DISTRIBUTE BY and SORT BY (CLUSTER BY) inside OVER come as these. */
export interface WindowSpecification extends Node {
  readonly reference?: Identifier;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  readonly frame?: WindowFrame;
}
export interface WindowFrame extends Node {
  readonly unit: 'rows' | 'range';
  readonly start: FrameBound;
  /** Absent in the short form (`ROWS 2 PRECEDING`): CURRENT ROW. */
  readonly end?: FrameBound;
}
export type FrameBound =
  | { readonly kind: 'unbounded-preceding' | 'current-row' | 'unbounded-following' }
  | { readonly kind: 'preceding' | 'following'; readonly value: Expression };

export type Literal = NullLiteral | BooleanLiteral | StringLiteral | NumberLiteral | DateLiteral | TimestampLiteral;

export type Expression =
  | Literal
  | IntervalExpression
  | DefaultKeyword
  | ParameterExpression
  | ColumnReference
  | FieldAccess
  | IndexAccess
  | UnaryExpression
  | BinaryExpression
  | LogicalExpression
  | IsExpression
  | IsDistinctExpression
  | InListExpression
  | InSubqueryExpression
  | BetweenExpression
  | LikeExpression
  | ExistsExpression
  | SubqueryExpression
  | QuantifiedComparison
  | RowExpression
  | CaseExpression
  | CastExpression
  | ExtractExpression
  | FloorToExpression
  | TrimExpression
  | AllColumnsExpression
  | FunctionCall;
