import { BugError, type Clock, linkedAbort, SkepError } from '@skep/core';
import {
  type CallOptions,
  CompactFolderRequest,
  CompactFolderResponse,
  type CompactFolderResult,
  DiscardCompactionRequest,
  DiscardCompactionResponse,
  FolderOwnerRequest,
  FolderOwnerResponse,
  InvalidRequestError,
  UnreachableError,
} from '@skep/rpc';
import type { CompactHow, CompactionFiles } from './compaction-files.js';

/** Names of the actions of proto/skep/v1/files.proto, of which this is both sides. */
const OWNER = 'folder-owner';
const COMPACT = 'compact-folder';
const DISCARD = 'discard-compaction';
/** What a service must have to be `remoteCompactionFiles`. */
export const COMPACTION_ACTIONS: readonly string[] = [OWNER, COMPACT, DISCARD];

/** How often the service says that it is at it, and how long without a word it is waited for. */
const PROGRESS_MS = 5_000;
const SILENCE_MS = 60_000;
/** Removing many files takes a while, stopping what writes them too. */
const DISCARD_MS = 600_000;

/** On whose behalf an action is done; empty: nobody said. */
export interface ActionCaller {
  readonly user: string;
  readonly signal: AbortSignal;
}

/** As @skep/flight serves it. */
export interface CompactionAction {
  readonly type: string;
  readonly description: string;
  run(body: Uint8Array, caller: ActionCaller): AsyncIterable<Uint8Array>;
}

/** The actions by which the files are used from elsewhere. */
export function compactionActions(files: (caller: ActionCaller) => CompactionFiles, clock: Clock): CompactionAction[] {
  const described = (what: string, request: string, answers: string) =>
    `For compactors: ${what} Body: skep.v1.${request}. Answer: skep.v1.${answers} (proto/skep/v1/files.proto).`;
  return [
    {
      type: OWNER,
      description: described('whose folder it is.', 'FolderOwnerRequest', 'FolderOwnerResponse'),
      async *run(body, caller) {
        const user = await files(caller).ownerOf(decoded(FolderOwnerRequest, body, OWNER));
        yield FolderOwnerResponse.encode({ user }).finish();
      },
    },
    {
      type: COMPACT,
      description: described('writes a compaction.', 'CompactFolderRequest', 'CompactFolderResponse, several'),
      run: (body, { user, signal }) =>
        compactInSteps(decoded(CompactFolderRequest, body, COMPACT), { user, signal }, files, clock),
    },
    {
      type: DISCARD,
      description: described(
        'stops one whose transaction is aborted, and removes its files.',
        'DiscardCompactionRequest',
        'DiscardCompactionResponse',
      ),
      async *run(body, caller) {
        await files(caller).discard(decoded(DiscardCompactionRequest, body, DISCARD));
        yield DiscardCompactionResponse.encode({}).finish();
      },
    },
  ];
}

/** Who stops reading stops the work. */
async function* compactInSteps(
  request: CompactFolderRequest,
  caller: ActionCaller,
  files: (caller: ActionCaller) => CompactionFiles,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  const stop = linkedAbort(caller.signal);
  let progress = { bytesRead: 0n, bytesWritten: 0n };
  const how: CompactHow = {
    signal: stop.signal,
    onProgress: (latest) => {
      progress = latest;
    },
  };
  const work = files({ user: caller.user, signal: stop.signal }).compact(request, how);
  // Waited for below, whatever becomes of the stream.
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  try {
    for (;;) {
      const result = await within(work, PROGRESS_MS, clock);
      if (result !== undefined) {
        yield CompactFolderResponse.encode({ step: { $case: 'result', value: result } }).finish();
        return;
      }
      yield CompactFolderResponse.encode({ step: { $case: 'progress', value: progress } }).finish();
    }
  } finally {
    stop.abort(caller.signal.reason);
    await ended;
    stop.release();
  }
}

/** Does an action of the service: ActionClient.act of @skep/flight. */
export type Act = (type: string, body: Uint8Array, options?: CallOptions) => AsyncIterable<Uint8Array>;

/** The file-format layer of a service elsewhere; `where` names it in errors. */
export function remoteCompactionFiles(act: Act, where: string, clock: Clock): CompactionFiles {
  return {
    async ownerOf(request) {
      const body = FolderOwnerRequest.encode(request).finish();
      return FolderOwnerResponse.decode(await only(act(OWNER, body, { deadlineMs: SILENCE_MS }), OWNER)).user;
    },
    async compact(request, how) {
      try {
        return await follow(act, where, clock, request, how);
      } catch (error) {
        if (how.signal.aborted || !isLost(error)) throw error;
        // The work may be done, and only its answer lost: it is never begun twice in one transaction.
        const again = follow(act, where, clock, { ...request, resume: true }, how);
        return await again.catch(() => {
          throw error;
        });
      }
    },
    async discard(request) {
      const body = DiscardCompactionRequest.encode(request).finish();
      await only(act(DISCARD, body, { deadlineMs: DISCARD_MS }), DISCARD);
    },
  };
}

const isLost = (error: unknown): boolean => error instanceof SkepError && error.code === 'UNREACHABLE';

/** Until the result. A service that says nothing for too long is given up. */
async function follow(
  act: Act,
  where: string,
  clock: Clock,
  request: CompactFolderRequest,
  { signal, onProgress }: CompactHow,
): Promise<CompactFolderResult> {
  const stop = linkedAbort(signal);
  const answers = act(COMPACT, CompactFolderRequest.encode(request).finish(), { signal: stop.signal });
  const steps = answers[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = steps.next();
      next.catch(() => undefined);
      const answer = await within(next, SILENCE_MS, clock, signal);
      if (answer === undefined) {
        throw new UnreachableError(where, `${where}: ${COMPACT} has said nothing for ${SILENCE_MS / 1000} s`);
      }
      if (answer.done === true) throw new BugError(`${where}: ${COMPACT} ended without a result`);
      const { step } = CompactFolderResponse.decode(answer.value);
      if (step?.$case === 'result') return step.value;
      if (step?.$case === 'progress') onProgress?.(step.value);
    }
  } finally {
    stop.abort(signal.reason);
    stop.release();
    steps.return?.().catch(() => undefined);
  }
}

/** The one answer of an action. */
async function only(answers: AsyncIterable<Uint8Array>, action: string): Promise<Uint8Array> {
  for await (const answer of answers) return answer;
  throw new BugError(`${action} was not answered`);
}

function decoded<T>(message: { decode(bytes: Uint8Array): T }, body: Uint8Array, action: string): T {
  try {
    return message.decode(body);
  } catch (cause) {
    throw new InvalidRequestError(`the body of action ${action} is not its message (proto/skep/v1/files.proto)`, {
      cause,
    });
  }
}

/** undefined: not within that time. Rejects when the signal is aborted, whoever may still be at it. */
async function within<T>(work: Promise<T>, ms: number, clock: Clock, signal?: AbortSignal): Promise<T | undefined> {
  const timer = linkedAbort(signal);
  const late = clock.sleep(ms, timer.signal).then(
    () => undefined,
    () => {
      signal?.throwIfAborted();
      return undefined;
    },
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    timer.release();
  }
}
