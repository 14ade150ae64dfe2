import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import mysql, { type QueryError } from 'mysql2';

/** Hive's own distribution of its metastore, with the scripts that its schematool runs. */
const DISTRIBUTION = 'org.apache.hive:hive-standalone-metastore-server:4.0.1:tar.gz:bin';
const PACKED = 'hive-standalone-metastore-server-4.0.1-bin.tar.gz';
/** 4.0.1 has the schema of 4.0.0. */
const SCRIPT = 'hive-schema-4.0.0.mysql.sql';

/** The schema that Hive publishes for MySQL, from Maven at the first time (78 MB), kept in `cache`. */
export function publishedHiveSchema(cache: string): string {
  const kept = join(cache, SCRIPT);
  if (!existsSync(kept)) {
    mkdirSync(cache, { recursive: true });
    const folder = join(cache, 'hive-distribution');
    run('mvn', ['-B', '-q', 'dependency:copy', `-Dartifact=${DISTRIBUTION}`, `-DoutputDirectory=${folder}`]);
    const script = run('tar', ['xzf', join(folder, PACKED), '-O', '--wildcards', `*/upgrade/mysql/${SCRIPT}`]);
    rmSync(folder, { recursive: true });
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, script);
  }
  return readFileSync(kept, 'utf8');
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new TypeError(`${program} ${args.join(' ')}: ${(stderr || stdout).slice(-2000)}`);
  return stdout;
}

/** A database as Hive's schematool makes it. */
export async function createHiveDatabase(port: number, database: string, schema: string): Promise<void> {
  const connection = mysql.createConnection({
    host: '127.0.0.1',
    port,
    user: 'APP',
    password: 'mine',
    multipleStatements: true,
  });
  const create = `CREATE DATABASE ${database} CHARACTER SET latin1; USE ${database};\n`;
  try {
    await new Promise<void>((resolve, reject) => {
      connection.query(create + schema, (error: QueryError | null) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    connection.destroy();
  }
}
