import { assemble, type KernelFunction } from './assembler.js';

/** What the module offers beside its functions; `buffer` is another one after it has grown. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of WebAssembly's JavaScript interface that is used here: Node's types do not have it. */
interface WebAssemblyInterface {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

export type KernelCalls<Names extends string> = { readonly memory: KernelMemory } & Readonly<
  Record<Names, (...values: number[]) => number>
>;

/** WebAssembly's memory grows by these. */
const PAGE_BYTES = 1 << 16;

/** Makes the memory so many bytes long at least; whoever looks at `buffer` looks again where it has grown. */
export function growTo(memory: KernelMemory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
}

/** The functions, ready to be called, and their memory of `pages` × 64 KiB. */
export function instantiate<Names extends string>(
  functions: readonly KernelFunction<Names>[],
  pages: number,
): KernelCalls<Names> {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(assemble(functions, pages)));
  return instance.exports as KernelCalls<Names>;
}
