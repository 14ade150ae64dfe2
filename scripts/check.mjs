// npm run check: format and lint, types, generated code, the contract (proto-contract.mjs), and the house rules
// (tidy.mjs). One line a part; exit code 1 if any failed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { protoProblems } from './proto-contract.mjs';
import { tidy } from './tidy.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const only = process.argv.slice(2);
let failures = 0;

function part(name, run) {
  if (only.length > 0 && !only.includes(name)) return;
  const start = performance.now();
  const problems = run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (problems === '') {
    console.log(`ok   ${name} (${seconds} s)`);
    return;
  }
  failures++;
  console.log(`FAIL ${name} (${seconds} s)\n${problems}`);
}

/** The output of a command that failed; '' where it did not. */
function command(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error !== undefined) return String(error);
  return status === 0 ? '' : `${stdout}${stderr}`.trimEnd() || `${program} ended with ${status}`;
}

function workspaces() {
  return ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .map((name) => `${folder}/${name}`)
      .filter((path) => existsSync(join(root, path, 'package.json'))),
  );
}

part('biome', () => command('npx', 'biome', 'check', '.'));

part('types', () =>
  [...workspaces(), 'test']
    .filter((path) => existsSync(join(root, path, 'tsconfig.json')))
    .map((path) => command('npx', 'tsc', '-p', path, '--noEmit', '--customConditions', 'source', '--rootDir', '.'))
    .filter(Boolean)
    .join('\n'),
);

part('generated', () => {
  // Generating again must give what is there.
  const sources = workspaces().filter((path) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    return 'generate' in scripts;
  });
  if (sources.length === 0) return '';
  const before = command('git', 'diff', '--quiet', '--', ...sources.map((path) => `${path}/src`)) === '';
  const generated = command('npm', 'run', 'generate', '--workspaces', '--if-present', '--silent');
  if (generated !== '') return generated;
  const changed = spawnSync('git', ['diff', '--stat', '--', '*/gen/*'], { cwd: root, encoding: 'utf8' }).stdout;
  return before || changed !== '' ? changed.trim() : '';
});

part('proto', () => protoProblems());

part('tidy', () => tidy(root).join('\n'));

process.exitCode = failures > 0 ? 1 : 0;
