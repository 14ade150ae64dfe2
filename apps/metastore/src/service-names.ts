import {
  CatalogServiceService,
  CompactionServiceService,
  InvalidRequestError,
  LockServiceService,
  type ServiceDefinition,
  TransactionServiceService,
} from '@skep/rpc';

/** What a metastore is made of, each of which may run in a process of its own. */
export const SERVICE_NAMES = ['catalog', 'transactions', 'locks', 'compaction'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export const SERVICE_DEFINITIONS: Readonly<Record<ServiceName, ServiceDefinition>> = {
  catalog: CatalogServiceService,
  transactions: TransactionServiceService,
  locks: LockServiceService,
  compaction: CompactionServiceService,
};

const isServiceName = (text: string): text is ServiceName => (SERVICE_NAMES as readonly string[]).includes(text);

function serviceName(text: string, where: string): ServiceName {
  if (isServiceName(text)) return text;
  throw new InvalidRequestError(`${where}: there is no service '${text}', only ${SERVICE_NAMES.join(', ')}`);
}

/** Of `--services`: `all`, or names with commas. */
export function parseServices(text: string): readonly ServiceName[] {
  const names = items(text);
  if (names.length === 1 && names[0] === 'all') return SERVICE_NAMES;
  if (names.length === 0) throw new InvalidRequestError('--services names none: write all, or names with commas');
  return [...new Set(names.map((name) => serviceName(name, '--services')))];
}

/** Where each service is found: addresses that serve the same, in the order they are tried. */
export type ServiceAddresses = Readonly<Partial<Record<ServiceName, readonly [string, ...string[]]>>>;

/** Where a metastore's services are, some perhaps not known. `skep://` in front of an address is left out. */
export function parseAddresses(text: string, where: string): ServiceAddresses {
  const found = new Map<ServiceName, [string, ...string[]]>();
  for (const item of items(text)) {
    const match = /^(?:(\w+)=)?(?:skep:\/\/)?(.+?)\/?$/.exec(item);
    const address = match?.[2] ?? '';
    if (
      match === null ||
      !/^(?:\[[^\]]+\]|[^:[\]/]+):\d{1,5}$/.test(address) ||
      Number(address.split(':').at(-1)) > 65_535
    ) {
      throw new InvalidRequestError(`${where}: '${item}' is no address: write HOST:PORT, or SERVICE=HOST:PORT`);
    }
    for (const name of match[1] === undefined ? SERVICE_NAMES : [serviceName(match[1], where)]) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return Object.fromEntries(found);
}

/** Of `--metastore`: `HOST:PORT`, `HOST:PORT,HOST:PORT`, or where each is, `catalog=HOST:PORT,locks=HOST:PORT,…`. */
export function parseMetastore(text: string, where: string): Required<ServiceAddresses> {
  const { catalog, transactions, locks, compaction } = parseAddresses(text, where);
  if (catalog === undefined || transactions === undefined || locks === undefined || compaction === undefined) {
    const missing = SERVICE_NAMES.filter((name) => parseAddresses(text, where)[name] === undefined);
    throw new InvalidRequestError(`${where}: no address for ${missing.join(', ')}: write HOST:PORT for all of them`);
  }
  return { catalog, transactions, locks, compaction };
}

const items = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
