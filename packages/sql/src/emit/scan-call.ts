/** In a query's SQL stands `skep_scan(/*0*\/)` for its first table use; the number of the running scan is put in. */
export const scanCall = (use: number): string => `skep_scan(/*${use}*/)`;

/** The SQL with the numbers of a running query's scans, which count from `first`, in the places of its table uses. */
export const bindScanCalls = (sql: string, first: number): string =>
  sql.replace(/skep_scan\(\/\*(\d+)\*\/\)/g, (_, use) => `skep_scan(${first + Number(use)})`);
