/** @module A metastore's services composed, in one process or several, and served over gRPC. */
export type { Background, BackgroundOptions } from './background.js';
export { keepHouse } from './housekeeping.js';
export { type OpenedServices, type OpenServicesOptions, openServices } from './open-services.js';
export { connectServices, type RemoteServices } from './remote-services.js';
export { type RunningMetastore, type ServeMetastoreOptions, serveMetastore } from './serve-metastore.js';
export { compactorConf, takeServerParameters, workerPools } from './service-conf.js';
export {
  parseAddresses,
  parseMetastore,
  parseServices,
  SERVICE_DEFINITIONS,
  SERVICE_NAMES,
  type ServiceAddresses,
  type ServiceName,
} from './service-names.js';
export type { MetastoreServices } from './services.js';
export { whenThere } from './when-there.js';
