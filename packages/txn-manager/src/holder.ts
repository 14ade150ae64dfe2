import { readFileSync } from 'node:fs';

/**
 * The text a process of skep puts into TXN_AGENT_INFO: process id and start time (clock ticks since boot; 0 unknown), and, where
 * it serves others, as what and where.
 */
const FORM = /^skep:(\d+):(\d+)(?: .+)?$/;

/** This process, as a holder of transactions. */
export function currentAgentInfo(): string {
  return `skep:${process.pid}:${statOf(process.pid)?.startTicks ?? '0'}`;
}

/**
 * Whether the process that a transaction of this host names as its holder still runs. An agent that is none of skep's
 * processes counts as alive: only its heartbeat can tell.
 */
export function isHolderAlive(agentInfo: string): boolean {
  const match = FORM.exec(agentInfo);
  if (match === null) return true;
  const pid = Number(match[1]);
  const stat = statOf(pid);
  if (stat === undefined) return isRunning(pid);
  // A zombie holds nothing any more: it only waits for its parent.
  if (stat.state === 'Z') return false;
  // The number may belong to another process by now; the start time tells them apart.
  return match[2] === '0' || stat.startTicks === match[2];
}

/** Fields 3 and 22 of /proc/PID/stat; undefined where there is no such process, or none of it to be seen. */
function statOf(pid: number): { readonly state: string; readonly startTicks: string } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The second field, the name, is in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], startTicks: fields[19] };
}

/** For systems without /proc, or where it hides other users' processes. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it runs.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
