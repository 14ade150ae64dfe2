// The contract in proto/: formatted, linted (each message and field documented), and without a change that would break a
// client made from proto/baseline.binpb. `node scripts/proto-contract.mjs baseline` takes what was added into the baseline.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BASELINE = join(ROOT, 'proto/baseline.binpb');

function buf(cwd, ...args) {
  const { status, stdout, stderr, error } = spawnSync(join(ROOT, 'node_modules/.bin/buf'), args, {
    cwd,
    encoding: 'utf8',
  });
  if (error !== undefined) return String(error);
  return status === 0 ? '' : `${stdout}${stderr}`.trimEnd() || `buf ${args[0]} ended with ${status}`;
}

/** What is wrong with the contract in that folder, as text; '' if nothing. */
export function protoProblems(dir = join(ROOT, 'proto')) {
  return [buf(dir, 'format', '--diff', '--exit-code'), buf(dir, 'lint'), breaking(dir)].filter(Boolean).join('\n');
}

function breaking(dir) {
  const problems = buf(dir, 'breaking', '--against', BASELINE);
  return problems === '' ? '' : `breaks clients of proto/baseline.binpb:\n${problems}`;
}

if (process.argv[2] === 'baseline') {
  const dir = join(ROOT, 'proto');
  const problems = protoProblems(dir) || buf(dir, 'build', '--exclude-source-info', '-o', BASELINE);
  if (problems !== '') console.error(problems);
  process.exitCode = problems === '' ? 0 : 1;
}
