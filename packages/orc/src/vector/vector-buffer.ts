import { BugError } from '@skep/core';
import type { BytesVector, ColumnVector } from '../vector.js';
import { bitmapBytes, copyBits, getBit, sliceBitmap } from './bitmap.js';

const INITIAL_ROWS = 1024;
/** TypedArray.set costs some 100 ns a call: shorter runs are copied by hand. */
const LEAST_RUN = 16;

/**
 * Puts runs of rows of several vectors of one type together, column by column, in memory that is used again: what was handed out by
 * `vector` is good until rows are added after `clear`.
 */
export interface VectorBuffer {
  readonly length: number;
  /** Adds rows [start, end) of a vector. */
  add(vector: ColumnVector, start: number, end: number): void;
  vector(): ColumnVector;
  clear(): void;
}

/** An empty one for vectors such as this. */
export function vectorBuffer(like: ColumnVector): VectorBuffer {
  switch (like.kind) {
    case 'boolean':
      return new FixedBuffer(like, [new Lane((size) => new Uint8Array(size), 1)]);
    case 'byte':
      return new FixedBuffer(like, [new Lane((size) => new Int8Array(size), 1)]);
    case 'short':
      return new FixedBuffer(like, [new Lane((size) => new Int16Array(size), 1)]);
    case 'int':
    case 'date':
      return new FixedBuffer(like, [new Lane((size) => new Int32Array(size), 1)]);
    case 'long':
      return new FixedBuffer(like, [new Lane((size) => new BigInt64Array(size), 1)]);
    case 'float':
      return new FixedBuffer(like, [new Lane((size) => new Float32Array(size), 1)]);
    case 'double':
      return new FixedBuffer(like, [new Lane((size) => new Float64Array(size), 1)]);
    case 'timestamp':
    case 'timestamp_instant':
      return new FixedBuffer(like, [
        new Lane((size) => new BigInt64Array(size), 1),
        new Lane((size) => new Int32Array(size), 1),
      ]);
    case 'decimal':
      return new FixedBuffer(like, [new Lane((size) => new BigInt64Array(size), 2)]);
    case 'string':
    case 'char':
    case 'varchar':
    case 'binary':
      return new BytesBuffer(like);
    case 'list':
      return new ElementsBuffer(like, [vectorBuffer(like.child)]);
    case 'map':
      return new ElementsBuffer(like, [vectorBuffer(like.keys), vectorBuffer(like.values)]);
    case 'struct':
      return new StructBuffer(like, like.children.map(vectorBuffer));
    case 'union':
      return new UnionBuffer(like, like.children.map(vectorBuffer));
  }
}

type Values = Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** One array of a column, `each` elements a row. */
class Lane {
  values: Values;

  constructor(
    private readonly create: (size: number) => Values,
    private readonly each: number,
  ) {
    this.values = create(INITIAL_ROWS * each);
  }

  copy(from: Values, start: number, end: number, to: number): void {
    const { each } = this;
    const needed = (to + end - start) * each;
    if (needed > this.values.length) {
      const grown = this.create(Math.max(needed, this.values.length * 2));
      (grown as Int32Array).set(this.values as Int32Array);
      this.values = grown;
    }
    if (end - start >= LEAST_RUN) {
      (this.values as Int32Array).set(from.subarray(start * each, end * each) as Int32Array, to * each);
    } else copyEach(this.values as Int32Array, to * each, from as Int32Array, start * each, end * each);
  }

  view(length: number): Values {
    return this.values.subarray(0, length * this.each);
  }
}

/** Arrays of all classes of elements: passing one on costs no allocation. */
function copyEach(to: Int32Array, at: number, from: Int32Array, start: number, end: number): void {
  for (let i = start, j = at; i < end; i++, j++) to[j] = from[i];
}

/** What all kinds have: length and NULLs. */
abstract class BaseBuffer<V extends ColumnVector> implements VectorBuffer {
  length = 0;
  private hasNulls = false;
  private bitmap = new Uint8Array(bitmapBytes(INITIAL_ROWS));

  constructor(protected readonly like: V) {}

  protected abstract copy(vector: V, start: number, end: number): void;
  /** What is more than length and NULLs of a vector. */
  protected abstract parts(): object;
  protected clearParts(): void {}

  add(vector: ColumnVector, start: number, end: number): void {
    if (vector.kind !== this.like.kind) throw new BugError(`a ${vector.kind} vector after a ${this.like.kind} vector`);
    if (end <= start) return;
    this.addNulls(vector.validity, start, end);
    this.copy(vector as V, start, end);
    this.length += end - start;
  }

  vector(): ColumnVector {
    const { length, hasNulls, bitmap } = this;
    const validity = hasNulls ? bitmap.subarray(0, bitmapBytes(length)) : undefined;
    // The parts belong to the kind: see vectorBuffer.
    return { ...this.like, length, validity, ...this.parts() } as ColumnVector;
  }

  clear(): void {
    this.length = 0;
    this.hasNulls = false;
    this.clearParts();
  }

  private addNulls(validity: Uint8Array | undefined, start: number, end: number): void {
    if (validity === undefined && !this.hasNulls) return;
    const { length } = this;
    const needed = bitmapBytes(length + end - start);
    if (needed > this.bitmap.length) {
      const grown = new Uint8Array(Math.max(needed, this.bitmap.length * 2));
      grown.set(this.bitmap);
      this.bitmap = grown;
    }
    if (!this.hasNulls) copyBits(this.bitmap, 0, undefined, length);
    this.hasNulls = true;
    copyBits(this.bitmap, length, validity && sliceBitmap(validity, start, end), end - start);
  }
}

