import { ScanCounts } from '@skep/acid';

/** How far a statement's scans are. */
export interface ProgressFigures {
  readonly rows: number;
  readonly files: number;
  /** Data files that the scans planned so far will open. */
  readonly ofFiles: number;
}

/** What the scans of a session's statement have read; looked at while it runs. */
export class ScanProgress {
  private counts: ScanCounts[] = [];
  private planned = 0;

  /** A new statement. */
  reset(): void {
    this.counts = [];
    this.planned = 0;
  }

  /** The counts of a scan that is going to read so many files. */
  begin(files: number): ScanCounts {
    const counts = new ScanCounts();
    this.counts.push(counts);
    this.planned += files;
    return counts;
  }

  get figures(): ProgressFigures {
    const sum = (figure: 'rows' | 'files') => this.counts.reduce((total, counts) => total + counts[figure], 0);
    return { rows: sum('rows'), files: sum('files'), ofFiles: this.planned };
  }
}
