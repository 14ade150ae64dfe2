export type { CliHome, CliSession, HomeOptions } from './cli-home.js';
export type { CliIo } from './io.js';
export { main } from './main.js';
