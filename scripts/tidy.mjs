// The house rules that a program can tell: file sizes, rank order, import cycles, banned calls, bare errors, stray files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A package imports lower ranks only (design.md). */
const RANKS = {
  core: 0,
  config: 1,
  storage: 1,
  orc: 1,
  rpc: 1,
  metadb: 1,
  telemetry: 1,
  thrift: 1,
  acid: 2,
  'lock-manager': 2,
  catalog: 2,
  'txn-manager': 3,
  compactor: 4,
  flight: 4,
  ingest: 4,
  sql: 4,
};

/** Files that, with all that they import of their package, keep to an interface: no imports of what is behind it. */
const BEHIND_INTERFACES = [
  {
    entry: 'packages/compactor/src/worker.ts',
    behind: ['acid', 'orc', 'storage'],
    why: 'the Worker has files done by CompactionFiles only, so that they may be elsewhere',
  },
];

/** Files beyond 200 lines should have one idea; beyond this they need a reason (tidy-allowlist.json). */
const MOST_LINES = 400;

/** What only core's clock may use, and what says nothing to a caller. */
const BANNED = [
  {
    pattern: /\bDate\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bnew Date\(\)/,
    why: 'time and chance come from the Clock',
    except: ['packages/core/src/clock.ts'],
  },
  { pattern: /\bnew Error\(/, why: 'errors are subclasses of SkepError', except: [] },
  { pattern: /\bconsole\.\w+\(/, why: 'nothing but the command line writes to the terminal', except: [] },
  {
    pattern: /^\s*\/\/ @ts-(ignore|nocheck|expect-error)|\bas any\b|:\s*any\s*[;,)=|]|<any[>,]|\bany\[\]/,
    why: 'types are strict',
    except: [],
  },
];

/** Problems, one line each. */
export function tidy(root) {
  const allowed = JSON.parse(readFileSync(join(root, 'scripts/tidy-allowlist.json'), 'utf8'));
  const packages = packagesOf(root);
  const files = packages.flatMap((pkg) => sourcesBelow(join(root, pkg.path, 'src')));
  const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  return [
    ...sizes(root, texts, allowed.longFiles),
    ...rankOrder(root, packages, texts),
    ...pastInterfaces(root, texts),
    ...cycles(root, texts),
    ...rooms(root, texts),
    ...bannedCalls(root, texts, allowed.bannedCalls),
    ...names(root, texts),
  ];
}

function packagesOf(root) {
  return ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => existsSync(join(root, folder, name, 'package.json')))
      .map((name) => ({ name, path: `${folder}/${name}`, isApp: folder === 'apps' })),
  );
}

function sourcesBelow(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'gen' ? [] : sourcesBelow(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

const isTest = (file) => /\.(test|bench)\.ts$/.test(file);

function sizes(root, texts, allowed) {
  const problems = [];
  for (const [file, text] of texts) {
    if (isTest(file)) continue;
    const name = relative(root, file);
    const lines = text.split('\n').length - 1;
    const most = allowed[name] ?? MOST_LINES;
    if (lines > most) problems.push(`${name}: ${lines} lines, ${most} allowed`);
  }
  for (const name of Object.keys(allowed)) {
    if (!existsSync(join(root, name))) problems.push(`scripts/tidy-allowlist.json: ${name} is gone`);
  }
  return problems;
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/g;

function importsOf(text) {
  return [...text.matchAll(IMPORT)].map((match) => ({
    from: match[2] ?? match[3],
    isType: match[1] !== undefined,
    isLate: match[3] !== undefined,
  }));
}

function rankOrder(root, packages, texts) {
  const problems = [];
  for (const pkg of packages) {
    if (pkg.isApp) continue;
    const rank = RANKS[pkg.name];
    if (rank === undefined) {
      problems.push(`${pkg.path}: no rank in scripts/tidy.mjs`);
      continue;
    }
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, pkg.path, 'package.json'), 'utf8'));
    for (const [file, text] of texts) {
      if (!file.startsWith(`${join(root, pkg.path)}/`)) continue;
      for (const { from } of importsOf(text)) {
        const own = /^@skep\/([^/]+)/.exec(from)?.[1];
        if (own === undefined) continue;
        const name = relative(root, file);
        if (!(RANKS[own] < rank))
          problems.push(`${name}: ${pkg.name} (rank ${rank}) imports ${own} (rank ${RANKS[own]})`);
        if (!isTest(file) && !(`@skep/${own}` in dependencies))
          problems.push(`${name}: @skep/${own} is not among the dependencies`);
      }
    }
  }
  return problems;
}

