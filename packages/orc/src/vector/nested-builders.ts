import { InvalidValueError } from '../errors.js';
import type { ColumnVector } from '../vector.js';
import { type ColumnBuilder, RowCounter } from './fixed-builders.js';

/** Lists. */
export class ListBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private offsets: number[] = [0];

  constructor(private readonly element: ColumnBuilder) {}

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    if (!isNull && !Array.isArray(value)) throw new InvalidValueError(value, 'array');
    this.rows.add(!isNull);
    if (!isNull) for (const item of value as unknown[]) this.element.append(item);
    this.offsets.push(this.element.length);
  }

  build(): ColumnVector {
    const offsets = Int32Array.from(this.offsets);
    this.offsets = [0];
    return { ...this.rows.take(), kind: 'list', offsets, child: this.element.build() };
  }
}

/** Maps, from a Map or from pairs. */
export class MapBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private offsets: number[] = [0];

  constructor(
    private readonly keys: ColumnBuilder,
    private readonly values: ColumnBuilder,
  ) {}

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const isNull = value === null || value === undefined;
    if (!isNull && !Array.isArray(value) && !(value instanceof Map)) throw new InvalidValueError(value, 'map');
    this.rows.add(!isNull);
    if (!isNull) {
      for (const pair of value as Iterable<unknown>) {
        if (!Array.isArray(pair) || pair.length !== 2) throw new InvalidValueError(pair, 'map', 'not a pair');
        this.keys.append(pair[0]);
        this.values.append(pair[1]);
      }
    }
    this.offsets.push(this.keys.length);
  }

  build(): ColumnVector {
    const offsets = Int32Array.from(this.offsets);
    this.offsets = [0];
    return { ...this.rows.take(), kind: 'map', offsets, keys: this.keys.build(), values: this.values.build() };
  }
}

/** Structs, from an object by field name (a missing one is NULL) or from an array by position. */
export class StructBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private readonly fields: ReadonlySet<string>;

  constructor(
    private readonly fieldNames: readonly string[],
    private readonly children: readonly ColumnBuilder[],
  ) {
    this.fields = new Set(fieldNames);
  }

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    const { children, fieldNames } = this;
    if (value === null || value === undefined) {
      for (const child of children) child.append(null);
    } else if (Array.isArray(value)) {
      if (value.length !== children.length) throw new InvalidValueError(value, 'struct', `${children.length} fields`);
      for (let i = 0; i < children.length; i++) children[i].append(value[i]);
    } else if (typeof value === 'object') {
      const record = value as Record<string, unknown>;
      for (const name in record) {
        if (!this.fields.has(name)) throw new InvalidValueError(value, 'struct', `no field '${name}'`);
      }
      for (let i = 0; i < children.length; i++) {
        children[i].append(Object.hasOwn(record, fieldNames[i]) ? record[fieldNames[i]] : null);
      }
    } else throw new InvalidValueError(value, 'struct');
    this.rows.add(value !== null && value !== undefined);
  }

  build(): ColumnVector {
    const children = this.children.map((child) => child.build());
    return { ...this.rows.take(), kind: 'struct', fieldNames: this.fieldNames, children };
  }
}

/** Unions; a NULL row points at tag 0 and at a row that exists or would be the next. */
export class UnionBuilder implements ColumnBuilder {
  private readonly rows = new RowCounter();
  private tags: number[] = [];
  private rowOffsets: number[] = [];

  constructor(private readonly children: readonly ColumnBuilder[]) {}

  get length(): number {
    return this.rows.length;
  }

  append(value: unknown): void {
    if (value === null || value === undefined) {
      this.rows.add(false);
      this.tags.push(0);
      this.rowOffsets.push(Math.max(0, this.children[0].length - 1));
      return;
    }
    const { tag, value: inner } = value as { tag?: unknown; value?: unknown };
    const child = typeof tag === 'number' ? this.children[tag] : undefined;
    if (child === undefined || typeof tag !== 'number') throw new InvalidValueError(value, 'uniontype', 'no such tag');
    this.rowOffsets.push(child.length);
    child.append(inner);
    this.tags.push(tag);
    this.rows.add(true);
  }

  build(): ColumnVector {
    const tags = Uint8Array.from(this.tags);
    const rowOffsets = Int32Array.from(this.rowOffsets);
    this.tags = [];
    this.rowOffsets = [];
    const children = this.children.map((child) => child.build());
    return { ...this.rows.take(), kind: 'union', tags, rowOffsets, children };
  }
}
