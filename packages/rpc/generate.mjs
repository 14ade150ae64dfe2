// npm run generate: the code of ts-proto (buf.gen.yaml), and what it leaves out of the contract: the descriptors for gRPC
// reflection and the methods that may be repeated (option idempotency_level).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const buf = (...args) =>
  execFileSync(join(here, '../../node_modules/.bin/buf'), args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });

buf('generate');
withoutObservables(join(here, 'src/gen/skep/v1'));
const dir = mkdtempSync(join(tmpdir(), 'skep-generate-'));
try {
  const build = (file, ...more) =>
    buf('build', '../../proto', '--path', '../../proto/skep', '--exclude-source-info', ...more, '-o', join(dir, file));
  build('image.json');
  build('descriptors.binpb', '--as-file-descriptor-set');
  const image = JSON.parse(readFileSync(join(dir, 'image.json'), 'utf8'));
  const methods = image.file.flatMap((file) =>
    (file.service ?? []).flatMap((service) =>
      service.method
        .filter((method) => ['IDEMPOTENT', 'NO_SIDE_EFFECTS'].includes(method.options?.idempotencyLevel))
        .map((method) => `/${file.package}.${service.name}/${method.name}`),
    ),
  );
  write('idempotent-methods.ts', 'IDEMPOTENT_METHODS', 'Paths of the methods that may be repeated', [
    'new Set([',
    ...methods.sort().map((path) => `  "${path}",`),
    '])',
  ]);
  const bytes = readFileSync(join(dir, 'descriptors.binpb')).toString('base64');
  write('descriptor-set.ts', 'DESCRIPTOR_SET', 'google.protobuf.FileDescriptorSet of the contract, base64', [
    '"" +',
    ...(bytes.match(/.{1,110}/g) ?? []).map((line) => `  "${line}" +`),
    '  ""',
  ]);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

/** ts-proto's interface of a service has streams as rxjs has them, or else gives every message two functions that nobody calls. */
function withoutObservables(folder) {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    if (!text.includes('"rxjs"')) continue;
    const changed = text
      .replace(/^import \{ Observable \} from "rxjs";\n/m, '')
      .replaceAll('Observable<', 'AsyncIterable<');
    writeFileSync(join(folder, name), changed);
  }
}

function write(file, name, what, lines) {
  const type = lines[0].startsWith('new Set') ? ': ReadonlySet<string>' : '';
  const text = `// Generated from proto/skep by packages/rpc/generate.mjs. DO NOT EDIT.\n\n/** ${what}. */\nexport const ${name}${type} = ${lines.join('\n')};\n`;
  writeFileSync(join(here, 'src/gen', file), text);
}
