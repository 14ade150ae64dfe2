// The two messages of skep.v1.CallService that are made for every call, by hand: a fifth of what the generated code takes, which
// call-encoding.test.ts compares them with.
//
//   CallsRequest  { 0a length { 08 number  12 length method  1a length request  20 timeout_ms  2a length request_id
//                               32 length user  38 depth } }
//   CallsResponse { 0a length { 08 number  12 length response } }

/** A Call (proto/skep/v1/call.proto), with its method as `methodField` has it. */
export interface EncodedCall {
  readonly number: number;
  readonly method: Buffer;
  readonly request: Uint8Array;
  readonly timeoutMs: number | undefined;
  readonly requestId: string;
  readonly user: string | undefined;
  readonly depth: number;
}

const ONE = 0x0a;
const NUMBER = 0x08;
const BYTES = 0x12;
const REQUEST = 0x1a;
const TIMEOUT = 0x20;
const REQUEST_ID = 0x2a;
const USER = 0x32;
const DEPTH = 0x38;

/** A CallsRequest of one call. */
export function encodeCall({ number, method, request, timeoutMs, requestId, user, depth }: EncodedCall): Buffer {
  const idBytes = Buffer.byteLength(requestId);
  const userBytes = user === undefined ? 0 : Buffer.byteLength(user);
  const length =
    1 +
    varintBytes(number) +
    method.length +
    sizeOf(request.length) +
    (timeoutMs === undefined ? 0 : 1 + varintBytes(timeoutMs)) +
    (idBytes === 0 ? 0 : sizeOf(idBytes)) +
    (user === undefined ? 0 : sizeOf(userBytes)) +
    (depth === 0 ? 0 : 1 + varintBytes(depth));
  const out = Buffer.allocUnsafe(sizeOf(length));
  let at = writeHead(out, 0, ONE, length);
  at = writeHead(out, at, NUMBER, number);
  out.set(method, at);
  at = writeHead(out, at + method.length, REQUEST, request.length);
  out.set(request, at);
  at += request.length;
  if (timeoutMs !== undefined) at = writeHead(out, at, TIMEOUT, timeoutMs);
  if (idBytes > 0) {
    at = writeHead(out, at, REQUEST_ID, idBytes);
    at += out.write(requestId, at);
  }
  if (user !== undefined) {
    at = writeHead(out, at, USER, userBytes);
    at += out.write(user, at);
  }
  if (depth !== 0) writeHead(out, at, DEPTH, depth);
  return out;
}

/** The method's name as a field of Call. */
export function methodField(name: string): Buffer {
  const bytes = Buffer.byteLength(name);
  const out = Buffer.allocUnsafe(sizeOf(bytes));
  out.write(name, writeHead(out, 0, BYTES, bytes));
  return out;
}

/** A CallsResponse of one reply that has nothing but a response. */
export function encodeResponse(number: number, response: Uint8Array): Buffer {
  const length = 1 + varintBytes(number) + sizeOf(response.length);
  const out = Buffer.allocUnsafe(sizeOf(length));
  let at = writeHead(out, 0, ONE, length);
  at = writeHead(out, at, NUMBER, number);
  at = writeHead(out, at, BYTES, response.length);
  out.set(response, at);
  return out;
}

/** Of a field with so many bytes, with its tag and length. */
const sizeOf = (bytes: number): number => 1 + varintBytes(bytes) + bytes;

function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** A tag and the varint behind it, of less than 2^32; where they end. */
function writeHead(out: Buffer, start: number, tag: number, value: number): number {
  let at = start;
  out[at++] = tag;
  let rest = value;
  while (rest >= 0x80) {
    out[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  out[at++] = rest;
  return at;
}
