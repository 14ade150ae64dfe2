import { BinaryReader } from '@bufbuild/protobuf/wire';
import type * as Grpc from '@grpc/grpc-js';

/**
 * grpc.reflection.v1 and v1alpha for those services, from the descriptors that `npm run generate` made of the contract; `others`:
 * FileDescriptorSets of services that are not of it.
 */
export async function addReflection(
  server: Grpc.Server,
  services: readonly string[],
  others: readonly Uint8Array[],
): Promise<void> {
  const [{ ReflectionService }, { DESCRIPTOR_SET }] = await Promise.all([
    import('@grpc/reflection'),
    import('./gen/descriptor-set.js'),
  ]);
  const files = [Buffer.from(DESCRIPTOR_SET, 'base64'), ...others].flatMap(descriptorFiles);
  // Of a package definition it reads the descriptors only.
  const contract = { contract: { fileDescriptorProtos: files } };
  const definition = contract as unknown as ConstructorParameters<typeof ReflectionService>[0];
  new ReflectionService(definition, { services: [...services] }).addToServer(server);
}

/** FileDescriptorSet { repeated FileDescriptorProto file = 1 }: the bytes of each. */
function descriptorFiles(set: Uint8Array): Buffer[] {
  const reader = new BinaryReader(set);
  const files: Buffer[] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) files.push(Buffer.from(reader.bytes()));
    else reader.skip(wireType, field);
  }
  return files;
}
