import type { Clock } from '@skep/core';
import type { TransactionService } from '@skep/rpc';
import type { Logger } from '@skep/telemetry';
import { ABORT_REASONS } from '@skep/txn-manager';
import { observed } from './observe.js';
import type { WritesToDisabled } from './writes-to-disabled.js';

export interface TxnLogOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** Counts write ids. */
  readonly writes: WritesToDisabled;
}

/** The transaction manager with a line about each transaction that is opened, ends or is ended. */
export function loggedTxns(txns: TransactionService, { log, clock, writes }: TxnLogOptions): TransactionService {
  return observed<TransactionService>(
    txns,
    {
      openTxns({ request, response, call }) {
        const { user, host, agentInfo } = request;
        for (const txnId of response?.txnIds ?? [])
          log.debug({ ...call, txnId, user, host, agentInfo }, 'transaction opened');
      },
      commitTxn({ request, response, error, call, durationMs }) {
        const { txnId } = request;
        if (error !== undefined) log.info({ ...call, txnId, error, durationMs }, 'transaction cannot commit');
        else log.debug({ ...call, txnId, commitId: response?.commitId, durationMs }, 'transaction committed');
      },
      abortTxns({ request, response, call }) {
        const reason = ABORT_REASONS.get(request.reasonCode) ?? String(request.reasonCode);
        const by = request.abortedBy;
        for (const txnId of response?.abortedTxnIds ?? []) {
          log.info({ ...call, txnId, reason, by }, 'transaction aborted');
        }
      },
      allocateTableWriteIds({ request, response, call }) {
        const table = `${request.database}.${request.table}`;
        writes.allocated(request, response?.txnToWriteIds.length ?? 0);
        for (const { txnId, writeId } of response?.txnToWriteIds ?? []) {
          log.debug({ ...call, txnId, table, writeId }, 'write id allocated');
        }
      },
      runHousekeeping({ response, durationMs }) {
        for (const txnId of response?.timedOutTxnIds ?? []) {
          log.warn({ txnId, reason: 'heartbeat time-out' }, 'transaction aborted: no heartbeat');
        }
        for (const txnId of response?.deadHolderTxnIds ?? []) {
          log.warn({ txnId, reason: 'dead holder' }, 'transaction aborted: its process is gone');
        }
        log.debug({ durationMs }, 'housekeeping of transactions');
      },
    },
    clock,
  );
}
