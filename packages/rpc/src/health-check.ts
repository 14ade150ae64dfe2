import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { MethodDefinition } from './bind.js';

/** HealthCheckResponse.ServingStatus.SERVING. */
export const HEALTH_SERVING = 1;

/**
 * grpc.health.v1.Health/Check: HealthCheckRequest { string service = 1 }, HealthCheckResponse { ServingStatus status = 1 }.
 * The request is the service's name (empty: the server as a whole), the response the status.
 */
export const healthCheck: MethodDefinition = {
  path: '/grpc.health.v1.Health/Check',
  requestStream: false,
  responseStream: false,
  requestSerialize: (service: string) => Buffer.from(new BinaryWriter().uint32(10).string(service).finish()),
  requestDeserialize: (bytes) => stringField(bytes),
  responseSerialize: (status: number) => Buffer.from(new BinaryWriter().uint32(8).int32(status).finish()),
  responseDeserialize: (bytes) => {
    const reader = new BinaryReader(bytes);
    let status = 0;
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === 1) status = reader.int32();
      else reader.skip(wireType, field);
    }
    return status;
  },
};

function stringField(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  let text = '';
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) text = reader.string();
    else reader.skip(wireType, field);
  }
  return text;
}
