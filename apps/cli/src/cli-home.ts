import type { ConnectOptions } from '@skep/rpc';
import type { ProgressFigures, StatementResult } from '@skep/sql';
import type { Logger } from '@skep/telemetry';

/** What a session does for the command line (home.ts opens real ones). */
export interface CliSession {
  execute(text: string, signal?: AbortSignal): Promise<StatementResult>;
  readonly currentDatabase: string;
  /** What the running statement has read so far. */
  readonly progress?: ProgressFigures;
  /** The transaction over several statements that is open, if one is; `isLost`: it was aborted, and waits for ROLLBACK. */
  readonly openTransaction?: { readonly txnId: bigint; readonly isLost: boolean } | undefined;
  readonly conf: { get(name: string): string | undefined };
  close(): Promise<void> | void;
}

export interface CliHome {
  newSession(): CliSession | Promise<CliSession>;
  close(): Promise<void>;
}

export interface HomeOptions {
  /** --metastore. Absent: SKEP_METASTORE, hive-site.xml, or the embedded home. */
  readonly metastore?: string;
  readonly connect?: ConnectOptions;
  readonly warehouse?: string;
  readonly hiveconf: Readonly<Record<string, string>>;
  readonly hivevar: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly backgroundCompaction: boolean;
  /** What is done in the background, and what goes wrong. */
  readonly log: Logger;
  /** What the user should know at the start. */
  readonly notice: (message: string) => void;
}
