import { isAutoCompactionOff } from '@skep/compactor';
import { SkepError } from '@skep/core';
import type { CatalogService } from '@skep/rpc';
import type { Figure, FigureSource, Reading } from '@skep/telemetry';

const figure: Figure = {
  name: 'num_writes_to_disabled_compaction_table',
  help: 'Write ids allocated here on tables with no_auto_compaction, of themselves or of their database.',
  type: 'counter',
};

/** Tables written between two readings; what is written to more is not counted. */
const MOST_TABLES = 10_000;

/**
 * Counts writes to tables that nobody compacts (Hive's NUM_WRITES_TO_DISABLED_COMPACTION_TABLE). A table's properties are
 * looked up when somebody reads the figure, not with each write.
 */
export class WritesToDisabled implements FigureSource {
  readonly name = 'writes';
  readonly figures = [figure];
  private written = new Map<string, { readonly database: string; readonly table: string; count: number }>();
  private total = 0;

  constructor(private readonly catalog: () => Pick<CatalogService, 'getTable' | 'getDatabase'>) {}

  /** So many write ids of a table were given out. */
  allocated({ database, table }: { readonly database: string; readonly table: string }, count: number): void {
    const key = `${database}.${table}`.toLowerCase();
    const known = this.written.get(key);
    if (known !== undefined) known.count += count;
    else if (this.written.size < MOST_TABLES) this.written.set(key, { database, table, count });
  }

  async read(): Promise<Reading[]> {
    const written = this.written;
    this.written = new Map();
    for (const entry of written.values()) {
      try {
        if (await this.isDisabled(entry.database, entry.table)) this.total += entry.count;
      } catch (error) {
        // A table that is gone by now is nobody's to compact.
        if (!(error instanceof SkepError && error.code === 'NO_SUCH_OBJECT')) throw error;
      }
    }
    return [[figure, [{ value: this.total }]]];
  }

  private async isDisabled(database: string, name: string): Promise<boolean> {
    const { table } = await this.catalog().getTable({ database, name });
    const answer = await this.catalog().getDatabase({ name: database });
    return isAutoCompactionOff(table?.parameters ?? {}, answer.database?.parameters ?? {});
  }
}
