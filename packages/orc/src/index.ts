export { type ByteSink, type ByteSource, CorruptFileError, memorySink, memorySource } from '@skep/core';
export type { CompressionKind } from './compression/codec.js';
export { dumpOrc, statisticsText } from './dump.js';
export {
  type EncryptionAlgorithm,
  type EncryptionKey,
  inMemoryKeys,
  type KeyProvider,
  type LocalKey,
  type MasterKey,
  parseKeys,
} from './encryption/keys.js';
export type { EncryptedColumn } from './encryption/refuse.js';
export * from './errors.js';
export type { ColumnStatistics } from './proto/gen/orc_proto.js';
export * from './reader/options.js';
export { type OpenOptions, OrcReader, type OrcWriterKind, openOrc, openOrcSync } from './reader/orc-reader.js';
export type { ColumnLayout, StreamInformation, StripeInformation, StripeLayout } from './reader/stripe.js';
export { stripeLength, type WholeStripe } from './reader/whole-stripe.js';
export { rowToJson } from './row-json.js';
export * from './sarg/sarg.js';
export * from './type-description.js';
export { parseType, typeToString } from './type-text.js';
export * from './vector/bitmap.js';
export { type AppendableValue, VectorBuilder, vectorOf } from './vector/builder.js';
export { nullVector } from './vector/constant.js';
export { dropRows } from './vector/drop-rows.js';
export { concatVectors, filterVector, sliceVector } from './vector/rearrange.js';
export * from './vector/value.js';
export { type VectorBuffer, vectorBuffer } from './vector/vector-buffer.js';
export * from './vector.js';
export { appendableStripes } from './write/append-stripe.js';
export { InvalidWriteError } from './write/errors.js';
export type { OrcWriterOptions, StripeEvent } from './write/options.js';
export { OrcWriter } from './write/orc-writer.js';
