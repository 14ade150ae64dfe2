export const ROOT: string;
/** The path of the bundle of `entry` (relative to the repository), written under node_modules/.cache. */
export function bundleSource(entry: string, name: string): Promise<string>;
