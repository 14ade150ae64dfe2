import { type Command, Option } from 'commander';
import { addClientFlags } from './commands/client-flags.js';
import type { CompactorFlags } from './commands/compactor.js';
import type { DataFlags } from './commands/data.js';
import type { HealthFlags } from './commands/health.js';
import type { MetastoreFlags } from './commands/metastore.js';
import { addServeFlags } from './commands/serve-flags.js';
import type { CliIo } from './io.js';

const list = (text: string, before: string[] = []): string[] => [...before, text];

const logLevel = () =>
  new Option('--log-level <level>', 'what is logged on standard error')
    .choices(['debug', 'info', 'warn', 'error'])
    .default('info');

const logFile = () => new Option('--log-file <file>', 'log there instead; at 64 MiB the file becomes FILE.1');

const onOff = (flag: string, what: string) => new Option(`--${flag} <on|off>`, what).choices(['on', 'off']);

const SERVICES_NOTE = `
Services: catalog, transactions, locks, compaction. Those that are not served here are found by --peer.
--hiveconf and SKEP_CONF_… set parameters, as everywhere.`;

/** What runs until it is asked to end, and the question whether it runs. */
export function addServiceCommands(program: Command, io: CliIo): void {
  const metastore = program
    .command('metastore')
    .description('serve catalog, transactions, locks and the compaction queue over gRPC')
    .option('--listen <address>', 'HOST:PORT; port 0 takes a free one', '127.0.0.1:9083')
    .requiredOption('--db <url>', 'sqlite:PATH or mysql://USER:PASSWORD@HOST:PORT/DB')
    .option('--db-password-file <file>', 'the password of the database’s user (or SKEP_DB_PASSWORD)')
    .option('--warehouse <uri>', 'where databases and tables are kept; a new SQLite database: beside it')
    .option('--services <names>', 'all, or some of them with commas', 'all')
    .option('--peer <service=address>', 'where another service is: SERVICE=HOST:PORT; may be repeated', list)
    .addOption(onOff('initiator', 'look for tables that need compaction (where compaction is served)'))
    .addOption(onOff('cleaner', 'remove what compactions made obsolete (where compaction is served)'))
    .addOption(onOff('housekeeping', 'abort what timed out, forget what is done (where compaction is served)'))
    .option('--workers <n>', 'carry out compactions in this process too; default 0 (docs/deployment.md)')
    .option('--metrics <address>', 'serve Prometheus figures on HOST:PORT/metrics')
    .option('--config <file>', 'parameters from a hive-site.xml or core-site.xml (proxy users); may be repeated', list)
    .addOption(logLevel())
    .addOption(logFile())
    .addHelpText('after', SERVICES_NOTE);
  addClientFlags(addServeFlags(metastore)).action(async () => {
    const { runMetastore } = await import('./commands/metastore.js');
    await runMetastore(io, metastore.optsWithGlobals<MetastoreFlags>());
  });
  const compactor = program
    .command('compactor')
    .description('carry out compactions for a metastore; any number of these on any hosts')
    .option('--metastore <address>', 'HOST:PORT[,HOST:PORT] (or SKEP_METASTORE)')
    .option('--data <address>', 'skep data where the files are, HOST:PORT[,HOST:PORT] (or SKEP_DATA); default: here')
    .option('--threads <n>', 'compactions at once; default hive.compactor.worker.threads, 1')
    .option('--pool <name>', 'carry out requests of this pool only')
    .option('--config <file>', 'parameters from a hive-site.xml; may be repeated', list)
    .option('--metrics <address>', 'serve Prometheus figures on HOST:PORT/metrics')
    .addOption(logLevel())
    .addOption(logFile());
  addClientFlags(compactor).action(async () => {
    const { runCompactor } = await import('./commands/compactor.js');
    await runCompactor(io, compactor.optsWithGlobals<CompactorFlags>());
  });
  const data = program
    .command('data')
    .description('serve the tables over Arrow Flight: splits to read in parallel, rows to write')
    .option('--listen <address>', 'HOST:PORT; port 0 takes a free one', '127.0.0.1:9084')
    .option('--metastore <address>', 'whose tables: HOST:PORT[,HOST:PORT] (or SKEP_METASTORE); default: the home')
    .option('--home <folder>', 'the tables of this embedded home (or SKEP_HOME)')
    .option('--advertise <uri>', 'where endpoints can be read: grpc://HOST:PORT; may be repeated', list)
    .option('--ticket-key <file>', 'signs tickets; services with the same key redeem each other’s')
    .option('--ticket-minutes <n>', 'how long tickets keep their snapshot', '10')
    .option('--stream-memory <mib>', 'what open streams may hold together; default: a quarter of the memory')
    .option('--compactions <n>', 'compactions written here at once for `skep compactor --data`; 0: none', '2')
    .option('--max-held <n>', 'snapshots, and transactions of clients, that are kept at once (each)', '1000')
    .option('--config <file>', 'parameters from a hive-site.xml or core-site.xml (proxy users); may be repeated', list)
    .option('--metrics <address>', 'serve Prometheus figures on HOST:PORT/metrics')
    .addOption(logLevel())
    .addOption(logFile());
  addClientFlags(addServeFlags(data)).action(async () => {
    const { runData } = await import('./commands/data.js');
    await runData(io, data.optsWithGlobals<DataFlags>());
  });
  const health = program
    .command('health <address>')
    .description('whether a metastore at HOST:PORT serves; exit code 1 where not')
    .addOption(
      new Option('--service <name>', 'one of its services').choices(['catalog', 'transactions', 'locks', 'compaction']),
    );
  addClientFlags(health).action(async (address: string) => {
    const { checkHealth } = await import('./commands/health.js');
    await checkHealth(io, address, health.optsWithGlobals<HealthFlags>());
  });
}
