import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeCall, encodeResponse, methodField } from './call-encoding.js';
import { CallsRequest, CallsResponse } from './gen/skep/v1/call.js';

const uint32 = fc.oneof(fc.constantFrom(0, 1, 127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 32 - 1), fc.nat());
const number = uint32.filter((value) => value > 0);
const bytes = fc.uint8Array({ maxLength: 300 });
const text = fc.string({ unit: 'binary', maxLength: 200 });

it('a call is what the generated code makes of it', () => {
  const calls = fc.record({
    number,
    method: text,
    request: bytes,
    timeoutMs: fc.option(uint32, { nil: undefined }),
    requestId: text,
    user: fc.option(text, { nil: undefined }),
    depth: uint32,
  });
  fc.assert(
    fc.property(calls, (call) => {
      const encoded = new Uint8Array(encodeCall({ ...call, method: methodField(call.method) }));
      // Without what is default: the generated code leaves fields out that are empty, and both are read alike.
      expect(CallsRequest.decode(encoded)).toEqual(
        CallsRequest.decode(CallsRequest.encode({ calls: [call], cancelled: [] }).finish()),
      );
      if (call.method !== '' && call.request.length > 0) {
        expect([...encoded]).toEqual([...CallsRequest.encode({ calls: [call], cancelled: [] }).finish()]);
      }
    }),
  );
});

it('a response is what the generated code makes of it', () => {
  fc.assert(
    fc.property(number, bytes, (of, response) => {
      const reply = { number: of, response, isPartial: false, code: 0, message: '', error: undefined, metadata: {} };
      const encoded = CallsResponse.decode(new Uint8Array(encodeResponse(of, response)));
      expect(encoded).toEqual(CallsResponse.decode(CallsResponse.encode({ replies: [reply] }).finish()));
    }),
  );
});
