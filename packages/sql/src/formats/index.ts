/** Files of tables that are not full ACID: text, Parquet and plain ORC. */
export { UnsupportedFormatError } from './errors.js';
export { countRows, type FileLayout, type ListedFile, type PreparedFiles, prepareFiles } from './file-layout.js';
export { FolderWriter } from './folder-writer.js';
export { PlainWriter } from './plain-writer.js';
export { asNamed, freeName, type Publication, publish, stagingFolder } from './publish.js';
export type { FileColumn, RowBatch } from './row-file.js';
