import { resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import type { CliSession, HomeOptions } from './cli-home.js';
import { addClientFlags, type ClientFlags, connectOptions, withUser } from './commands/client-flags.js';
import { errorLine, errorStack, UsageError } from './error-line.js';
import { type CliIo, processIo } from './io.js';
import { homeLogger, plainLogger } from './log-file.js';
import { OUTPUT_FORMATS, type OutputFormat } from './output/rows.js';
import { type RunOptions, readScript, ScriptRunner } from './run-script.js';
import { addServiceCommands } from './service-commands.js';
import { version } from './version.js';

const WAREHOUSE_DIR = 'hive.metastore.warehouse.dir';

const homePath = (io: CliIo): string => resolve(io.env.SKEP_HOME ?? '.skep');

/** What the options of `skep` itself say. */
interface ShellOptions extends ClientFlags {
  readonly execute?: string[];
  readonly file?: string[];
  readonly format?: OutputFormat;
  readonly database?: string;
  readonly hiveconf?: Record<string, string>;
  readonly hivevar?: Record<string, string>;
  readonly define?: Record<string, string>;
  readonly warehouse?: string;
  readonly force?: boolean;
  readonly verbose?: boolean;
}

const EXAMPLES = `
Examples:
  skep                                         a shell on ./.skep (or $SKEP_HOME), created on first use
  skep -e "select * from emp; show compactions"
  skep -f script.sql --force --hivevar day=2024-01-01
  skep -e "select * from emp" --format json
  skep dump .skep/warehouse/emp                what is in the bucket files of a table
  skep read .skep/warehouse/emp                the rows of a table's folder, without a metastore
  skep config hive.txn.timeout                 what a parameter means
  skep why txn 42                              why it is open, waits, or was aborted
  skep metastore --db sqlite:.skep/metastore.db                     the services for other processes, over gRPC
  skep compactor --metastore HOST:PORT                              compactions for that metastore
  skep --metastore HOST:PORT -e "show compactions"                  statements on it`;

const pair =
  (option: string) =>
  (text: string, before: Record<string, string> = {}) => {
    const at = text.indexOf('=');
    if (at <= 0) throw new UsageError(`${option} takes NAME=VALUE, not '${text}'`);
    return { ...before, [text.slice(0, at).trim()]: text.slice(at + 1) };
  };
const list = (text: string, before: string[] = []): string[] => [...before, text];

/** The command line: `argv` without node and the program. Answers the exit code. */
export async function main(argv: string[], io: CliIo = processIo()): Promise<number> {
  let exitCode = 0;
  const program = commandLine(io, (code) => {
    exitCode = code;
  });
  io.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe (head, less) has enough: nothing is left to do or to say.
    if (error.code === 'EPIPE') process.exit(0);
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    io.stderr.write(`${errorLine(error)}\n`);
    if (argv.includes('--verbose')) io.stderr.write(`${errorStack(error)}\n`);
    return 1;
  }
}

/** The whole command line; `exit` is told its code. */
export function commandLine(io: CliIo, exit: (code: number) => void): Command {
  const program = new Command('skep');
  program
    .description(
      'Hive ACID tables without Hive: transactions, merge-on-read and compaction on ORC files that Hive reads.',
    )
    .version(version, '-V, --version')
    .option('-e, --execute <sql>', 'run statements and end; may be repeated', list)
    .option('-f, --file <path>', 'run a script and end, - for standard input; may be repeated', list)
    .addOption(
      new Option('--format <format>', 'how rows are shown: table on a terminal, else tsv (Hive’s text)').choices(
        OUTPUT_FORMATS,
      ),
    )
    .option('--database <name>', 'the database to start in')
    .option('--hiveconf <name=value>', 'a parameter of the session; may be repeated', pair('--hiveconf'))
    .option(
      '--hivevar <name=value>',
      'a variable for dollar-brace names in statements; may be repeated',
      pair('--hivevar'),
    )
    .option('-d, --define <name=value>', 'the same as --hivevar', pair('--define'))
    .option('--warehouse <uri>', 'where databases and tables are kept, instead of the home')
    .option('--metastore <address>', 'work on a running metastore, HOST:PORT[,HOST:PORT] (or SKEP_METASTORE)')
    .option('--force', 'go on after a statement that failed')
    .option('-v, --verbose', 'statements as they run, stack traces of errors')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(skep --help lists the options)')
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .exitOverride()
    .allowExcessArguments(false)
    .action(async () => exit(await runStatements(io, program.opts<ShellOptions>())));
  addClientFlags(program);
  addCommands(program, io, exit);
  addServiceCommands(program, io);
  return program;
}

