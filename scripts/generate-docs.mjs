// npm run docs: writes docs/configuration.md and docs/functions.md from the tables the program uses; --check only compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleSource, ROOT } from './bundle-source.mjs';

const { configurationMarkdown, functionsMarkdown } = await import(await bundleSource('scripts/docs-source.ts', 'docs'));
const check = process.argv.includes('--check');
for (const [name, text] of [
  ['configuration.md', configurationMarkdown()],
  ['functions.md', functionsMarkdown()],
]) {
  const path = join(ROOT, 'docs', name);
  if (!check) writeFileSync(path, text);
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`docs/${name} is not what the program has: run npm run docs`);
    process.exitCode = 1;
  }
}
