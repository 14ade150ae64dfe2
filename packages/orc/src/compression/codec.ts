/** ORC's compression kinds (spec: "Compression"; Java: org.apache.orc.CompressionKind). Brotli is not read or written. */
export type CompressionKind = 'none' | 'zlib' | 'snappy' | 'lzo' | 'lz4' | 'zstd';

/** How one chunk is squeezed. `decompress` throws whatever its library throws: chunks.ts names file and offset. */
export interface Codec {
  readonly kind: CompressionKind;
  /**
   * The chunk's bytes, at most `maximumLength` of them: more is an error, found before they are allocated. Good until
   * another chunk is decompressed.
   */
  decompress(chunk: Uint8Array, maximumLength: number): Uint8Array;
  compress(block: Uint8Array): Uint8Array;
  /** As compress, on another thread. */
  compressLater?(block: Uint8Array): Promise<Uint8Array>;
  /** The same format, made faster without looking for repetitions: for what has none, such as hashes and noise. */
  readonly withoutMatches?: Codec;
}