function addCommands(program: Command, io: CliIo, exit: (code: number) => void): void {
  program
    .command('dump <path>')
    .description('what is in an ORC file, or in the files of an ACID table’s folder')
    .option('--data', 'the rows, as JSON, one a line')
    .option('--json', 'everything as JSON')
    .option('--key-file <file>', 'keys of encrypted columns, NAME=HEX or NAME@VERSION=HEX a line (or $SKEP_ORC_KEYS)')
    .option('--masked', 'encrypted columns without their key as their mask left them')
    .action(async (path: string, options: { data?: boolean; json?: boolean; keyFile?: string; masked?: boolean }) => {
      const { dumpPath } = await import('./commands/dump.js');
      await dumpPath(io, resolve(path), { ...options, data: options.data === true, json: options.json === true });
    });
  program
    .command('read <dir>')
    .description('the rows of a table’s or partition’s folder, without any metastore')
    .option(
      '--write-ids <list>',
      'Hive’s list of valid write ids (db.table:highWatermark:minOpen:open:aborted); default: all',
    )
    .option('--row-ids', 'ROW__ID in front of each row')
    .option('--deleted', 'deleted rows too, with ROW__IS__DELETED behind each row')
    .action(async (dir: string, options: { writeIds?: string; rowIds?: boolean; deleted?: boolean }) => {
      const { readFolder } = await import('./commands/read.js');
      const format = formatOf(io, program.opts<ShellOptions>());
      await readFolder(io, resolve(dir), {
        format,
        rowIds: options.rowIds === true,
        deleted: options.deleted === true,
        ...(options.writeIds ? { writeIds: options.writeIds } : {}),
      });
    });
  program
    .command('upgrade-check [dir]')
    .description('the tables and partitions that must be major-compacted before Hive 3 or later reads them, and why')
    .option('--table <name>', 'only this table (with --database: of that database)')
    .option('--compact', 'compact them and wait')
    .addHelpText('after', '\nThe exit code is 0 where there is none, else 1.')
    .action(async (dir: string | undefined, options: { table?: string; compact?: boolean }) => {
      const { checkUpgrade } = await import('./commands/upgrade-check.js');
      const { openHome } = await import('./home.js');
      const shell = program.opts<ShellOptions>();
      const code = await checkUpgrade(
        io,
        {
          format: formatOf(io, shell),
          compact: options.compact === true,
          ...(dir === undefined ? {} : { dir: resolve(dir) }),
          ...(options.table === undefined ? {} : { table: options.table }),
          ...(shell.database === undefined ? {} : { database: shell.database }),
        },
        async () =>
          await openHome({
            env: io.env,
            hiveconf: shell.hiveconf ?? {},
            backgroundCompaction: options.compact === true,
          }),
      );
      exit(code);
    });
  program
    .command('why <subject> <name> [partition]')
    .description(
      'who or what a transaction, lock, compaction or table waits for, was ended by or is refused for, since when',
    )
    .addHelpText('after', '\nWrite: why txn N, why lock N, why compaction N, why table DB.TABLE [K=V/K2=V2].')
    .action(async (subject: string, name: string, partition: string | undefined) => {
      const { explainWhy, subjectOf } = await import('./commands/why.js');
      const { openHomeOrMetastore } = await import('./open-home.js');
      const asked = subjectOf(subject);
      const home = await openHomeOrMetastore(homeOptions(io, program.opts<ShellOptions>(), false));
      try {
        await explainWhy(io, home.services, asked, name, partition);
      } finally {
        await home.close();
      }
    });
  program
    .command('config [name]')
    .description('what a parameter means')
    .option('--list', 'every parameter with its default')
    .action(async (name: string | undefined, options: { list?: boolean }) => {
      const { showConfig } = await import('./commands/config.js');
      await showConfig(io, name, options.list === true);
    });
}

