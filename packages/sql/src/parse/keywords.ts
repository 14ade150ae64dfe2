const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words Hive 4.0.1 refuses as a name without backticks, recorded by asking its parser for each keyword. */
export const RESERVED = words(`
  all alter and any application array as authorization between bigint binary boolean both by case cast char column commit
  compactionid conf constraint convert create cross cube current current_date current_timestamp cursor database date ddl dec
  decimal delete describe distinct div double drop else end except exchange exists extended external extract false fetch float
  floor following for force foreign from full function grant group grouping having if import in inner insert int integer
  intersect interval into is join lateral leading left less like local macro map merge minus more none not null numeric of
  older on only or order out outer over partition percent pkfk_join preceding precision prepare preserve primary procedure
  qualify range reads real reduce references regexp revoke right rlike rollback rollup row rows select set smallint some start
  sync table tablesample than then time timestamp timestamplocaltz to trailing transform trigger true truncate unbounded
  union unique uniquejoin update user using values varchar when where window with`);

/** Reserved words that may still name a function (IdentifiersParser.g: sql11ReservedKeywordsUsedAsFunctionName). */
export const RESERVED_FUNCTIONS = words(`
  array bigint binary boolean current_date current_timestamp date double float grouping if int integer map real smallint
  timestamp`);

/**
 * Unreserved words that begin a clause where the next word says so; elsewhere they are names: `from t limit` has the alias
 * limit, `from t limit 5` has none.
 */
export function beginsClause(word: string, nextWord: string, nextIsNumber: boolean): boolean {
  switch (word) {
    case 'limit':
      return nextIsNumber || nextWord === '?';
    case 'sort':
    case 'cluster':
    case 'distribute':
      return nextWord === 'by';
    default:
      return false;
  }
}

export const INTERVAL_UNITS: Readonly<Record<string, 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'>> = {
  year: 'year',
  years: 'year',
  month: 'month',
  months: 'month',
  day: 'day',
  days: 'day',
  hour: 'hour',
  hours: 'hour',
  minute: 'minute',
  minutes: 'minute',
  second: 'second',
  seconds: 'second',
};
