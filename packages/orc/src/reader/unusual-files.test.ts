import { memorySink, memorySource } from '@skep/core';
import { expect, test } from 'vitest';
import { Footer, PostScript } from '../proto/gen/orc_proto.js';
import { rowToJson } from '../row-json.js';
import { parseType } from '../type-text.js';
import { vectorOf } from '../vector/builder.js';
import { OrcWriter } from '../write/orc-writer.js';
import type { ReadOptions } from './options.js';
import { openOrcSync } from './orc-reader.js';

/* Files as other writers, older and future ones, may make them: the tail of one of ours, changed. */

async function file(): Promise<Uint8Array> {
  const schema = parseType('struct<a:int,b:string>');
  const sink = memorySink();
  const writer = new OrcWriter(sink, schema, { compression: 'none', rowIndexStride: 10 });
  await writer.write(
    vectorOf(
      schema,
      Array.from({ length: 100 }, (_, i) => [i, `text ${i}`]),
    ),
  );
  await writer.close();
  return sink.bytes();
}

interface Change {
  readonly footer?: (footer: Footer) => void;
  readonly postScript?: (postScript: PostScript) => void;
  /** Put behind the messages: fields that no version of today knows. */
  readonly unknown?: Uint8Array;
}

async function changed({ footer: changeFooter, postScript: changePostScript, unknown = new Uint8Array() }: Change) {
  const bytes = await file();
  const end = bytes.length - 1 - bytes[bytes.length - 1];
  const postScript = PostScript.decode(bytes.subarray(end, -1));
  const start = end - Number(postScript.footerLength);
  const footer = Footer.decode(bytes.subarray(start, end));
  changeFooter?.(footer);
  const footerBytes = [...Footer.encode(footer).finish(), ...unknown];
  postScript.footerLength = BigInt(footerBytes.length);
  changePostScript?.(postScript);
  const tail = PostScript.encode(postScript).finish();
  // The magic is the last field: what is unknown comes before it.
  const magic = tail.length - 6;
  const postScriptBytes = [...tail.subarray(0, magic), ...unknown, ...tail.subarray(magic)];
  return openOrcSync(
    memorySource(
      Uint8Array.from([...bytes.subarray(0, start), ...footerBytes, ...postScriptBytes, postScriptBytes.length]),
      'changed.orc',
    ),
  );
}

function rowsOf(reader: ReturnType<typeof openOrcSync>, options: ReadOptions = {}): string[] {
  const rows: string[] = [];
  for (const { root, length } of reader.batchesSync(options)) {
    for (let row = 0; row < length; row++) rows.push(rowToJson(root, row));
  }
  return rows;
}

const ALL = Array.from({ length: 100 }, (_, i) => `{"a": ${i}, "b": "text ${i}"}`);
const FIVE = { sarg: { op: 'equals', column: 'a', literal: 5n } } as const;

test('without statistics of file and stripes, without versions', async () => {
  const reader = await changed({
    footer(footer) {
      footer.statistics = [];
      footer.softwareVersion = undefined;
    },
    postScript(postScript) {
      // The stripe statistics become bytes that nobody tells of.
      postScript.metadataLength = 0n;
      postScript.version = [];
      postScript.writerVersion = undefined;
    },
  });
  expect(rowsOf(reader)).toEqual(ALL);
  expect(reader.statistics).toEqual([]);
  expect(reader.stripeStatisticsSync()).toEqual([]);
  expect(rowsOf(reader, FIVE)).toContain(ALL[5]);
});

test('of a future writer and version, with fields that nobody knows yet', async () => {
  const reader = await changed({
    footer(footer) {
      footer.writer = 77;
    },
    postScript(postScript) {
      postScript.writerVersion = 99;
    },
    // Field 2047 as bytes, field 2046 as a number.
    unknown: Uint8Array.from([0xfa, 0x7f, 3, 1, 2, 3, 0xf0, 0x7f, 9]),
  });
  expect([reader.writer, reader.writerVersion]).toEqual(['unknown', 99]);
  expect(rowsOf(reader)).toEqual(ALL);
  expect(rowsOf(reader, FIVE)).toEqual(ALL.slice(0, 10));
});

test('with the wrong number of rows in the footer, or none', async () => {
  const reader = await changed({
    footer(footer) {
      footer.numberOfRows = undefined;
    },
  });
  expect(rowsOf(reader)).toEqual(ALL);
});

test('of an unknown type or compression: refused by name', async () => {
  const type = changed({
    footer(footer) {
      if (footer.types?.[1] !== undefined) footer.types[1].kind = 40 as never;
    },
  });
  await expect(type).rejects.toThrow(/changed\.orc: column 1 is of the unknown type 40/);
  const compression = changed({
    postScript(postScript) {
      postScript.compression = 6 as never;
    },
  });
  await expect(compression).rejects.toThrow(/changed\.orc: compression kind 6 \(brotli\) is not known/);
});
