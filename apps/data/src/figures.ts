import type { FlightTotals } from '@skep/flight';
import type { Figure, FigureSource } from '@skep/telemetry';

const rows: Figure = {
  name: 'skep_data_rows_total',
  help: 'Rows of record batches, by direction: sent by DoGet, received by DoPut.',
  type: 'counter',
  labels: ['direction'],
};
const bytes: Figure = {
  name: 'skep_data_bytes_total',
  help: 'Bytes of the bodies of record batches, by direction.',
  type: 'counter',
  labels: ['direction'],
};
const streams: Figure = {
  name: 'skep_data_streams',
  help: 'Streams of record batches that are open, by direction.',
  type: 'gauge',
  labels: ['direction'],
};
const held: Figure = {
  name: 'skep_data_held',
  help: 'Snapshots of tickets, and transactions of clients, that are kept between calls.',
  type: 'gauge',
  labels: ['what'],
};
const heldMax: Figure = {
  name: 'skep_data_held_max',
  help: 'As many of them as may be kept.',
  type: 'gauge',
  labels: ['what'],
};

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
