/*
 * A small assembler for WebAssembly (core specification 1.0, "Binary Format"), so that kernels are built from this
 * repository's source when they are loaded, by no tool. Instructions are nested as expressions, locals and labels have
 * names. Only what the kernels need is here: int32 and int64 locals, one memory, exported functions.
 */

interface Scope {
  readonly locals: readonly string[];
  /** Innermost first. */
  readonly labels: readonly string[];
}

/** Instructions that are encoded once the names around them are known. */
export type Code = (scope: Scope) => readonly number[];
/** An instruction that leaves a value, the name of a local, or an int32. */
export type Value = Code | string | number;

export interface KernelFunction<Name extends string = string> {
  readonly name: Name;
  /** All int32; so is the result. */
  readonly parameters: readonly string[];
  readonly locals: readonly string[];
  readonly longLocals?: readonly string[];
  readonly vectorLocals?: readonly string[];
  readonly body: readonly Code[];
}

const I32 = 0x7f;
const I64 = 0x7e;
const V128 = 0x7b;
const NO_RESULT = 0x40;
const END = 0x0b;

function unsigned(value: number): number[] {
  const out: number[] = [];
  let left = value;
  for (; left >= 0x80; left >>>= 7) out.push((left & 0x7f) | 0x80);
  out.push(left);
  return out;
}

function signed(value: number): number[] {
  const out: number[] = [];
  let left = value;
  while (left < -64 || left > 63) {
    out.push((left & 0x7f) | 0x80);
    left >>= 7;
  }
  out.push(left & 0x7f);
  return out;
}

function encode(value: Value, scope: Scope): readonly number[] {
  if (typeof value === 'number') return [0x41, ...signed(value | 0)];
  if (typeof value === 'string') return [0x20, ...unsigned(place(scope.locals, value))];
  return value(scope);
}

function place(names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  if (index < 0) throw new RangeError(`no local or label ${name}`);
  return index;
}

const all = (values: readonly Value[], scope: Scope): number[] => values.flatMap((value) => encode(value, scope));

const operation =
  (...code: number[]) =>
  (...operands: Value[]): Code =>
  (scope) => [...all(operands, scope), ...code];

const memory =
  (...code: number[]) =>
  (offset: number, ...operands: Value[]): Code =>
  (scope) => [...all(operands, scope), ...code, ...unsigned(offset)];

export const add = operation(0x6a);
export const sub = operation(0x6b);
export const mul = operation(0x6c);
export const divU = operation(0x6e);
export const and = operation(0x71);
export const or = operation(0x72);
export const xor = operation(0x73);
export const shl = operation(0x74);
export const shrU = operation(0x76);
export const isZero = operation(0x45);
export const eq = operation(0x46);
export const ne = operation(0x47);
export const ltU = operation(0x49);
export const gtU = operation(0x4b);
export const leU = operation(0x4d);
export const geU = operation(0x4f);
export const leadingZeros = operation(0x67);
export const ltS = operation(0x48);

/** On int64. */
export const longShl = operation(0x86);
export const longShrU = operation(0x88);
export const longOr = operation(0x84);
export const longTrailingZeros = operation(0x7a);
export const toLong = operation(0xad);
export const toInt = operation(0xa7);
export const long =
  (value: number): Code =>
  () => [0x42, ...signed(value)];

/** On vectors of 16 bytes (SIMD): of four int32 or two int64. */
export const swizzle = operation(0xfd, 0x0e);
export const vectorAnd = operation(0xfd, 0x4e);
export const vectorXor = operation(0xfd, 0x51);
export const splatInts = operation(0xfd, 0x11);
export const negateInts = operation(0xfd, 0xa1, 1);
export const shrInts = operation(0xfd, 0xad, 1);
export const splatLongs = operation(0xfd, 0x12);
export const negateLongs = operation(0xfd, 0xc1, 1);
export const shrLongs = operation(0xfd, 0xcd, 1);
export const vectorOf =
  (bytes: readonly number[]): Code =>
  () => [0xfd, 0x0c, ...bytes];

/** Loads (offset, address) and stores (offset, address, value), little endian, of any alignment. */
export const load8 = memory(0x2d, 0);
export const load16 = memory(0x2f, 0);
export const load32 = memory(0x28, 0);
export const load64 = memory(0x29, 0);
export const store8 = memory(0x3a, 0);
export const store16 = memory(0x3b, 0);
export const store32 = memory(0x36, 0);
export const store64 = memory(0x37, 0);
export const loadVector = memory(0xfd, 0x00, 0);
export const storeVector = memory(0xfd, 0x0b, 0);

export const set =
  (name: string, value: Value): Code =>
  (scope) => [...encode(value, scope), 0x21, ...unsigned(place(scope.locals, name))];

/** name += value */
export const advance = (name: string, value: Value): Code => set(name, add(name, value));

const nested =
  (code: number) =>
  (label: string, ...body: readonly Code[]): Code =>
  (scope) => [code, NO_RESULT, ...all(body, { ...scope, labels: [label, ...scope.labels] }), END];

/** A branch to its label goes behind it. */
export const block = nested(0x02);
/** A branch to its label starts it again; without one it ends. */
export const loop = nested(0x03);

export const branch =
  (label: string): Code =>
  (scope) => [0x0c, ...unsigned(place(scope.labels, label))];

export const branchIf =
  (label: string, condition: Value): Code =>
  (scope) => [...encode(condition, scope), 0x0d, ...unsigned(place(scope.labels, label))];

export const when =
  (condition: Value, ...body: readonly Code[]): Code =>
  (scope) => [
    ...encode(condition, scope),
    0x04,
    NO_RESULT,
    ...all(body, { ...scope, labels: ['', ...scope.labels] }),
    END,
  ];

export const whenElse =
  (condition: Value, body: readonly Code[], otherwise: readonly Code[]): Code =>
  (scope) => {
    const inside = { ...scope, labels: ['', ...scope.labels] };
    return [...encode(condition, scope), 0x04, NO_RESULT, ...all(body, inside), 0x05, ...all(otherwise, inside), END];
  };

export const answer =
  (value: Value): Code =>
  (scope) => [...encode(value, scope), 0x0f];

const vector = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, content: readonly number[]): number[] => [id, ...unsigned(content.length), ...content];
const name = (text: string): number[] => vector([...new TextEncoder().encode(text)].map((byte) => [byte]));

function functionBody({ parameters, locals, longLocals = [], vectorLocals = [], body }: KernelFunction): number[] {
  const scope: Scope = { locals: [...parameters, ...locals, ...longLocals, ...vectorLocals], labels: [] };
  const declared = vector([
    [...unsigned(locals.length), I32],
    [...unsigned(longLocals.length), I64],
    [...unsigned(vectorLocals.length), V128],
  ]);
  // What follows the last statement is never reached: every path answers.
  const content = [...declared, ...all(body, scope), 0x00, END];
  return [...unsigned(content.length), ...content];
}

/** The module's bytes: the functions and, as `memory`, a memory of `pages` × 64 KiB that can grow. */
export function assemble(functions: readonly KernelFunction[], pages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters }) => [0x60, ...vector(parameters.map(() => [I32])), 1, I32]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(3, vector(functions.map((_, index) => unsigned(index)))),
    ...section(5, vector([[0, ...unsigned(pages)]])),
    ...section(
      7,
      vector([
        ...functions.map((kernel, index) => [...name(kernel.name), 0, ...unsigned(index)]),
        [...name('memory'), 2, 0],
      ]),
    ),
    ...section(10, vector(functions.map(functionBody))),
  ]);
}
