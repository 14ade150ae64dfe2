import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ColumnVector, isNull, openOrc, type TypeDescription, vectorValue } from '@skep/orc';
import { localFileSystem } from '@skep/storage';

type Canonical = null | string | Canonical[];

interface PyarrowFile {
  readonly path: string;
  readonly rows?: readonly Canonical[];
  readonly error?: string;
}

/** Every ORC file below the folders. */
export const orcFilesBelow = (dirs: readonly string[]): string[] =>
  dirs.flatMap((dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /^(bucket_|\d+_)/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );

/** Files whose rows pyarrow reads otherwise than we do; one line a difference. */
export async function compareWithPyarrow(python: string, script: string, files: readonly string[]): Promise<string[]> {
  const { status, stdout, stderr } = spawnSync(python, [script], {
    input: files.join('\n'),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  if (status !== 0) return [`pyarrow: ${stderr}`];
  const answers = new Map<string, PyarrowFile>();
  for (const line of stdout.trim().split('\n')) {
    const answer: PyarrowFile = JSON.parse(line);
    answers.set(answer.path, answer);
  }
  const problems: string[] = [];
  for (const path of files) {
    const problem = compare(await ownRows(path), answers.get(path));
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
  }
  return problems;
}

function compare(own: readonly Canonical[], answer: PyarrowFile | undefined): string | undefined {
  if (answer?.rows === undefined) return `pyarrow: ${answer?.error ?? 'no answer'}`;
  if (answer.rows.length !== own.length) return `${answer.rows.length} rows by pyarrow, ${own.length} by us`;
  const at = own.findIndex((row, i) => JSON.stringify(row) !== JSON.stringify(answer.rows?.[i]));
  if (at < 0) return undefined;
  return `row ${at}: ${JSON.stringify(answer.rows[at])} by pyarrow, ${JSON.stringify(own[at])} by us`;
}

async function ownRows(path: string): Promise<Canonical[]> {
  const source = await localFileSystem().open(path);
  const rows: Canonical[] = [];
  const reader = await openOrc(source);
  for await (const batch of reader.batches()) {
    for (let row = 0; row < batch.length; row++) rows.push(canonical(batch.root, row, reader.schema));
  }
  await source.close?.();
  return rows;
}

/** The form that read_orc.py prints. */
function canonical(vector: ColumnVector, row: number, type: TypeDescription): Canonical {
  if (isNull(vector, row)) return null;
  switch (vector.kind) {
    case 'boolean':
      return vector.values[row] === 0 ? 'false' : 'true';
    case 'float':
    case 'double': {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleBE(vector.values[row]);
      return bytes.toString('hex');
    }
    case 'string':
    case 'varchar':
      return String(vectorValue(vector, row));
    case 'char':
      // The file holds no blanks at the end, pyarrow adds them.
      return padded(String(vectorValue(vector, row)), type.maximumLength ?? 0);
    case 'binary':
      return Buffer.from(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1])).toString('hex');
    case 'decimal':
      return decimalText(vectorValue(vector, row) as { unscaled: bigint; scale: number });
    case 'timestamp':
    case 'timestamp_instant':
      return String(vector.seconds[row] * 1_000_000_000n + BigInt(vector.nanos[row]));
    case 'list':
      return range(vector.offsets, row, (i) => canonical(vector.child, i, type.children[0]));
    case 'map':
      return range(vector.offsets, row, (i) => [
        canonical(vector.keys, i, type.children[0]),
        canonical(vector.values, i, type.children[1]),
      ]);
    case 'struct':
      return vector.children.map((child, i) => canonical(child, row, type.children[i]));
    case 'union':
      return canonical(vector.children[vector.tags[row]], vector.rowOffsets[row], type.children[vector.tags[row]]);
    default:
      return String(vector.values[row]);
  }
}

const padded = (text: string, length: number): string => text + ' '.repeat(Math.max(0, length - [...text].length));

const range = (offsets: Int32Array, row: number, item: (i: number) => Canonical): Canonical[] =>
  Array.from({ length: offsets[row + 1] - offsets[row] }, (_, i) => item(offsets[row] + i));

function decimalText({ unscaled, scale }: { unscaled: bigint; scale: number }): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return unscaled < 0n ? `-${text}` : text;
}
