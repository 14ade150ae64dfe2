/** @module CatalogService on the metastore's database: DBS, TBLS, SDS, PARTITIONS and kin. */
export { Catalog, type OtherFacts, type RenamedName } from './catalog.js';
export { AlreadyExistsError, InvalidObjectError, InvalidOperationError, NoSuchObjectError } from './errors.js';
export { catalogMigrations } from './schema.js';
