// npm run generate: the code of ts-proto (buf.gen.yaml), and the descriptors of Flight's services for gRPC reflection.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const buf = (...args) =>
  execFileSync(join(here, '../../node_modules/.bin/buf'), args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });

buf('generate');
const dir = mkdtempSync(join(tmpdir(), 'skep-generate-'));
try {
  const file = join(dir, 'descriptors.binpb');
  buf('build', '../../proto/arrow', '--exclude-source-info', '--as-file-descriptor-set', '-o', file);
  const lines =
    readFileSync(file)
      .toString('base64')
      .match(/.{1,110}/g) ?? [];
  const text = `// Generated from proto/arrow by packages/flight/generate.mjs. DO NOT EDIT.

/** google.protobuf.FileDescriptorSet of Arrow Flight, base64. */
export const DESCRIPTOR_SET = "" +
${lines.map((line) => `  "${line}" +`).join('\n')}
  "";
`;
  writeFileSync(join(here, 'src/gen/descriptor-set.ts'), text);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
