import { type Compaction, CompactionType } from '@skep/rpc';

/** What every line about a compaction says of it. */
export const fieldsOf = ({ id, database, table, partition, type, runAs }: Compaction) => ({
  compactionId: id,
  table: `${database}.${table}`,
  partition,
  type: typeWord(type),
  ...(runAs === '' ? {} : { user: runAs }),
});

export function typeWord(type: CompactionType): string {
  switch (type) {
    case CompactionType.COMPACTION_TYPE_MAJOR:
      return 'major';
    case CompactionType.COMPACTION_TYPE_MINOR:
      return 'minor';
    case CompactionType.COMPACTION_TYPE_REBALANCE:
      return 'rebalance';
    default:
      return 'abort cleanup';
  }
}
