/** @module The file-format layer served over Arrow Flight: tables by splits to and from any client. */
export { type RunningData, type ServeDataOptions, serveData } from './serve-data.js';
