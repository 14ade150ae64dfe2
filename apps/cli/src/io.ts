import type { Readable, Writable } from 'node:stream';
import type { CliHome, HomeOptions } from './cli-home.js';

/** The outside of the command line: what a test replaces. */
export interface CliIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  openHome(options: HomeOptions): Promise<CliHome>;
  /** Calls back at each Ctrl-C; returns how to stop that. */
  onInterrupt(callback: () => void): () => void;
}

/** The process itself. Opening a home loads the metastore and the query engine, so it waits until somebody needs one. */
export function processIo(): CliIo {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    openHome: async (options) => (await import('./open-home.js')).openHomeOrMetastore(options),
    onInterrupt(callback) {
      process.on('SIGINT', callback);
      return () => {
        process.off('SIGINT', callback);
      };
    },
  };
}

/** Writes and waits while the reader is slower. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (stream.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}
