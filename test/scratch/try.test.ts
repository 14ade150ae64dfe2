import { mkdtempSync } from 'node:fs';
import { formatRow, parseTypeName } from '@skep/sql';
import { it } from 'vitest';
import { openHome } from '/work/main/apps/cli/src/home.js';

it('runs', async () => {
  const home = await openHome({ path: mkdtempSync('/tmp/skhome-'), log: console.error });
  const s = home.newSession();
  const sqls = (process.env.SQL ?? '').split(';;');
  for (const sql of sqls) {
    if (sql.trim() === '') continue;
    console.log('>', sql.trim());
    try {
      if (sql.trim().startsWith('!worker')) {
        await home.compactor.runWorkerOnce();
        continue;
      }
      if (sql.trim().startsWith('!cleaner')) {
        await home.compactor.runCleanerOnce();
        continue;
      }
      const r = await s.execute(sql.trim());
      const types = (r.columns ?? []).map((c) => parseTypeName(c.type));
      if (r.batches)
        for await (const b of r.batches)
          for (let i = 0; i < b.length; i++) console.log('   ', (formatRow as any)(types, b, i));
      console.log(
        '   ',
        JSON.stringify({ m: r.messages, c: r.counts }, (k, v) => (typeof v === 'bigint' ? String(v) : v)),
      );
    } catch (e) {
      console.log('ERR', e);
    }
  }
  await home.close();
});
