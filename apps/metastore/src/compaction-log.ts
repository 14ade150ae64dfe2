import { type DeltaCounts, stateName } from '@skep/compactor';
import type { Clock } from '@skep/core';
import { type CompactionService, CompactionState } from '@skep/rpc';
import type { Logger } from '@skep/telemetry';
import { observed } from './observe.js';

/** The queue with a line about each change of a request; delta counts follow what Workers did. */
export function loggedCompactions(
  compactions: CompactionService,
  log: Logger,
  clock: Clock,
  deltaCounts?: DeltaCounts,
): CompactionService {
  return observed<CompactionService>(
    compactions,
    {
      compact({ request, response, call }) {
        if (response === undefined) return;
        const { database, table, partition, initiatorId } = request;
        const fields = { ...call, table: `${database}.${table}`, partition, initiatorId };
        if (response.accepted) log.info({ ...fields, compactionId: response.id }, 'compaction requested');
        else log.info({ ...fields, errorMessage: response.errorMessage }, 'compaction request refused');
      },
      findNextCompact({ request: { workerId, poolName }, response }) {
        const job = response?.job;
        if (job === undefined) return;
        const { id, database, table, partition } = job;
        const fields = { compactionId: id, table: `${database}.${table}`, partition, worker: workerId, pool: poolName };
        log.info(fields, 'compaction given to a Worker');
      },
      async markCompacted({ request: { id }, error }) {
        if (error !== undefined) return;
        try {
          const [job] = (await compactions.showCompactions({ id, limit: 1n })).compactions;
          if (job === undefined) return;
          const { database, table, partition } = job;
          log.info({ compactionId: id, table: `${database}.${table}`, partition }, 'compaction is ready for cleaning');
          await deltaCounts?.compacted(job);
        } catch (failure) {
          // The call itself has succeeded: counts are for people, and the next look at the folder renews them.
          log.warn({ compactionId: id, error: failure }, 'delta counts could not be renewed');
        }
      },
      finishCompaction({ request, error, call }) {
        if (error !== undefined) return;
        const { id, state, errorMessage, record } = request;
        const table = record === undefined ? undefined : `${record.database}.${record.table}`;
        const fields = { ...call, ...(id === 0n ? {} : { compactionId: id }), table, partition: record?.partition };
        if (state === CompactionState.COMPACTION_STATE_INITIATED) log.info(fields, 'compaction waits again');
        else log.info({ ...fields, reason: errorMessage || undefined }, `compaction ${stateName(state)}`);
      },
      abortCompactions({ response, call }) {
        for (const { id, success, message } of response?.results ?? []) {
          log.info(
            { ...call, compactionId: id, reason: message },
            success ? 'compaction aborted' : 'compaction not aborted',
          );
        }
      },
      revokeWorkers({ response, request: { host } }) {
        for (const compactionId of response?.ids ?? []) {
          log.warn({ compactionId, host: host || undefined }, 'compaction taken from its Worker: it waits again');
        }
      },
      purgeHistory({ response }) {
        if (response !== undefined && response.purged > 0n) log.debug({ purged: response.purged }, 'history purged');
      },
    },
    clock,
  );
}
