import type { DeleteSet } from './delete-set.js';
import { type KeyRange, mayOverlap } from './key-runs.js';

/** hive.transactional.events.mem */
export const DEFAULT_DELETE_EVENTS_IN_MEMORY = 10_000_000;

/** So often a file is read in part for single splits before the whole of it is read and kept. */
const MOST_PARTIAL_READS = 4;

/** What the splits of one scan learn of the delete files: events of whole files, and which keys a file is about. */
export class DeleteCache {
  private readonly sets = new Map<string, DeleteSet>();
  private readonly ranges = new Map<string, KeyRange>();
  private readonly partialReads = new Map<string, number>();
  private events = 0;

  /** `maxEvents`: what is beyond it is read again for each split. */
  constructor(readonly maxEvents = DEFAULT_DELETE_EVENTS_IN_MEMORY) {}

  get(path: string): DeleteSet | undefined {
    return this.sets.get(path);
  }

  /** Whether it is known that a file's deletes are of other rows. */
  isElsewhere(path: string, range: KeyRange): boolean {
    const known = this.ranges.get(path);
    return known !== undefined && !mayOverlap(known, range);
  }

  putRange(path: string, range: KeyRange): void {
    this.ranges.set(path, range);
  }

  hasRoomFor(events: number): boolean {
    return this.events + events <= this.maxEvents;
  }

  put(path: string, set: DeleteSet): void {
    if (this.sets.has(path) || !this.hasRoomFor(set.size)) return;
    this.events += set.size;
    this.sets.set(path, set);
  }

  /** Whether a part of the file may be read once more instead of the whole. */
  takePartialRead(path: string): boolean {
    const before = this.partialReads.get(path) ?? 0;
    this.partialReads.set(path, before + 1);
    return before < MOST_PARTIAL_READS;
  }
}
