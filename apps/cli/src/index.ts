export type { CliHome, CliIo, CliSession, HomeOptions } from './io.js';
export { main } from './main.js';
