import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

const PACKAGE = 'type.googleapis.com/arrow.flight.protocol.sql.';

/** A message of Flight SQL in its google.protobuf.Any. */
export interface SqlMessage {
  /** CommandStatementQuery … */
  readonly name: string;
  readonly value: Uint8Array;
}

/** google.protobuf.Any { string type_url = 1; bytes value = 2 }; undefined: the bytes are something else (JSON, a ticket of ours). */
export function unpackSql(bytes: Uint8Array): SqlMessage | undefined {
  if (bytes[0] !== 10) return undefined;
  let url = '';
  let value: Uint8Array = new Uint8Array(0);
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1) url = reader.string();
      else if (field === 2) value = reader.bytes();
      else reader.skip(wireType, field);
    }
  } catch {
    // Whoever gets these bytes next says what they should be.
    return undefined;
  }
  return url.startsWith(PACKAGE) ? { name: url.slice(PACKAGE.length), value } : undefined;
}

export function packSql(name: string, value: Uint8Array): Buffer {
  return Buffer.from(
    new BinaryWriter()
      .uint32(10)
      .string(PACKAGE + name)
      .uint32(18)
      .bytes(value)
      .finish(),
  );
}
