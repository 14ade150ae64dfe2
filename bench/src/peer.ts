import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A program that answers JSON lines with JSON lines, one at a time. */
export interface Peer {
  ask(request: object): Promise<{ seconds?: number; error?: string }>;
  close(): void;
}

export function startPeer(program: string, args: readonly string[]): Peer {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const waiting: ((line: string) => void)[] = [];
  let failure: string | undefined;
  const fail = (why: string): void => {
    failure = why;
    for (const resolve of waiting.splice(0)) resolve(JSON.stringify({ error: why }));
  };
  lines.on('line', (line) => waiting.shift()?.(line));
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code) => fail(`ended with ${code}`));
  child.stdin.on('error', () => undefined);
  return {
    async ask(request) {
      if (failure !== undefined) return { error: failure };
      const line = new Promise<string>((resolve) => waiting.push(resolve));
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return JSON.parse(await line);
    },
    close() {
      child.stdin.end();
    },
  };
}
