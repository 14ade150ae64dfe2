import type { CatalogService, CompactionService, LockService, TransactionService } from '@skep/rpc';

/** What a metastore offers, by contract: objects of this process, or clients of others. */
export interface MetastoreServices {
  readonly catalog: CatalogService;
  readonly txns: TransactionService;
  readonly locks: LockService;
  readonly compactions: CompactionService;
}
