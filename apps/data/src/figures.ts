import type { FlightTotals } from '@skep/flight';
import { counter, type FigureSource, gauge } from '@skep/telemetry/figure';

const rows = counter(
  'skep_data_rows_total',
  'Rows of record batches, by direction: sent by DoGet, received by DoPut.',
  ['direction'],
);
const bytes = counter('skep_data_bytes_total', 'Bytes of the bodies of record batches, by direction.', ['direction']);
const streams = gauge('skep_data_streams', 'Streams of record batches that are open, by direction.', ['direction']);
const held = gauge(
  'skep_data_held',
  'Snapshots of tickets, and transactions of clients, that are kept between calls.',
  ['what'],
);
const heldMax = gauge('skep_data_held_max', 'As many of them as may be kept.', ['what']);

/** How many of something are kept between calls. */
export interface HeldCount {
  readonly what: string;
  readonly count: number;
  readonly most: number;
}

/** What the data service does, all from memory. */
export function dataFigures({ sent, received }: FlightTotals, kept: () => readonly HeldCount[]): FigureSource {
  const both = [
    { labels: { direction: 'sent' }, totals: sent },
    { labels: { direction: 'received' }, totals: received },
  ];
  return {
    name: 'data',
    figures: [rows, bytes, streams, held, heldMax],
    read: async () => [
      [rows, both.map(({ labels, totals }) => ({ labels, value: totals.rows }))],
      [bytes, both.map(({ labels, totals }) => ({ labels, value: totals.bytes }))],
      [streams, both.map(({ labels, totals }) => ({ labels, value: totals.open }))],
      [held, kept().map(({ what, count }) => ({ labels: { what }, value: count }))],
      [heldMax, kept().map(({ what, most }) => ({ labels: { what }, value: most }))],
    ],
  };
}
