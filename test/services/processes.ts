import { type ChildProcess, spawn } from 'node:child_process';

/** Short intervals, so that tests wait for little. */
const QUICK = {
  SKEP_CONF_hive_compactor_worker_sleep_time: '100ms',
  SKEP_CONF_hive_compactor_cleaner_run_interval: '200ms',
  SKEP_CONF_metastore_acid_housekeeper_interval: '1s',
};

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process that runs until it is ended. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has printed on standard output, and on standard error. */
  text(): { readonly out: string; readonly err: string };
  /** The address in its ready line. */
  readonly address: string;
  end(signal?: NodeJS.Signals): Promise<Finished>;
}

/** Processes of the command line from its sources, all ended by `endAll`. */
export class Processes {
  private readonly children = new Set<ChildProcess>();

  private constructor(
    private readonly bundle: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async open(env: Readonly<Record<string, string>>): Promise<Processes> {
    const { bundleSource } = await import('../../scripts/bundle-source.mjs');
    return Processes.of(await bundleSource('test/services/skep.ts', `services-${process.pid}`), env);
  }

  /** Processes of another bundle. */
  static of(bundle: string, env: Readonly<Record<string, string>>): Processes {
    return new Processes(bundle, env);
  }

  private spawn(args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string) {
    const options = { cwd, env: { PATH: process.env.PATH, GRPC_VERBOSITY: 'NONE', ...QUICK, ...this.env, ...env } };
    const child = spawn(process.execPath, [this.bundle, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    this.children.add(child);
    const text = { out: '', err: '' };
    child.stdout?.on('data', (chunk) => {
      text.out += String(chunk);
    });
    child.stderr?.on('data', (chunk) => {
      text.err += String(chunk);
    });
    const finished = new Promise<Finished>((resolve) => {
      child.on('close', (code) => {
        this.children.delete(child);
        resolve({ code, ...text });
      });
    });
    return { child, text: () => ({ ...text }), finished };
  }

  /** Runs to its end. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): Promise<Finished> {
    return await this.spawn(args, env, cwd).finished;
  }

  /** Starts, and waits for its ready line. */
  async start(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): Promise<Running> {
    const { child, text, finished } = this.spawn(args, env, cwd);
    const ready = until(() => /ready.*\n/.test(text().out), `skep ${args.join(' ')} to be ready`);
    const early = finished.then(({ code, err }) => {
      throw new Error(`skep ${args.join(' ')} ended with ${code}: ${err}`);
    });
    // Later it may end as it likes.
    early.catch(() => undefined);
    try {
      await Promise.race([ready, early]);
    } catch (error) {
      // Whoever is late is not to come after all, unknown to everybody.
      child.kill('SIGKILL');
      throw error;
    }
    const address = /\d+\.\d+\.\d+\.\d+:\d+/.exec(text().out)?.[0] ?? '';
    return {
      child,
      text,
      address,
      async end(signal = 'SIGTERM') {
        child.kill(signal);
        return await finished;
      },
    };
  }

  endAll(): void {
    for (const child of this.children) child.kill('SIGKILL');
  }
}

/** Waits until it is so; at most half a minute. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain for ${what}`);
}
