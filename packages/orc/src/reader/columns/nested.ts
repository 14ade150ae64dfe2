import { getBit } from '../../vector/bitmap.js';
import { concatVectors } from '../../vector/rearrange.js';
import type { ColumnVector } from '../../vector.js';
import { StreamKind } from '../stripe.js';
import type { ColumnReader } from './column-reader.js';
import {
  byteDecoder,
  type ColumnSource,
  corruptStream,
  integerDecoder,
  openOrEmpty,
  presentDecoder,
} from './column-streams.js';
import { freshInts, passingInts } from './fresh.js';
import { allRows, offsetsOf, presentRows } from './rows.js';

const MOST_ELEMENTS = 0x7fffffff;
/** Elements are read in pieces, so that a length that is not true fails before much is allocated. */
const PIECE = 1 << 20;

export function structReader(
  source: ColumnSource,
  fieldNames: readonly string[],
  fields: ColumnReader[],
): ColumnReader {
  const present = presentDecoder(source);
  return (parent) => {
    const rows = presentRows(present, parent);
    const children = fields.map((field) => field(rows));
    return { kind: 'struct', length: rows.length, validity: rows.validity, fieldNames, children };
  };
}

export function listReader(source: ColumnSource, element: ColumnReader): ColumnReader {
  const nextRows = listRows(source);
  return (parent) => {
    const { rows, offsets, total } = nextRows(parent);
    const child = readElements(element, total);
    return { kind: 'list', length: rows.length, validity: rows.validity, offsets, child };
  };
}

export function mapReader(source: ColumnSource, key: ColumnReader, value: ColumnReader): ColumnReader {
  const nextRows = listRows(source);
  return (parent) => {
    const { rows, offsets, total } = nextRows(parent);
    const keys = readElements(key, total);
    const values = readElements(value, total);
    return { kind: 'map', length: rows.length, validity: rows.validity, offsets, keys, values };
  };
}

function listRows(source: ColumnSource) {
  const present = presentDecoder(source);
  const stream = openOrEmpty(source, StreamKind.length);
  const decoder = integerDecoder(stream, source.layout.rleV2, false);
  return (parent: Parameters<ColumnReader>[0]) => {
    const rows = presentRows(present, parent);
    const lengths = passingInts(rows.count);
    decoder.readLengths(lengths, 0, rows.count);
    const offsets = freshInts(rows.length + 1);
    const total = offsetsOf(lengths, rows, offsets);
    if (total > MOST_ELEMENTS) throw corruptStream(stream, `${total} elements in one batch`);
    return { rows, offsets, total };
  };
}

function readElements(element: ColumnReader, total: number): ColumnVector {
  if (total <= PIECE) return element(allRows(total));
  const pieces: ColumnVector[] = [];
  for (let at = 0; at < total; at += PIECE) pieces.push(element(allRows(Math.min(PIECE, total - at))));
  return concatVectors(pieces);
}

/** DATA holds each row's tag; each alternative has the rows of its tag only. */
export function unionReader(source: ColumnSource, alternatives: ColumnReader[]): ColumnReader {
  const present = presentDecoder(source);
  const stream = openOrEmpty(source, StreamKind.data);
  const decoder = byteDecoder(stream);
  return (parent) => {
    const rows = presentRows(present, parent);
    const dense = new Uint8Array(rows.count);
    decoder.readBytes(dense, 0, rows.count);
    const counts = new Int32Array(alternatives.length);
    const tags = new Uint8Array(rows.length);
    const rowOffsets = new Int32Array(rows.length);
    for (let row = 0, from = 0; row < rows.length; row++) {
      if (rows.validity !== undefined && !getBit(rows.validity, row)) continue;
      const tag = dense[from++];
      if (tag >= alternatives.length) throw corruptStream(stream, `tag ${tag} of ${alternatives.length} alternatives`);
      tags[row] = tag;
      rowOffsets[row] = counts[tag]++;
    }
    const children = alternatives.map((alternative, tag) => alternative(allRows(counts[tag])));
    return { kind: 'union', length: rows.length, validity: rows.validity, tags, rowOffsets, children };
  };
}
