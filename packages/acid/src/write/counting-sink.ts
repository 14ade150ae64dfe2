import type { ByteSink } from '@skep/core';

/** A sink that knows how much went through it. */
export interface CountingSink extends ByteSink {
  readonly bytes: number;
}

export function countingSink(sink: ByteSink): CountingSink {
  let bytes = 0;
  return {
    path: sink.path,
    get bytes() {
      return bytes;
    },
    write(part) {
      bytes += part.length;
      return sink.write(part);
    },
    close: () => sink.close(),
    abort: () => sink.abort(),
  };
}