const formatOf = (io: CliIo, options: ShellOptions): OutputFormat =>
  options.format ?? (io.stdout.isTTY === true ? 'table' : 'tsv');

function homeOptions(io: CliIo, options: ShellOptions, backgroundCompaction: boolean): HomeOptions {
  const warehouse = options.warehouse ?? options.hiveconf?.[WAREHOUSE_DIR];
  const notice = (message: string) => {
    io.stderr.write(`${message}\n`);
  };
  return {
    ...(options.metastore === undefined ? {} : { metastore: options.metastore }),
    connect: connectOptions(options, io.env),
    ...(warehouse === undefined ? {} : { warehouse }),
    hiveconf: options.hiveconf ?? {},
    hivevar: { ...options.hivevar, ...options.define },
    env: withUser(io.env, options.user),
    backgroundCompaction,
    log: options.verbose === true ? plainLogger(notice) : homeLogger(resolve(homePath(io), 'skep.log')),
    notice,
  };
}

async function runStatements(io: CliIo, options: ShellOptions): Promise<number> {
  const scripts = scriptsOf(io, options);
  const interactive = scripts === undefined;
  const home = await io.openHome(homeOptions(io, options, true));
  try {
    const session = await home.newSession();
    const { force = false, verbose = false } = options;
    const run: RunOptions = { format: formatOf(io, options), force: force || interactive, verbose, interactive };
    const runner = new ScriptRunner(io, session, run);
    try {
      if (options.database !== undefined) await session.execute(`use \`${options.database.replaceAll('`', '``')}\``);
      if (scripts !== undefined) {
        const exitCode = await runScripts(io, runner, scripts);
        return leavesTransaction(io, session) ? 1 : exitCode;
      }
      const { runShell } = await import('./shell.js');
      await runShell(io, session, runner, resolve(homePath(io), 'history'));
      leavesTransaction(io, session);
      return 0;
    } finally {
      await session.close();
    }
  } finally {
    await home.close();
  }
}

/** What was not committed is rolled back when the session is closed: said aloud, because it is likely not what was meant. */
function leavesTransaction(io: CliIo, { openTransaction }: CliSession): boolean {
  if (openTransaction === undefined) return false;
  io.stderr.write(`Transaction txnid:${openTransaction.txnId} was not committed: it is rolled back\n`);
  return true;
}

interface NamedScript {
  readonly text: () => string | Promise<string>;
  readonly file?: string;
}

/** What -e and -f ask for; standard input where it is no terminal; undefined: the shell. */
function scriptsOf(io: CliIo, options: ShellOptions): NamedScript[] | undefined {
  const scripts: NamedScript[] = [
    ...(options.execute ?? []).map((text) => ({ text: () => text })),
    ...(options.file ?? []).map((file) => ({ text: () => readScript(io, file), file: file === '-' ? 'stdin' : file })),
  ];
  if (scripts.length > 0) return scripts;
  return io.stdin.isTTY === true ? undefined : [{ text: () => readScript(io, '-'), file: 'stdin' }];
}

async function runScripts(io: CliIo, runner: ScriptRunner, scripts: readonly NamedScript[]): Promise<number> {
  let interrupted = false;
  const stopListening = io.onInterrupt(() => {
    if (interrupted) process.exit(1);
    interrupted = true;
    runner.interrupt();
  });
  try {
    for (const script of scripts) {
      const state = await runner.run(await script.text(), script.file);
      if (state === 'quit') break;
      if (state === 'failed' || interrupted) return 1;
    }
    return runner.hasFailed ? 1 : 0;
  } finally {
    stopListening();
  }
}
