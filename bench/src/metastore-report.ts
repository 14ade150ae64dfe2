import type { HiveLoad } from './hive-metastore.js';
import type { Load, SnapshotTimes } from './metastore-load.js';
import { textTable, timingOf } from './statistics.js';

export const GOAL = { ratio: 5, lockP99Ms: 10, snapshotMs: 100, openTxns: 100_000 };

/** What is measured, as it is called in the table. */
export const SKEP_SQLITE = 'skep, SQLite';
export const SKEP_MARIADB = 'skep, MariaDB';
/** On the schema that Hive publishes: what we are compared with. */
export const HIVE = 'Hive, MariaDB';
/** On the same schema with the indexes that skep adds. */
export const HIVE_OUR_INDEXES = "Hive, MariaDB, skep's indexes";

/** Processor time of one transaction, in milliseconds, by who used it. */
export interface CpuMs {
  readonly clients?: number;
  readonly metastore: number;
  readonly database?: number;
}

interface Round {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly lockP99Ms?: number;
  readonly cpu: CpuMs;
}

/** One line of the table, of all rounds. */
interface Line {
  readonly what: string;
  readonly clients: number;
  readonly rounds: Round[];
  failures: number;
  failure?: string;
}

/** Gathers what rounds measured; tells the medians, and which goals were missed. */
export class Report {
  private readonly lines: Line[] = [];
  private readonly snapshotLines: string[][] = [];
  private readonly missed: string[] = [];

  note(what: string, clients: number, load: Load, cpu: CpuMs): void {
    const line = this.lineOf(what, clients);
    line.rounds.push({
      perSecond: load.transactionsPerSecond,
      medianMs: quantile(load.transactionMs, 0.5),
      p99Ms: quantile(load.transactionMs, 0.99),
      lockP99Ms: quantile(load.lockMs, 0.99),
      cpu,
    });
    line.failures += load.failures;
    line.failure ??= load.failure;
  }

  /** The text is what Hive's driver ended with. */
  noteHive(what: string, clients: number, load: HiveLoad | string, cpu: CpuMs): void {
    const line = this.lineOf(what, clients);
    if (typeof load === 'string') {
      line.failures++;
      line.failure ??= load;
    } else line.rounds.push({ ...load, perSecond: load.transactionsPerSecond, cpu });
  }

  noteSnapshot(what: string, { open, validTxnsMs, validWriteIdsMs }: SnapshotTimes): void {
    const cells = [validTxnsMs, validWriteIdsMs].map(
      (times) => `${ms(quantile(times, 0.5))} (max ${ms(times.at(-1))})`,
    );
    this.snapshotLines.push([what, String(open), ...cells]);
    for (const [name, times] of Object.entries({ validTxnsMs, validWriteIdsMs })) {
      if (quantile(times, 0.5) >= GOAL.snapshotMs) this.missed.push(`${what}: ${name} of ${open} open transactions`);
    }
  }

  /** Prints it; the exit code. */
  print(): number {
    const head = ['', 'clients', 'transactions/s', 'p50 ms', 'p99 ms', 'lock p99', 'failed', 'times Hive', 'cpu ms'];
    process.stdout.write(
      `${textTable(
        head,
        this.lines.map((line) => this.cellsOf(line)),
      )}\n`,
    );
    process.stdout.write('cpu ms: processor time of a transaction: metastore + database + clients\n');
    if (this.snapshotLines.length > 0) {
      const columns = ['', 'open', 'GetValidTxns ms', 'GetValidWriteIds ms'];
      process.stdout.write(`\n${textTable(columns, this.snapshotLines)}\n`);
    }
    for (const { what, clients, failure } of this.lines) {
      if (failure !== undefined) process.stdout.write(`${what}, ${clients} clients: ${failure}\n`);
    }
    for (const what of this.missed) process.stdout.write(`goal missed: ${what}\n`);
    return this.missed.length === 0 ? 0 : 1;
  }

  private lineOf(what: string, clients: number): Line {
    let line = this.lines.find((known) => known.what === what && known.clients === clients);
    if (line === undefined) {
      line = { what, clients, rounds: [], failures: 0 };
      this.lines.push(line);
    }
    return line;
  }

  private cellsOf(line: Line): string[] {
    const of = (figure: (round: Round) => number | undefined) =>
      timingOf(line.rounds.map((round) => figure(round) ?? Number.NaN)).median;
    const ratio = line.what === SKEP_MARIADB ? this.ratioToHive(line) : undefined;
    const lockP99Ms = of((round) => round.lockP99Ms);
    this.judge(line, ratio, lockP99Ms);
    const rates = [of((round) => round.perSecond).toFixed(0), ms(of((r) => r.medianMs)), ms(of((r) => r.p99Ms))];
    const cpu = (['metastore', 'database', 'clients'] as const).map((who) => of((round) => round.cpu[who]));
    const used = cpu.filter((value) => !Number.isNaN(value)).map((value) => value.toFixed(2));
    return [
      line.what,
      String(line.clients),
      ...(line.rounds.length === 0 ? ['', '', ''] : rates),
      Number.isNaN(lockP99Ms) ? '' : ms(lockP99Ms),
      String(line.failures),
      ratio?.toFixed(1) ?? '',
      used.join(' + '),
    ];
  }

  /** Median of the rounds' ratios: what was measured one after the other. */
  private ratioToHive(line: Line): number | undefined {
    const hive = this.lines.find((other) => other.what === HIVE && other.clients === line.clients);
    const pairs = line.rounds.flatMap((round, i) => {
      const peer = hive?.rounds[i];
      return peer === undefined ? [] : [round.perSecond / peer.perSecond];
    });
    return pairs.length === 0 ? undefined : timingOf(pairs).median;
  }

  private judge(line: Line, ratio: number | undefined, lockP99Ms: number): void {
    if (!line.what.startsWith('skep')) return;
    const at = `${line.what}, ${line.clients} clients`;
    if (line.failures > 0) this.missed.push(`${at}: ${line.failures} failed`);
    if (line.clients !== 8) return;
    if (ratio !== undefined && ratio < GOAL.ratio) this.missed.push(`${at}: ${ratio.toFixed(1)} times Hive's`);
    if (lockP99Ms >= GOAL.lockP99Ms) this.missed.push(`${at}: p99 of a lock ${ms(lockP99Ms)} ms`);
  }
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(value < 10 ? 2 : 0);
}
