import { type CallOptions, type ConnectOptions, connect } from '@skep/rpc';
import { FlightServiceService } from '../gen/flight.js';

/** Actions of a Flight service somewhere else. Connects at the first call. */
export interface ActionClient {
  /** The bodies of the Results, as they come. Ending the iteration ends the call. */
  act(type: string, body: Uint8Array, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Names of the actions that it has. */
  list(options?: CallOptions): Promise<string[]>;
  close(): void;
}

/** Of several addresses that serve the same, one is used until it fails. */
export function connectActions(
  address: string | readonly [string, ...string[]],
  options: ConnectOptions = {},
): ActionClient {
  const { doAction, listActions } = FlightServiceService;
  const { service, close } = connect({ doAction, listActions }, address, options);
  return {
    act(type, body, callOptions) {
      // Asked for now: in whose name is said where the call is made, not where its answers are read.
      const results = service.doAction({ type, body: Buffer.from(body) }, callOptions);
      return (async function* bodies() {
        for await (const result of results) yield result.body;
      })();
    },
    async list(callOptions) {
      const names: string[] = [];
      for await (const { type } of service.listActions({}, callOptions)) names.push(type);
      return names;
    },
    close,
  };
}
