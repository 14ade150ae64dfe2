import { encodeNanos } from '../../encoding/nanos.js';
import { RleV2Encoder } from '../../encoding/rle-v2/encoder.js';
import { Stream_Kind } from '../../proto/gen/orc_proto.js';
import { CUTOVER_DAY, DAY_SECONDS, prolepticToHybrid } from '../../time/calendar.js';
import { type TimeZone, timeZone } from '../../time/time-zone.js';
import type { TypeDescription } from '../../type-description.js';
import type { TimestampVector } from '../../vector.js';
import type { WriterSettings } from '../options.js';
import type { OutStream } from '../out-stream.js';
import { TimestampStatistics } from '../statistics/timestamp-statistics.js';
import { ColumnWriter } from './column-writer.js';

const BLOCK = 4096;
const CUTOVER_SECONDS = CUTOVER_DAY * DAY_SECONDS;
/** 2015-01-01 00:00:00, from which seconds are counted. */
const BASE_SECONDS = 1_420_070_400;
const UTC_NAMES = new Set(['UTC', 'GMT', 'Etc/UTC', 'Etc/GMT', 'Z', 'Zulu']);

/**
 * timestamp and timestamp with local time zone: seconds since 2015 in the writer's zone (UTC for the latter) in DATA,
 * nanoseconds in SECONDARY (spec: "Timestamp Columns"; Java: TimestampTreeWriter).
 *
 * As in Java the seconds before 1970 are those of the milliseconds, truncated toward zero; readers subtract one again
 * where the nanoseconds are a millisecond or more. The last second before 1970 cannot be told from the first after it.
 */
export class TimestampWriter extends ColumnWriter<TimestampStatistics> {
  private readonly data = this.createStream();
  private readonly secondary = this.createStream();
  private readonly secondsEncoder = new RleV2Encoder(this.data, true, this.settings.alignedBitPacking);
  private readonly nanosEncoder = new RleV2Encoder(this.secondary, false, this.settings.alignedBitPacking);
  private readonly seconds = new Float64Array(BLOCK);
  private readonly nanos = new Float64Array(BLOCK);
  private readonly zone: TimeZone | undefined;
  private readonly base: number;

  constructor(type: TypeDescription, settings: WriterSettings) {
    super(type, settings, () => new TimestampStatistics());
    const utc = type.kind === 'timestamp_instant' || UTC_NAMES.has(settings.writerTimezone);
    this.zone = utc ? undefined : timeZone(settings.writerTimezone);
    this.base = this.zone === undefined ? BASE_SECONDS : this.zone.instantOf(BASE_SECONDS);
  }

  protected override writeRows(vector: TimestampVector, from: number, count: number, validity?: Uint8Array): void {
    for (let at = from, end = from + count; at < end; at += BLOCK) {
      const rows = Math.min(BLOCK, end - at);
      const values = this.convert(vector, at, rows, validity);
      this.secondsEncoder.writeNumbers(this.seconds, 0, values);
      this.nanosEncoder.writeNumbers(this.nanos, 0, values);
    }
  }

  private convert(vector: TimestampVector, from: number, count: number, validity: Uint8Array | undefined): number {
    const halves = new Int32Array(vector.seconds.buffer, vector.seconds.byteOffset, vector.seconds.length * 2);
    const { proleptic } = this.settings;
    let to = 0;
    for (let i = from; i < from + count; i++) {
      if (validity !== undefined && ((validity[i >>> 3] >>> (i & 7)) & 1) === 0) continue;
      let wall = halves[2 * i + 1] * 0x100000000 + (halves[2 * i] >>> 0);
      const nanos = vector.nanos[i];
      if (!proleptic && wall < CUTOVER_SECONDS) {
        const day = Math.floor(wall / DAY_SECONDS);
        wall += (prolepticToHybrid(day) - day) * DAY_SECONDS;
      }
      const instant = this.zone === undefined ? wall : this.zone.instantOf(wall);
      const truncated = instant < 0 && nanos >= 1_000_000 ? 1 : 0;
      this.seconds[to] = instant + truncated - this.base;
      this.nanos[to++] = encodeNanos(nanos);
      // What a reader will make of it, which differs in the second before 1970.
      const lost = truncated === 1 && instant === -1 ? 1 : 0;
      const millis = (wall + lost) * 1000 + Math.floor(nanos / 1_000_000);
      this.statistics.add(millis, nanos % 1_000_000);
      this.bloomFilter?.addLong(millis | 0, Math.floor(millis / 0x100000000));
    }
    return to;
  }

  protected override recordPositions(positions: number[]): void {
    this.data.recordPosition(positions);
    positions.push(this.secondsEncoder.pending);
    this.secondary.recordPosition(positions);
    positions.push(this.nanosEncoder.pending);
  }

  protected override finishStreams(): [Stream_Kind, OutStream][] {
    this.secondsEncoder.flush();
    this.nanosEncoder.flush();
    return [
      [Stream_Kind.DATA, this.data],
      [Stream_Kind.SECONDARY, this.secondary],
    ];
  }

  protected override get dataBytes(): number {
    return this.data.sizeBytes + this.secondary.sizeBytes;
  }
}
