import { castSql } from '../emit/cast.js';
import { UdfCollector } from '../emit/udfs.js';
import type { Position } from '../parse/ast-expression.js';
import { type HiveType, typeName } from '../types/hive-type.js';
import { isDateOrTime, isNumeric, isTime } from '../types/type-rules.js';
import { semantic, wrongArguments } from './errors.js';
import { derive, type Expr } from './expr.js';

/** What an expression is analysed in. */
export interface ExpressionContext {
  readonly currentDatabase: string;
  /** A parameter's value (hive.groupby.position.alias, …); undefined means Hive's default. */
  conf?(name: string): string | undefined;
  /** The statement's text: error messages quote from it. */
  readonly text?: string | undefined;
  /** Milliseconds since the epoch: current_timestamp. */
  readonly now?: number | undefined;
  readonly user?: string | undefined;
}

/** What operators and functions need of a statement's analysis: its settings, its text, the functions it calls, CAST. */
export class ExpressionAnalysis<Context extends ExpressionContext = ExpressionContext> {
  readonly udfs = new UdfCollector();

  constructor(readonly context: Context) {}

  flag(name: string, byDefault: boolean): boolean {
    const value = this.context.conf?.(name);
    return value === undefined ? byDefault : value.toLowerCase() === 'true';
  }

  /** The statement's own text of a node. */
  text(position: Position): string {
    return this.context.text?.slice(position.start, position.end) ?? '';
  }

  /** The value as `to` (CAST's rules); an error where Hive has no such conversion. */
  cast(value: Expr, to: HiveType): Expr {
    const { type } = value;
    if (type === to) return value;
    if (this.flag('hive.strict.timestamp.conversion', true)) this.checkTimestampConversion(value, to);
    const sql = castSql(this.udfs, value.sql, type, to, value.literal !== undefined);
    if (sql === undefined) {
      throw wrongArguments(
        this.text(value.position),
        `No matching method for cast of ${typeName(type)} to ${typeName(to)}`,
        value.position,
      );
    }
    return derive(value, to, sql);
  }

  private checkTimestampConversion({ type, position }: Expr, to: HiveType): void {
    const integral = (t: HiveType) => (isNumeric(t) && t.kind !== 'decimal') || t.kind === 'boolean';
    if (isDateOrTime(type) && integral(to)) {
      throw strictConversion(
        literalText(this.text(position)),
        'Casting DATE/TIMESTAMP types to NUMERIC is prohibited',
        position,
      );
    }
    if (isNumeric(type) && isTime(to)) {
      throw strictConversion(
        literalText(this.text(position)),
        'Casting NUMERIC types to TIMESTAMP is prohibited',
        position,
      );
    }
  }
}

/** Hive quotes a date or timestamp literal without its keyword. */
const literalText = (text: string): string => text.replace(/^(date|timestamp)\s+(?=['"])/i, '');

const strictConversion = (what: string, why: string, position: Position) =>
  semantic(`Line 0:-1 Wrong arguments '${what}': ${why} (hive.strict.timestamp.conversion)`, position);
