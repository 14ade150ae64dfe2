import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { Configuration, readSiteFile } from '@skep/config';
import { type FileSystem, readFile } from '@skep/storage';

export type Environment = Readonly<Record<string, string | undefined>>;

const siteFile = 'hive-site.xml';

/** The embedded home: metastore database, warehouse, hive-site.xml. */
export const homePath = (env: Environment): string => resolve(env.SKEP_HOME ?? '.skep');

/** Who runs the statements. */
export const userName = (env: Environment): string => env.SKEP_USER ?? userInfo().username;

/** hive-site.xml in the home, SKEP_CONF_… of the environment, then --hiveconf. */
export async function loadConfiguration(
  fs: FileSystem,
  path: string,
  env: Environment,
  hiveconf: Readonly<Record<string, string>>,
): Promise<Configuration> {
  const sitePath = `${path}/${siteFile}`;
  const found = await fs.stat(sitePath);
  const site =
    found === undefined ? [] : readSiteFile(new TextDecoder().decode(await readFile(fs, sitePath)), sitePath);
  const { conf } = Configuration.load({ site, env });
  for (const [name, value] of Object.entries(hiveconf)) conf.set(name, value);
  return conf;
}
