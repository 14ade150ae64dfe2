// Clients in Python, Go and Java, generated from proto/ by each language's own tools, against services of ours: see
// test/interop/clients. Part of npm run test:interop; alone: node scripts/interop-clients.mjs [python|go|java …].
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleSource, ROOT } from './bundle-source.mjs';

const SOURCES = join(ROOT, 'test/interop/clients');
const CACHE = join(ROOT, '.cache/interop-clients');
const PYTHON = join(ROOT, '.cache/venv/bin/python');
const PROTOS = ['catalog', 'compaction', 'error', 'lock', 'transaction'].map((name) => `skep/v1/${name}.proto`);
/** What setup-interop.sh installed, and where Go is unpacked by hand. */
const PATH = [join(ROOT, '.cache/go/bin'), process.env.PATH, '/usr/local/go/bin'].join(delimiter);

/** How each client is made of proto/, in a folder of its own, and the command that runs it. */
const CLIENTS = {
  python(out) {
    const protoc = ['-m', 'grpc_tools.protoc', '-I', join(ROOT, 'proto')];
    run(PYTHON, [...protoc, `--python_out=${out}`, `--grpc_python_out=${out}`, ...PROTOS]);
    return [PYTHON, join(SOURCES, 'python/client.py'), out];
  },
  go(out) {
    cpSync(join(SOURCES, 'go'), out, { recursive: true });
    const template = join(SOURCES, 'buf.gen.go.yaml');
    const buf = join(ROOT, 'node_modules/.bin/buf');
    run(buf, ['generate', '.', '--path', 'skep', '--template', template, '-o', out], join(ROOT, 'proto'));
    run('go', ['build', '-o', 'client', '.'], out);
    return [join(out, 'client')];
  },
  java(out) {
    // Maven compiles what is newer; the same folder each time saves most of it.
    run(
      'mvn',
      ['-q', '-B', '-Dstyle.color=never', 'package', `-DbuildDirectory=${out}`, `-Dproto=${join(ROOT, 'proto')}`],
      join(SOURCES, 'java'),
    );
    const classpath = [join(out, 'classes'), readFileSync(join(out, 'classpath'), 'utf8').trim()].join(delimiter);
    return ['java', '-cp', classpath, 'dev.skep.interop.Client'];
  },
};

/** Runs the clients one after the other; whether all passed. */
export async function clientsAgree(names = Object.keys(CLIENTS)) {
  const dir = mkdtempSync(join(tmpdir(), 'skep-interop-clients-'));
  let server;
  let isGood = true;
  try {
    server = await startServer(dir);
    for (const name of names) isGood = runClient(name, server.addresses, dir) && isGood;
  } finally {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return isGood;
}

function runClient(name, addresses, dir) {
  const start = performance.now();
  const out = join(CACHE, name);
  mkdirSync(out, { recursive: true });
  const [program, ...args] = CLIENTS[name](out);
  const env = {
    ...process.env,
    SKEP_PLAIN: addresses.plain,
    SKEP_SECURE: addresses.secure,
    SKEP_TLS: dir,
    SKEP_TOKEN: 'interop-token',
  };
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: 60_000 });
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(stdout ?? '');
  const isGood = status === 0 && counts !== null && Number(counts[1]) > 0 && counts[2] === '0';
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const outcome = counts === null ? 'ended without counts' : `${counts[1]} passed, ${counts[2]} failed`;
  console.log(`a client in ${name} made of proto/: ${outcome} (${seconds} s)`);
  if (!isGood) console.error(`${stdout}${stderr}`.trimEnd());
  return isGood;
}

/** The services of test/interop/clients/server.ts in a process of their own, with certificates and a token made for it. */
async function startServer(dir) {
  makeCertificates(dir);
  const token = createHash('sha256').update('interop-token').digest('hex');
  writeFileSync(join(dir, 'tokens'), `token-user ${token}\n`);
  const bundle = await bundleSource('test/interop/clients/server.ts', 'interop-clients-server');
  const child = spawn(process.execPath, [bundle, dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const addresses = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(JSON.parse(text));
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
  return {
    addresses,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** ca, server and client, each NAME.pem and NAME.key. */
function makeCertificates(dir) {
  const common = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const make = (name, ...more) => {
    const files = ['-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`)];
    execFileSync('openssl', [...common, '-subj', `/CN=${name}`, ...files, ...more], { stdio: 'pipe' });
  };
  const signed = [
    '-CA',
    join(dir, 'ca.pem'),
    '-CAkey',
    join(dir, 'ca.key'),
    '-addext',
    'basicConstraints=critical,CA:FALSE',
  ];
  make('ca');
  make('server', ...signed, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost');
  make('client', ...signed);
}

function run(program, args, cwd = ROOT) {
  execFileSync(program, args, { cwd, env: { ...process.env, PATH }, stdio: ['ignore', 'inherit', 'inherit'] });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = process.argv.slice(2);
  process.exitCode = (await clientsAgree(names.length > 0 ? names : undefined)) ? 0 : 1;
}
