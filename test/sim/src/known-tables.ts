import { SkepError } from '@skep/core';
import type { Table } from '@skep/rpc';
import { findTable, type SessionContext } from '../../../packages/sql/src/session/context.js';
import type { SimProcess } from './sim-process.js';

/** What is not there any more, or is another one by now: the statement ends, and nothing is wrong. */
export class GoneError extends SkepError {
  constructor(what: string) {
    super('GONE', 'conflict', `${what} is gone`);
  }
}

/** The names of the table that is renamed, and of its one partition: of each there is exactly one. */
export const RENAMED_TABLES = ['r1', 'r2'] as const;
export const RENAMED_PARTITIONS = ['p=a', 'p=b'] as const;

/** So often it may be renamed while it is looked for. */
const MANY_LOOKS = 20;

/** The tables by what they are: `r` is `r1` or `r2`, `d` is made and dropped, and each time another. */
export class KnownTables {
  constructor(
    private readonly process: SimProcess,
    private readonly context: SessionContext,
  ) {}

  /** The table. Of `r` there is always one, whoever is renaming it. */
  async table(name: string): Promise<Table> {
    if (name === 'r') return await this.renamed();
    const table = await findTable(this.context, 'default', name);
    if (table === undefined) throw name === 'd' ? new GoneError(name) : new SkepError('NO_TABLE', 'bug', `no ${name}`);
    return table;
  }

  /** The name that the one partition of `r` has now. */
  async renamedPartition(): Promise<string> {
    for (let look = 0; look < MANY_LOOKS; look++) {
      const [name] = await this.partitionsOf((await this.renamed()).name);
      if (name !== undefined) return name;
    }
    this.process.sim.violated(`the partition of r is there under none of its names`);
    throw new GoneError('the partition of r');
  }

  async partitionsOf(table: string): Promise<string[]> {
    const { catalog } = this.context.services;
    try {
      const { partitions } = await catalog.getPartitions({ database: 'default', table, names: [] });
      return partitions.map((partition) => `p=${partition.values[0]}`);
    } catch (error) {
      if (error instanceof SkepError && error.code === 'NO_SUCH_OBJECT' && table !== 't') return [];
      throw error;
    }
  }

  private async renamed(): Promise<Table> {
    for (let look = 0; look < MANY_LOOKS; look++) {
      for (const name of RENAMED_TABLES) {
        const table = await findTable(this.context, 'default', name);
        if (table !== undefined) return table;
      }
    }
    this.process.sim.violated('r is there under neither of its names');
    throw new GoneError('r');
  }
}
