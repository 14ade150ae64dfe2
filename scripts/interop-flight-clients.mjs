// Flight clients that exist already, in Go (arrow-go), Java (arrow-java), ADBC (Flight SQL) and with pyspark, and the examples of docs/flight.md, against a Flight service of ours with the tables that Hive
// wrote (test/golden). Part of npm run test:interop; alone: node scripts/interop-flight-clients.mjs [go|java|adbc|documentation|pyspark …].
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleSource, ROOT } from './bundle-source.mjs';

const CACHE = join(ROOT, '.cache/interop-flight');
const PYTHON = join(ROOT, '.cache/venv/bin/python');
/** Where Go is unpacked by hand. */
const PATH = [process.env.PATH, '/usr/local/go/bin'].join(delimiter);
const TIMEOUT_MS = 300_000;

/** The command of each client. */
const CLIENTS = {
  go() {
    mkdirSync(CACHE, { recursive: true });
    const client = join(CACHE, 'go-client');
    execFileSync('go', ['build', '-o', client, '.'], {
      cwd: join(ROOT, 'test/interop/flight/go'),
      env: { ...process.env, PATH },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return [client];
  },
  java() {
    const out = join(CACHE, 'java');
    // Maven compiles what is newer.
    execFileSync('mvn', ['-q', '-B', '-Dstyle.color=never', 'package', `-DbuildDirectory=${out}`], {
      cwd: join(ROOT, 'test/interop/flight/java'),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const classpath = [join(out, 'classes'), readFileSync(join(out, 'classpath'), 'utf8').trim()].join(delimiter);
    // Arrow's memory is beyond the heap.
    const opens = '--add-opens=java.base/java.nio=ALL-UNNAMED';
    return [
      'java',
      opens,
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
      '-cp',
      classpath,
      'dev.skep.interop.FlightCheck',
    ];
  },
  adbc: () => [PYTHON, join(ROOT, 'test/interop/flight/adbc.py')],
  documentation: () => [PYTHON, join(ROOT, 'test/interop/flight/docs.py')],
  pyspark: () => [PYTHON, join(ROOT, 'examples/flight-pyspark/check.py')],
};

/** Runs the clients one after the other, each on a home of its own; whether all passed. */
export async function flightClientsAgree(names = Object.keys(CLIENTS)) {
  const server = await bundleSource('test/interop/flight/server.ts', 'interop-flight-server');
  let isGood = true;
  for (const name of names) isGood = (await runClient(name, server)) && isGood;
  return isGood;
}

async function runClient(name, server) {
  const [program, ...args] = CLIENTS[name]();
  const start = performance.now();
  const dir = mkdtempSync(join(tmpdir(), 'skep-interop-flight-'));
  let running;
  try {
    running = await startServer(server, dir);
    const tables = join(dir, 'tables.json');
    writeFileSync(tables, JSON.stringify(running.tables));
    const env = { ...process.env, PATH, SKEP_FLIGHT: running.address, SKEP_TABLES: tables };
    const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: TIMEOUT_MS });
    const counts = /^(\d+) passed, (\d+) failed$/m.exec(stdout ?? '');
    const isGood = status === 0 && counts !== null && Number(counts[1]) > 0 && counts[2] === '0';
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const outcome = counts === null ? 'ended without counts' : `${counts[1]} passed, ${counts[2]} failed`;
    console.log(`Arrow Flight with ${name}, ${running.tables.length} tables of Hive: ${outcome} (${seconds} s)`);
    if (!isGood) console.error(`${stdout}${stderr}`.trimEnd());
    return isGood;
  } finally {
    await running?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The service in a process of its own: its address, and the tables it has. */
async function startServer(server, dir) {
  const shared = join(process.env.SKEP_SHARED ?? join(ROOT, '../shared'), 'golden/hive-4.0.1');
  const cases = existsSync(shared) ? shared : join(ROOT, 'test/golden/recorded/hive-4.0.1');
  const child = spawn(process.execPath, [server, dir, cases], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const { address, tables } = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('\n')) resolve(JSON.parse(text));
    });
    child.once('exit', (code) => reject(new Error(`the Flight service ended with ${code} before it listened`)));
  });
  return {
    address,
    tables,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = process.argv.slice(2);
  process.exitCode = (await flightClientsAgree(names.length > 0 ? names : undefined)) ? 0 : 1;
}