function pastInterfaces(root, texts) {
  const problems = [];
  for (const { entry, behind, why } of BEHIND_INTERFACES) {
    const reached = new Set([join(root, entry)]);
    for (const file of reached) {
      const text = texts.get(file);
      if (text === undefined) {
        problems.push(`scripts/tidy.mjs: ${relative(root, file)} is gone`);
        continue;
      }
      for (const { from } of importsOf(text)) {
        if (from.startsWith('.')) reached.add(resolve(dirname(file), from.replace(/\.js$/, '.ts')));
        else if (behind.includes(/^@skep\/([^/]+)/.exec(from)?.[1]))
          problems.push(`${relative(root, file)}: imports ${from}: ${why} (reached from ${entry})`);
      }
    }
  }
  return problems;
}

/** Cycles of imports that are there at run time. */
function cycles(root, texts) {
  const graph = new Map();
  for (const [file, text] of texts) {
    const targets = importsOf(text)
      .filter((entry) => entry.from.startsWith('.') && !entry.isType && !entry.isLate && !onlyTypes(text, entry.from))
      .map((entry) => resolve(dirname(file), entry.from.replace(/\.js$/, '.ts')))
      .filter((target) => texts.has(target));
    graph.set(file, targets);
  }
  const state = new Map();
  const problems = [];
  const visit = (file, path) => {
    state.set(file, 'open');
    for (const target of graph.get(file) ?? []) {
      if (state.get(target) === 'open') {
        const cycle = [...path.slice(path.indexOf(target)), target].map((f) => relative(root, f));
        problems.push(`import cycle: ${cycle.join(' -> ')}`);
      } else if (!state.has(target)) visit(target, [...path, target]);
    }
    state.set(file, 'done');
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file, [file]);
  return problems;
}

/** Folders side by side that use each other, were it in a circle of several, or for types alone: none stands above the others. */
function rooms(root, texts) {
  const uses = new Map();
  for (const [file, text] of texts) {
    if (isTest(file)) continue;
    for (const { from } of importsOf(text)) {
      const target = resolve(dirname(file), from.replace(/\.js$/, '.ts'));
      if (!from.startsWith('.') || !texts.has(target)) continue;
      const [a, b] = [file, target].map((path) => relative(root, path).split('/'));
      let depth = 0;
      while (a[depth] === b[depth]) depth++;
      // Files that stand beside the folders put them together, and are used by them.
      if (depth >= a.length - 1 || depth >= b.length - 1) continue;
      const [room, used] = [a, b].map((path) => path.slice(0, depth + 1).join('/'));
      uses.set(room, (uses.get(room) ?? new Map()).set(used, relative(root, file)));
    }
  }
  const problems = [];
  for (const [room, others] of uses) {
    for (const [used, by] of others) {
      const back = wayBetween(uses, used, room);
      // Told once, of the folder that comes first.
      if (back?.every((other) => room <= other))
        problems.push(`${by}: ${room} uses ${used}, which uses it: ${back.join(' -> ')}`);
    }
  }
  return problems;
}

/** The folders on a way from one to the other; undefined: none. */
function wayBetween(uses, from, to) {
  const ways = new Map([[from, [from]]]);
  for (const [at, way] of ways) {
    if (at === to) return way;
    for (const next of uses.get(at)?.keys() ?? []) if (!ways.has(next)) ways.set(next, [...way, next]);
  }
  return undefined;
}

/** `import { type A, type B } from` brings nothing at run time. */
function onlyTypes(text, from) {
  const quoted = from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const match = new RegExp(`(?:import|export)\\s*\\{([^}]*)\\}\\s*from\\s+'${quoted}'`).exec(text);
  if (match === null) return false;
  return match[1]
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
    .every((name) => name.startsWith('type '));
}

function bannedCalls(root, texts, allowed) {
  const problems = [];
  for (const [file, text] of texts) {
    if (isTest(file)) continue;
    const name = relative(root, file);
    for (const { pattern, why, except } of BANNED) {
      if (except.includes(name) || allowed.includes(name)) continue;
      text.split('\n').forEach((line, i) => {
        if (!/^\s*(\*|\/\/|\/\*)/.test(line) && pattern.test(line))
          problems.push(`${name}:${i + 1}: ${why}: ${line.trim()}`);
      });
    }
  }
  return problems;
}

function names(root, texts) {
  const bad = /(^|\/)(utils?|helpers?|misc|common)\.ts$/;
  return [...texts.keys()]
    .map((file) => relative(root, file))
    .filter((name) => bad.test(name) || !/^[a-z0-9.-]+$/.test(name.split('/').pop().replace('_', '')))
    .map((name) => `${name}: files are named after what they export, in kebab-case`);
}
