export { toArrowSchema, toTypeDescription } from './arrow/arrow-type.js';
export { ArrowMappingError } from './arrow/errors.js';
export { fromRecordBatch } from './arrow/from-arrow.js';
export { batchMessage, encapsulatedSchema, type IpcMessage, readIpc, schemaMessage } from './arrow/ipc.js';
export type { ArrowOptions, TimestampForm } from './arrow/options.js';
export { toRecordBatch } from './arrow/to-arrow.js';
export type * from './service/data-source.js';
export { BadRequestError, TicketExpiredError } from './service/errors.js';
export { type FlightOptions, flightBinding } from './service/flight-service.js';
