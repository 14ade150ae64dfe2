import { Scratch } from '../compression/scratch.js';
import type { Fetching } from '../file/fetching.js';
import { columnsOfEqualities, isPoint, rowTruths, type SearchedRows } from '../sarg/row-truth.js';
import type { SargColumn } from '../sarg/sarg.js';
import { mayBeTrue } from '../sarg/truth.js';
import type { TypeDescription } from '../type-description.js';
import type { ColumnVector } from '../vector.js';
import { allRows } from './columns/rows.js';
import { planColumns } from './evolution.js';
import type { ReadOptions } from './options.js';
import type { ReadColumn } from './projection.js';
import type { BoundSarg } from './pruning.js';
import { fetchSegment, type GroupRange, type OpenStripe, openSegment, segmentBytes } from './segment.js';

/** After so many row groups it shows whether looking ahead is worth its while. */
const TRIAL_GROUPS = 4;
/** A row group's columns have to be so many times smaller than the others, or it is cheaper to read all at once. */
const LEAST_SAVING = 0.25;

/**
 * Looks at the columns of a search argument before the others are read (Java: lazy IO, LEADER and FOLLOWER columns): row groups that
 * statistics and bloom filters leave, but none of whose rows matches, are left out too. For conditions that few rows satisfy.
 */
export interface Probe {
  readonly bound: BoundSarg;
  readonly leaders: ReadColumn;
  /** Where a column's vector is in those of `leaders`. */
  readonly places: ReadonlyMap<SargColumn, { readonly path: readonly number[]; readonly type: TypeDescription }>;
  /** Row groups that were looked at in this scan, and in how many of them a row matched. */
  readonly tried: { groups: number; matched: number };
}

export function probeFor(
  bound: BoundSarg | undefined,
  schema: TypeDescription,
  options: ReadOptions,
  path: string,
): Probe | undefined {
  if (bound === undefined || !isPoint(bound.sarg)) return undefined;
  // Of a condition's other columns nothing needs to be known.
  const leading = new Map(
    columnsOfEqualities(bound.sarg).flatMap((name) => {
      const column = bound.columns.get(name);
      return typeof column === 'object' ? [[name, column] as const] : [];
    }),
  );
  if (leading.size === 0) return undefined;
  const ids = [...leading.values()].map(({ target }) => target.id);
  const leaders = planColumns(schema, { ...options, include: new Set(ids) }, path);
  const places = new Map<SargColumn, { path: readonly number[]; type: TypeDescription }>();
  for (const [name, column] of leading) {
    const place = placeOf(leaders, column.target.id);
    if (place === undefined) return undefined;
    places.set(name, { path: place, type: column.target });
  }
  return { bound, leaders, places, tried: { groups: 0, matched: 0 } };
}

function placeOf({ target, children }: ReadColumn, id: number): number[] | undefined {
  if (target.id === id) return [];
  const at = children.findIndex((child) => id >= child.target.id && id <= child.target.maximumId);
  const below = at < 0 ? undefined : placeOf(children[at], id);
  return below && [at, ...below];
}

/** Whether there is enough beside the search argument's columns, and row groups without a match were found so far. */
export function isWorthProbing(probe: Probe, stripe: OpenStripe, root: ReadColumn): boolean {
  const { groups, matched } = probe.tried;
  if (groups >= TRIAL_GROUPS && 2 * matched > groups) return false;
  const whole = { first: 0, end: stripe.groups };
  const leading = segmentBytes(stripe, probe.leaders, whole);
  return segmentBytes(stripe, root, whole) - leading > LEAST_SAVING * leading;
}

/** Of the selected row groups those in which a row may satisfy the search argument. `parts` are all of them, in pieces to be read at once. */
export function* probeGroups(
  probe: Probe,
  stripe: OpenStripe,
  selected: readonly boolean[],
  parts: readonly GroupRange[],
  stride: number,
  batchRows: number,
): Fetching<boolean[]> {
  // What a segment leaves for the next one is not for other columns' segments.
  const own = { ...stripe, carried: new Map() };
  const result = [...selected];
  const { tried } = probe;
  for (const part of parts) {
    if (tried.groups >= TRIAL_GROUPS && 2 * tried.matched > tried.groups) break;
    const segment = yield* fetchSegment(own, probe.leaders, part);
    const scratch = new Scratch();
    try {
      const reader = openSegment(own, probe.leaders, segment, scratch);
      for (let group = part.first; group < part.end; group++) {
        const rows = Math.min(stride, stripe.layout.stripe.numberOfRows - group * stride);
        result[group] = false;
        // All of a group's rows are decoded: the next one's follow them.
        for (let at = 0; at < rows; at += batchRows) {
          const length = Math.min(batchRows, rows - at);
          const root = reader(allRows(length));
          if (!result[group]) result[group] = hasMatch(probe, root, length);
        }
        tried.groups++;
        if (result[group]) tried.matched++;
      }
    } finally {
      scratch.release();
    }
  }
  return result;
}

function hasMatch({ bound, places }: Probe, root: ColumnVector, length: number): boolean {
  const rowsOf = (name: SargColumn): SearchedRows => {
    const place = places.get(name);
    if (place === undefined) return bound.columns.get(name) === 'null' ? 'null' : undefined;
    let vector = root;
    for (const at of place.path) if (vector.kind === 'struct') vector = vector.children[at];
    return { type: place.type, vector };
  };
  return rowTruths(bound.sarg, rowsOf, length).some(mayBeTrue);
}
