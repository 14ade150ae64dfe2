import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@skep/core';
import type { RecordedStep } from '../../golden/src/case-file.js';

const TURN_MS = 300_000;

/**
 * Hive 4.0.1 on a MariaDB database: a metastore, and an SQL driver on that with a script a turn. The scripts are pipes, so that Hive
 * waits where others are to work.
 */
export class HiveOnDatabase {
  readonly ended: Promise<void>;
  private readonly children: ChildProcess[] = [];
  private failure: string | undefined;

  constructor(
    private readonly oracle: string,
    private readonly work: string,
    url: string,
    port: number,
    turns: readonly string[],
  ) {
    mkdirSync(join(work, 'out'), { recursive: true });
    for (const turn of turns) execFileSync('mkfifo', [join(work, `${turn}.sql`)]);
    const conf = {
      'javax.jdo.option.ConnectionURL': url,
      'javax.jdo.option.ConnectionDriverName': 'org.mariadb.jdbc.Driver',
      // Hive neither adds a table or a column, nor takes any schema but its own.
      'datanucleus.schema.autoCreateAll': 'false',
      'hive.metastore.schema.verification': 'true',
      'metastore.schema.verification': 'true',
      // Its threads without a session would open a Derby of their own, and Hive knows one kind of database a process.
      'hive.query.reexecution.enabled': 'false',
      'hive.query.reexecution.stats.persist.scope': 'query',
    };
    const settings = Object.entries(conf).map(([key, value]) => `-Dconf.${key}=${value}`);
    const home = join(work, 'home');
    const warehouse = `-Dwarehouse=${work}/warehouse`;
    this.start([warehouse, ...settings, home, '--metastore', String(port)]);
    const scripts = turns.map((turn) => join(work, `${turn}.sql`));
    const uris = `-Duris=thrift://127.0.0.1:${port}`;
    // Its compactor reaches the transactions directly.
    this.ended = this.start([warehouse, uris, ...settings, `${home}2`, join(work, 'out'), ...scripts]);
  }

  private start(args: readonly string[]): Promise<void> {
    const child = spawn(join(this.oracle, 'run.sh'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.children.push(child);
    let tail = '';
    child.stderr.on('data', (chunk) => {
      tail = (tail + String(chunk)).slice(-3000);
    });
    return new Promise((resolve) => {
      child.on('close', (code) => {
        if (code !== 0) this.failure ??= `Hive ended with ${code}: ${tail}`;
        resolve();
      });
    });
  }

  stop(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }

  /** Runs a script; `meanwhile` until it is done. Answers the steps with what Hive said. */
  async run(turn: string, script: readonly string[], meanwhile?: () => Promise<void>): Promise<RecordedStep[]> {
    const answer = join(this.work, 'out', `${turn}.json`);
    // Waits until Hive opens it.
    const written = writeFile(join(this.work, `${turn}.sql`), `${script.join('\n')}\n`);
    await Promise.race([written, this.ended]);
    const untilMs = systemClock.now() + TURN_MS;
    while (!existsSync(answer)) {
      if (this.failure !== undefined) throw new HiveTurnError(this.failure);
      if (systemClock.now() > untilMs) throw new HiveTurnError(`Hive did not finish ${turn} in ${TURN_MS} ms`);
      await meanwhile?.();
      await systemClock.sleep(50);
    }
    await systemClock.sleep(200);
    return JSON.parse(readFileSync(answer, 'utf8'));
  }
}

class HiveTurnError extends Error {
  override readonly name = 'HiveTurnError';
}
