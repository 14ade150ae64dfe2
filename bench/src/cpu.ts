import { readFileSync } from 'node:fs';

/** Of Linux, for all programs: what USER_HZ is. */
const TICKS_PER_SECOND = 100;

/** Processor time a process has used, in milliseconds; NaN where the system does not tell as Linux does. */
export function cpuMsOf(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the program's name, which may hold anything: utime and stime are the 14th and 15th field of all.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
