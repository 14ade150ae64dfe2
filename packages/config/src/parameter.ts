/** What a value must look like. `time` values take a unit (`300s`, `5min`); `unit` is the one of a bare number. */
export type ParameterType = 'boolean' | 'int' | 'long' | 'float' | 'string' | 'time';

export type TimeUnit = 'ns' | 'us' | 'ms' | 's' | 'min' | 'h' | 'd';

/**
 * What setting it does here:
 * `yes` as in Hive; `fixed` skep always does what the default says, another value gets a note; `none` it cannot apply
 * here and says so; `accepted` it changes how Hive would run a statement, not what comes out, so it is taken silently.
 */
export type Effect = 'yes' | 'fixed' | 'none' | 'accepted';

/** One parameter of Hive (HiveConf, MetastoreConf) or a property of a table, and what becomes of it here. */
export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly default: string;
  /** Hive's own default where skep's is another. */
  readonly hiveDefault?: string;
  readonly unit?: TimeUnit;
  readonly doc: string;
  readonly effect: Effect;
  /** Why it is fixed or has no effect. */
  readonly why?: string;
  /** A MetastoreConf key: its primary name has `metastore.` for `hive.`, and both work. */
  readonly inMetastoreConf?: boolean;
  /** Other current names. */
  readonly aliases?: readonly string[];
  /** Old or misspelt names: they work, with a note. */
  readonly deprecated?: readonly string[];
  /** The only values allowed, compared in lower case. */
  readonly values?: readonly string[];
  /** Of a time: in ms; 0 where it is absent. */
  readonly min?: number;
  readonly max?: number;
  /** Where it is written: a session or site parameter unless it says otherwise. */
  readonly place?: 'table property' | 'request property' | 'Hadoop';
}
