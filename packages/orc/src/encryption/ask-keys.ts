import { InvalidReadError } from '../errors.js';
import type { AskingKeys } from './file-encryption.js';
import type { KeyProvider } from './keys.js';

/** Runs a computation that asks for keys; without a provider there are none. */
export async function askKeys<T>(computation: AskingKeys<T>, keys: KeyProvider | undefined): Promise<T> {
  let step = computation.next();
  while (!step.done) {
    const { key, encryptedKey } = step.value;
    step = computation.next(await keys?.decryptLocalKey(key, encryptedKey));
  }
  return step.value;
}

/** As askKeys, with a provider that answers at once. */
export function askKeysSync<T>(computation: AskingKeys<T>, keys: KeyProvider | undefined): T {
  let step = computation.next();
  while (!step.done) {
    const { key, encryptedKey } = step.value;
    const answer = keys?.decryptLocalKey(key, encryptedKey);
    if (answer instanceof Promise) {
      throw new InvalidReadError(
        `key '${key.name}': a file is only opened without waiting when its keys are there at once`,
      );
    }
    step = computation.next(answer);
  }
  return step.value;
}
