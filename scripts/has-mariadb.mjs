import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether Debian's mariadb-server is here (packages/metadb/test/mariadb-server.ts asks the same). */
export function hasMariadb() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const isThere = (program) => folders.some((folder) => existsSync(join(folder, program)));
  return isThere('mariadbd') && isThere('mariadb-install-db');
}
