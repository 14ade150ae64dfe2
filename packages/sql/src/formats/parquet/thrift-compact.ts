import { CorruptFileError } from '@skep/core';

/*
 * Thrift's compact protocol, as far as Parquet's footers need it (thrift-compact-protocol.md):
 *
 *     struct   fields, then 0
 *     field    4 bits: id less the last one (0: a zigzag varint follows), 4 bits type; value (booleans are in the type)
 *     list     4 bits size (15: a varint follows), 4 bits element type; elements
 *     binary   varint length, bytes
 */

export const THRIFT = { i32: 5, binary: 8, list: 9, set: 10, map: 11, struct: 12 } as const;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  readonly value: ThriftValue;
}
export type ThriftStruct = readonly ThriftField[];
export interface ThriftList {
  readonly elementType: number;
  readonly items: readonly ThriftValue[];
}
/** Integers and booleans as numbers; 64-bit integers and doubles as bigints of their bits. */
export type ThriftValue = number | bigint | Uint8Array | ThriftStruct | ThriftList;

export class ThriftReader {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly path: string,
    private at = 0,
  ) {}

  struct(): ThriftStruct {
    const fields: ThriftField[] = [];
    for (let last = 0; ; ) {
      const header = this.byte();
      if (header === 0) return fields;
      const type = header & 15;
      const id = header >> 4 === 0 ? Number(zigzag(this.varint())) : last + (header >> 4);
      fields.push({ id, type, value: type <= 2 ? type : this.value(type) });
      last = id;
    }
  }

  private value(type: number): ThriftValue {
    switch (type) {
      case 1:
      case 2:
      case 3:
        return this.byte();
      case 4:
      case THRIFT.i32:
        return Number(zigzag(this.varint()));
      case 6:
        return zigzag(this.varint());
      case 7:
        return new DataView(this.take(8).slice().buffer).getBigInt64(0, true);
      case THRIFT.binary:
        return this.take(Number(this.varint()));
      case THRIFT.list:
      case THRIFT.set: {
        const header = this.byte();
        const size = header >> 4 === 15 ? Number(this.varint()) : header >> 4;
        const items: ThriftValue[] = [];
        for (let i = 0; i < size; i++) items.push(this.value(header & 15));
        return { elementType: header & 15, items };
      }
      case THRIFT.struct:
        return this.struct();
      default:
        throw new CorruptFileError(this.path, this.at, `Thrift type ${type} in a Parquet footer`);
    }
  }

  private byte(): number {
    return this.take(1)[0];
  }

  private take(count: number): Uint8Array {
    if (this.at + count > this.bytes.length)
      throw new CorruptFileError(this.path, this.at, 'the footer ends too early');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}

const zigzag = (value: bigint): bigint => (value >> 1n) ^ -(value & 1n);

/** The bytes of a struct. */
export function encodeThrift(struct: ThriftStruct): Uint8Array {
  const out: number[] = [];
  putStruct(out, struct);
  return Uint8Array.from(out);
}

function putStruct(out: number[], struct: ThriftStruct): void {
  let last = 0;
  for (const { id, type, value } of struct) {
    const step = id - last;
    if (step >= 1 && step <= 15) out.push((step << 4) | type);
    else {
      out.push(type);
      putZigzag(out, BigInt(id));
    }
    last = id;
    if (type > 2) putValue(out, type, value);
  }
  out.push(0);
}

function putValue(out: number[], type: number, value: ThriftValue): void {
  if (typeof value === 'number') {
    if (type <= 3) out.push(value);
    else putZigzag(out, BigInt(value));
  } else if (typeof value === 'bigint') {
    if (type === 7) {
      const bits = BigInt.asUintN(64, value);
      for (let i = 0n; i < 64n; i += 8n) out.push(Number((bits >> i) & 0xffn));
    } else putZigzag(out, value);
  } else if (value instanceof Uint8Array) {
    putVarint(out, BigInt(value.length));
    for (const byte of value) out.push(byte);
  } else if ('items' in value) {
    const size = value.items.length;
    out.push((Math.min(size, 15) << 4) | value.elementType);
    if (size >= 15) putVarint(out, BigInt(size));
    for (const item of value.items) putValue(out, value.elementType, item);
  } else putStruct(out, value);
}

const putZigzag = (out: number[], value: bigint): void =>
  putVarint(out, BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));

function putVarint(out: number[], value: bigint): void {
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
}