/** Kinds whose rows have fixed places in one or two arrays. */
class FixedBuffer extends BaseBuffer<ColumnVector> {
  constructor(
    like: ColumnVector,
    private readonly lanes: readonly Lane[],
  ) {
    super(like);
  }

  protected override copy(vector: ColumnVector, start: number, end: number): void {
    const { lanes, like, length } = this;
    if (vector.kind === 'decimal' && like.kind === 'decimal' && vector.scale !== like.scale) {
      throw new BugError(`decimals of scale ${vector.scale} after those of ${like.scale}`);
    }
    lanes.forEach((lane, i) => {
      lane.copy(arraysOf(vector)[i], start, end, length);
    });
  }

  protected override parts(): object {
    const [first, second] = this.lanes.map((lane) => lane.view(this.length));
    if (this.like.kind === 'decimal') return { words: first };
    return second === undefined ? { values: first } : { seconds: first, nanos: second };
  }
}

function arraysOf(vector: ColumnVector): readonly Values[] {
  if (vector.kind === 'decimal') return [vector.words];
  if ('nanos' in vector) return [vector.seconds, vector.nanos];
  if ('values' in vector && ArrayBuffer.isView(vector.values)) return [vector.values];
  throw new BugError(`a ${vector.kind} vector has no values of a fixed length`);
}

/** Offsets from 0, and where in the source the elements of some rows are. */
class Offsets {
  values = new Int32Array(INITIAL_ROWS + 1);

  copy(from: Int32Array, start: number, end: number, to: number): { readonly first: number; readonly end: number } {
    const needed = to + end - start + 1;
    if (needed > this.values.length) {
      const grown = new Int32Array(Math.max(needed, this.values.length * 2));
      grown.set(this.values);
      this.values = grown;
    }
    const { values } = this;
    const shift = values[to] - from[start];
    if (shift + from[end] > 0x7fffffff) throw new BugError('rows above 2 GiB cannot be put together');
    for (let i = start + 1, j = to + 1; i <= end; i++, j++) values[j] = from[i] + shift;
    return { first: from[start], end: from[end] };
  }
}

class BytesBuffer extends BaseBuffer<BytesVector> {
  private readonly offsets = new Offsets();
  private readonly bytes = new Lane((size) => new Uint8Array(size), 1);

  protected override copy(vector: BytesVector, start: number, end: number): void {
    const at = this.offsets.values[this.length];
    const elements = this.offsets.copy(vector.offsets, start, end, this.length);
    this.bytes.copy(vector.bytes, elements.first, elements.end, at);
  }

  protected override parts(): object {
    const { length } = this;
    const offsets = this.offsets.values.subarray(0, length + 1);
    return { offsets, bytes: this.bytes.view(offsets[length]) };
  }
}

/** Lists and maps. */
class ElementsBuffer extends BaseBuffer<ColumnVector> {
  private readonly offsets = new Offsets();

  constructor(
    like: ColumnVector,
    private readonly children: readonly VectorBuffer[],
  ) {
    super(like);
  }

  protected override copy(vector: ColumnVector, start: number, end: number): void {
    if (vector.kind !== 'list' && vector.kind !== 'map') return;
    const elements = this.offsets.copy(vector.offsets, start, end, this.length);
    const from = vector.kind === 'list' ? [vector.child] : [vector.keys, vector.values];
    this.children.forEach((child, i) => {
      child.add(from[i], elements.first, elements.end);
    });
  }

  protected override parts(): object {
    const offsets = this.offsets.values.subarray(0, this.length + 1);
    const [first, second] = this.children.map((child) => child.vector());
    return this.like.kind === 'list' ? { offsets, child: first } : { offsets, keys: first, values: second };
  }

  protected override clearParts(): void {
    for (const child of this.children) child.clear();
  }
}

class StructBuffer extends BaseBuffer<Extract<ColumnVector, { kind: 'struct' }>> {
  constructor(
    like: Extract<ColumnVector, { kind: 'struct' }>,
    private readonly children: readonly VectorBuffer[],
  ) {
    super(like);
  }

  protected override copy(vector: Extract<ColumnVector, { kind: 'struct' }>, start: number, end: number): void {
    this.children.forEach((child, i) => {
      child.add(vector.children[i], start, end);
    });
  }

  protected override parts(): object {
    return { children: this.children.map((child) => child.vector()) };
  }

  protected override clearParts(): void {
    for (const child of this.children) child.clear();
  }
}

class UnionBuffer extends BaseBuffer<Extract<ColumnVector, { kind: 'union' }>> {
  private readonly tags = new Lane((size) => new Uint8Array(size), 1);
  private readonly rowOffsets = new Lane((size) => new Int32Array(size), 1);

  constructor(
    like: Extract<ColumnVector, { kind: 'union' }>,
    private readonly children: readonly VectorBuffer[],
  ) {
    super(like);
  }

  protected override copy(vector: Extract<ColumnVector, { kind: 'union' }>, start: number, end: number): void {
    const { length, children } = this;
    this.tags.copy(vector.tags, start, end, length);
    this.rowOffsets.copy(vector.rowOffsets, start, end, length);
    for (let i = start, to = length; i < end; i++, to++) {
      if (vector.validity !== undefined && !getBit(vector.validity, i)) continue;
      const tag = vector.tags[i];
      this.rowOffsets.values[to] = children[tag].length;
      children[tag].add(vector.children[tag], vector.rowOffsets[i], vector.rowOffsets[i] + 1);
    }
  }

  protected override parts(): object {
    const { length } = this;
    const [tags, rowOffsets] = [this.tags.view(length), this.rowOffsets.view(length)];
    return { tags, rowOffsets, children: this.children.map((child) => child.vector()) };
  }

  protected override clearParts(): void {
    for (const child of this.children) child.clear();
  }
}
