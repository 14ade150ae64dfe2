import { readFileSync, writeFileSync } from 'node:fs';
import { memorySink, memorySource } from '@skep/core';
import { OrcWriter, openOrcSync } from '@skep/orc';
import { SHAPES } from './orc-data.js';
export async function main([cmd, ...args]: string[]) {
  if (cmd === 'gen') {
    for (const shape of SHAPES) for (const codec of ['none','zlib','snappy','lz4','zstd'] as const) {
      const sink = memorySink();
      const writer = new OrcWriter(sink, shape.type, { compression: codec });
      for (let from = 0; from < 500_000; from += 8192) await writer.write(shape.batch(from, Math.min(8192, 500_000 - from)));
      await writer.close();
      writeFileSync(`/tmp/orcperf/files/own-${shape.name.replace(/\W+/g,'_')}-${codec}.orc`, sink.bytes());
    }
    return 0;
  }
  const ms = Number(args.pop());
  for (const path of args) {
    const bytes = readFileSync(path);
    const times: number[] = [];
    const t0 = performance.now();
    while (performance.now() - t0 < ms) {
      const s = performance.now();
      let rows = 0;
      for (const batch of openOrcSync(memorySource(bytes)).batchesSync({})) rows += batch.length;
      times.push(performance.now() - s);
      await new Promise(setImmediate);
    }
    const half = times.slice(times.length >> 2).sort((a, b) => a - b);
    console.log(path.replace('/tmp/orcperf/files/', '').padEnd(36), 'median ms', half[half.length >> 1].toFixed(3), 'min', half[0].toFixed(3), 'n', half.length);
  }
  return 0;
}
