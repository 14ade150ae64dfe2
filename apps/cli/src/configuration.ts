import { homedir, tmpdir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { Configuration, readSiteFile } from '@skep/config';
import { type FileSystem, readFile } from '@skep/storage';

export type Environment = Readonly<Record<string, string | undefined>>;

const siteFile = 'hive-site.xml';

/** The embedded home: metastore database, warehouse, hive-site.xml. */
export const homePath = (env: Environment): string => resolve(env.SKEP_HOME ?? '.skep');

/** Who runs the statements. */
export const userName = (env: Environment): string => env.SKEP_USER ?? userInfo().username;

/** What Java's system properties mean in a site file. */
export const systemProperties = (env: Environment): Record<string, string> => ({
  'user.name': userName(env),
  'user.home': homedir(),
  'java.io.tmpdir': tmpdir(),
});

/** hive-site.xml in the home, SKEP_CONF_… of the environment, then --hiveconf. */
export async function loadConfiguration(
  fs: FileSystem,
  path: string,
  options: {
    readonly env: Environment;
    readonly hiveconf: Readonly<Record<string, string>>;
    /** What the user should know of them: old names, no effect here. */
    readonly notice?: ((message: string) => void) | undefined;
  },
): Promise<Configuration> {
  const { env, hiveconf, notice } = options;
  const sitePath = `${path}/${siteFile}`;
  const found = await fs.stat(sitePath);
  const site =
    found === undefined ? [] : readSiteFile(new TextDecoder().decode(await readFile(fs, sitePath)), sitePath);
  const { conf, notes } = Configuration.load({ site, env, system: systemProperties(env) });
  for (const [name, value] of Object.entries(hiveconf)) notes.push(...conf.set(name, value));
  if (notice !== undefined) for (const note of notes) notice(note);
  return conf;
}
