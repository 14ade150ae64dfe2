import type { CatalogService } from '@skep/rpc';

/** The same catalog with some methods done in another way. */
export const layeredCatalog = (catalog: CatalogService, methods: Partial<CatalogService>): CatalogService =>
  Object.assign(Object.create(catalog), methods);
