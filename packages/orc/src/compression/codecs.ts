import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync, inflateRawSync, type ZlibOptions } from 'node:zlib';
import { Encoder } from '@toondepauw/node-zstd';
import { compressSync as lz4Compress } from 'lz4-napi';
import { compressSync as snappyCompress } from 'snappy';
import { UnsupportedCodecError } from '../errors.js';
import { decompressBlock } from './block-kernels.js';
import type { Codec, CompressionKind } from './codec.js';
import { deflateLiterals } from './deflate/deflate-literals.js';
import { inflate } from './deflate/inflate.js';
import { lzoDecompress } from './lzo.js';
import { zstdDecompress } from './zstd/decompress.js';
import { withContentSize } from './zstd/frame.js';

/** Java's CompressionCodec.Modifier: how hard the compressor tries. */
export type CompressionStrategy = 'speed' | 'compression';

const deflateLater = promisify<Uint8Array, ZlibOptions, Buffer>(deflateRaw);

/** zlib chunks are raw deflate (RFC 1951). Java's levels: 1 for speed, the default 6 for compression. */
function zlibCodec(strategy: CompressionStrategy): Codec {
  if (strategy === 'compression') return deflateCodec({ level: constants.Z_DEFAULT_COMPRESSION });
  const codec = deflateCodec({ level: constants.Z_BEST_SPEED });
  const { kind, decompress } = codec;
  const compress = (block: Uint8Array) => deflateLiterals(block) ?? block;
  return { ...codec, withoutMatches: { kind, decompress, compress } };
}

function deflateCodec(options: ZlibOptions): Codec {
  const of = (block: Uint8Array) => ({ ...options, chunkSize: Math.max(64, block.length) });
  return {
    kind: 'zlib',
    decompress(chunk, maximumLength) {
      const bytes = inflate(chunk, maximumLength);
      if (bytes !== undefined) return bytes;
      // zlib grows its output by chunkSize: one piece is fastest, but index streams of some bytes must not cost 256 KiB.
      const chunkSize = Math.max(64, Math.min(maximumLength, Math.max(4096, chunk.length * 8)));
      return inflateRawSync(chunk, { maxOutputLength: maximumLength, chunkSize });
    },
    compress: (block) => deflateRawSync(block, of(block)),
    compressLater: (block) => deflateLater(block, of(block)),
  };
}

/** Raw snappy, without framing. */
const snappyCodec: Codec = {
  kind: 'snappy',
  decompress(chunk, maximumLength) {
    let length = 0;
    let at = 0;
    do {
      if (at === Math.min(5, chunk.length)) throw new RangeError('its length is not a varint of 32 bits');
      length += (chunk[at] & 0x7f) * 2 ** (7 * at);
    } while (chunk[at++] >= 0x80);
    if (length > maximumLength) throw new RangeError(`${length} bytes are announced, ${maximumLength} is the most`);
    const bytes = decompressBlock('snappy', chunk.subarray(at), length);
    if (bytes?.length !== length) throw new RangeError('lengths or distances of its elements are wrong');
    return bytes;
  },
  compress: (block) => snappyCompress(block),
};

/** LZ4 blocks. lz4-napi puts the length in front (4 bytes). */
const lz4Codec: Codec = {
  kind: 'lz4',
  decompress(chunk, maximumLength) {
    const bytes = decompressBlock('lz4', chunk, maximumLength);
    if (bytes === undefined) throw new RangeError(`it is damaged, or holds more than ${maximumLength} bytes`);
    return bytes;
  },
  compress: (block) => lz4Compress(asBuffer(block)).subarray(4),
};

function zstdCodec(strategy: CompressionStrategy): Codec {
  let encoder: Encoder | undefined;
  return {
    kind: 'zstd',
    decompress: zstdDecompress,
    compress(block) {
      encoder ??= new Encoder(strategy === 'speed' ? 1 : 3);
      return withContentSize(encoder.encodeSync(asBuffer(block)), block.length);
    },
  };
}

const lzoCodec: Codec = {
  kind: 'lzo',
  decompress: lzoDecompress,
  compress() {
    throw new UnsupportedCodecError('lzo is read, never written');
  },
};

/** The codec of a kind; undefined for none. */
export function codecOf(kind: CompressionKind, strategy: CompressionStrategy = 'speed'): Codec | undefined {
  switch (kind) {
    case 'none':
      return undefined;
    case 'zlib':
      return zlibCodec(strategy);
    case 'snappy':
      return snappyCodec;
    case 'lzo':
      return lzoCodec;
    case 'lz4':
      return lz4Codec;
    case 'zstd':
      return zstdCodec(strategy);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
