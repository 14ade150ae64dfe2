import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BROKER } from './mariadb.js';
import { hasMariadb, type MariadbServer, startMariadb } from './mariadb-server.js';

/**
 * One MariaDB server for all test files of a run, started when the first of them asks for it over a socket, stopped at the
 * end of the run or of this process.
 */
export default async function setup(): Promise<() => Promise<void>> {
  if (!hasMariadb) {
    process.stderr.write(
      '\n*** mariadbd is not installed: all suites on MariaDB are SKIPPED (scripts/setup-interop.sh mariadb installs it) ***\n\n',
    );
    return async () => undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'skep-broker-'));
  let started: Promise<MariadbServer> | undefined;
  const broker = createServer((socket) => {
    socket.on('error', () => undefined);
    started ??= startMariadb();
    started.then(
      (server) => socket.end(server.url),
      (error: unknown) => socket.end(`error: ${String(error)}`),
    );
  });
  const path = join(folder, 'socket');
  await new Promise<void>((resolve) => broker.listen(path, resolve));
  process.env[BROKER] = path;
  return async () => {
    broker.close();
    await started?.then(
      (server) => server.stop(),
      () => undefined,
    );
    rmSync(folder, { recursive: true, force: true });
  };
}
