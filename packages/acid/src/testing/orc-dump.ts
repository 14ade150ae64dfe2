/** What is in an ORC file, as text to compare. Only for tests. */
import { type OrcReader, openOrc, rowToJson, typeToString } from '@skep/orc';
import { type FileSystem, walk } from '@skep/storage';
import { ACID_VERSION_FILE } from '../layout/directory-name.js';

export interface FileDump {
  readonly schema: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly rows: readonly string[];
  readonly compression: string;
  readonly blockSize: number;
  readonly stride: number;
}

export async function dumpFile(fs: FileSystem, path: string): Promise<FileDump> {
  const source = await fs.open(path);
  try {
    const reader: OrcReader = await openOrc(source);
    const rows: string[] = [];
    for await (const batch of reader.batches()) {
      for (let i = 0; i < batch.length; i++) rows.push(rowToJson(batch.root, i));
    }
    const text = new TextDecoder();
    return {
      schema: typeToString(reader.schema),
      metadata: Object.fromEntries([...reader.userMetadata].map(([key, value]) => [key, text.decode(value)])),
      rows,
      compression: reader.compression,
      blockSize: reader.compressionBlockSize,
      stride: reader.rowIndexStride,
    };
  } finally {
    await source.close?.();
  }
}

/** Every file below a folder by its path from there; data files with their content. */
export async function dumpFolder(fs: FileSystem, dir: string): Promise<Record<string, FileDump | string>> {
  const dump: Record<string, FileDump | string> = {};
  for await (const file of walk(fs, dir)) {
    const isData = !file.name.startsWith('_');
    const name = file.path.slice(dir.length + 1);
    dump[name] = isData ? await dumpFile(fs, file.path) : file.name === ACID_VERSION_FILE ? '2' : file.name;
  }
  return dump;
}
