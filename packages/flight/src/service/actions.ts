import type { Action, ActionType, Result } from '../gen/flight.js';
import type { Caller, DataSource } from '../streams/data-source.js';
import { partitionOf, tableOf } from '../streams/descriptor.js';
import { BadRequestError } from '../streams/errors.js';
import {
  type JsonObject,
  jsonBytes,
  onlyFields,
  optionalChoice,
  optionalFlag,
  parseObject,
  requiredId,
} from '../streams/json.js';
import type { ServedAction } from '../streams/served-action.js';

interface KnownAction {
  readonly description: string;
  readonly fields: readonly string[];
  run(source: DataSource, body: JsonObject, what: string, caller: Caller): Promise<unknown>;
}

const ofTransaction = (
  description: string,
  run: (source: DataSource, txnId: bigint, caller: Caller) => Promise<void>,
): KnownAction => ({
  description: `${description} Body: {"txnId": n}. Answer: {"txnId": n}.`,
  fields: ['txnId'],
  run: async (source, body, what, caller) => {
    const txnId = requiredId(body, 'txnId', what);
    await run(source, txnId, caller);
    return { txnId };
  },
});

const ACTIONS: Readonly<Record<string, KnownAction>> = {
  begin: {
    description:
      'Begins a transaction for DoPut and for reads with {"snapshot": {"txnId": n}}. Body: {} or empty. Answer: {"txnId": n}.',
    fields: [],
    run: async (source, _body, _what, caller) => ({ txnId: await source.begin(caller) }),
  },
  commit: ofTransaction('Commits a transaction.', (source, txnId, caller) => source.commit(txnId, caller)),
  abort: ofTransaction('Rolls a transaction back.', (source, txnId, caller) => source.abort(txnId, caller)),
  heartbeat: ofTransaction(
    'Says that a transaction is still wanted: one that nobody asks for is rolled back after a while.',
    (source, txnId, caller) => source.heartbeat(txnId, caller),
  ),
  release: ofTransaction(
    'Gives up the snapshot of a GetFlightInfo (txnId of its app_metadata), and with it its tickets.',
    (source, txnId, caller) => source.release(txnId, caller),
  ),
  compact: {
    description:
      'Asks for a compaction. Body: {"database", "table", "type": "major" | "minor" | "rebalance", "partition"?: {column: value}, "wait"?: true}. Answer: {"messages": […]}.',
    fields: ['database', 'table', 'type', 'partition', 'wait'],
    run: async (source, body, what, caller) => {
      const partition = Object.fromEntries(
        Object.entries(partitionOf(body)).map(([name, value]) => {
          if (value === null) throw new BadRequestError(`${what}: partition.${name} must have a value`);
          return [name, value];
        }),
      );
      const messages = await source.compact(
        {
          ...tableOf(body, what),
          type: optionalChoice(body, 'type', ['major', 'minor', 'rebalance'], what) ?? 'major',
          partition,
          wait: optionalFlag(body, 'wait', what),
        },
        caller,
      );
      return { messages };
    },
  },
  'list-snapshots': {
    description:
      'What a snapshot taken now would see. Body: {} or {"database", "table"}. Answer: {"validTxns", "writeIds" of the table, "openTxns": [{"txnId", "user", "startedMs"}]}.',
    fields: ['database', 'table'],
    run: async (source, body, what, caller) =>
      await source.snapshots(body.table === undefined ? undefined : tableOf(body, what), caller),
  },
};

/** An action of tables, or one of `served`. */
export async function* doAction(
  source: DataSource,
  served: readonly ServedAction[],
  { type, body }: Action,
  caller: Caller,
): AsyncGenerator<Result> {
  const other = served.find((candidate) => candidate.type === type);
  if (other !== undefined) {
    for await (const answer of other.run(body, caller)) yield { body: Buffer.from(answer) };
    return;
  }
  const action = Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined;
  if (action === undefined) {
    const known = actionTypes(served).map((one) => one.type);
    throw new BadRequestError(`there is no action '${type}': there are ${known.join(', ')}`);
  }
  const what = `the body of action ${type}`;
  const parsed = parseObject(body, what);
  onlyFields(parsed, action.fields, what);
  yield { body: jsonBytes(await action.run(source, parsed, what, caller)) };
}

export const actionTypes = (served: readonly ServedAction[]): ActionType[] => [
  ...Object.entries(ACTIONS).map(([type, { description }]) => ({ type, description })),
  ...served.map(({ type, description }) => ({ type, description })),
];
