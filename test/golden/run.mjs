// npm run golden -- [--json REPORT] [--verbose] [--only READ|REPLAY] [--jobs N] CASE.sql|DIR…
import { bundleSource } from '../../scripts/bundle-source.mjs';

process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, '--enable-source-maps'].filter(Boolean).join(' ');
const child = await bundleSource('test/golden/src/child.ts', 'golden-child');
const { main } = await import(await bundleSource('test/golden/src/main.ts', 'golden'));
process.exitCode = await main(process.argv.slice(2), child);
