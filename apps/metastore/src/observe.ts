import type { Clock } from '@skep/core';
import { currentCall } from '@skep/rpc';

/** How a call of a service ended. */
export type Observed<Q, A> = CallFields & {
  readonly request: Q;
  readonly durationMs: number;
} & ({ readonly response: A; readonly error?: undefined } | { readonly response?: undefined; readonly error: unknown });

/** Of the call it was made by, where it came over gRPC. */
interface CallFields {
  readonly call: { readonly user?: string; readonly requestId?: string };
}

/** What hears of the calls of some methods. */
export type Observers<T> = {
  readonly [K in keyof T]?: T[K] extends (request: infer Q) => Promise<infer A>
    ? (call: Observed<Q, A>) => void | Promise<void>
    : never;
};

type AnyMethod = (this: unknown, ...args: unknown[]) => unknown;
type AnyObserver = (call: Observed<unknown, unknown>) => void | Promise<void>;

/** A service as it is, whose calls are told to `observers` once they have ended. */
export function observed<T extends object>(service: T, observers: Observers<T>, clock: Clock): T {
  const methods = new Map<PropertyKey, AnyMethod>();
  const methodOf = (name: PropertyKey, method: AnyMethod): AnyMethod => {
    const observer = observers[name as keyof T] as AnyObserver | undefined;
    if (observer === undefined) return method.bind(service);
    return async (request, ...rest) => {
      const startedMs = clock.now();
      // Before the first await: what comes after it may run in another call's context.
      const { user = '', requestId } = currentCall() ?? {};
      const call = { ...(user === '' ? {} : { user }), ...(requestId === undefined ? {} : { requestId }) };
      let response: unknown;
      try {
        response = await method.call(service, request, ...rest);
      } catch (error) {
        await observer({ request, error, call, durationMs: clock.now() - startedMs });
        throw error;
      }
      await observer({ request, response, call, durationMs: clock.now() - startedMs });
      return response;
    };
  };
  return new Proxy(service, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const known = methods.get(name);
      if (known !== undefined) return known;
      const made = methodOf(name, value as AnyMethod);
      methods.set(name, made);
      return made;
    },
  });
}
