import { TxnState } from '@skep/rpc';
import type { Services } from '@skep/sql';
import { NotHeldError } from './errors.js';

/** How this process calls itself in TXN_AGENT_INFO, so that others can tell clients where a transaction is. */
export const agentInfoAt = (agentInfo: string, address: string): string => `${agentInfo} data ${address}`;

/** Why a client's transaction or snapshot is not kept here: it has ended, or another service keeps it, and which. */
export async function notHeld({ txns }: Services, txnId: bigint, what: string): Promise<NotHeldError> {
  const { states } = await txns.getTxnStates({ txnIds: [txnId] });
  const fail = (why: string, isElsewhere: boolean) =>
    new NotHeldError(
      txnId,
      `Transaction txnid:${txnId} is none of the ${what} that this service keeps: ${why}`,
      isElsewhere,
    );
  switch (states[0]) {
    case TxnState.TXN_STATE_COMMITTED:
      return fail('it is committed', false);
    case TxnState.TXN_STATE_ABORTED:
      return fail('it was rolled back', false);
    case TxnState.TXN_STATE_OPEN: {
      const found = (await txns.showTxns({})).txns.find((txn) => txn.txnId === txnId);
      const keeper = [found?.agentInfo, found?.host].filter((part) => part !== undefined && part !== '').join(' on ');
      return fail(`it is kept by ${keeper || 'another process'}, and its calls have to go there`, true);
    }
    default:
      return fail('there is no such transaction, or it ended long ago', false);
  }
}
