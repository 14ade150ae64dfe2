/** @module Every parameter of Hive's ACID side, its value in effect, and where values come from. */
export { allParameters, type FoundParameter, findParameter, otherNames, PARAMETER_GROUPS } from './catalogue.js';
export * from './configuration.js';
export { configurationMarkdown, effectText } from './documentation.js';
export * from './errors.js';
export { likeNames } from './like-names.js';
export type { Effect, Parameter, ParameterType, TimeUnit } from './parameter.js';
export { isReadAtStart, SERVER_PARAMETERS } from './server-parameters.js';
export { readSiteFile, type SiteProperty } from './site-file.js';
export { parseTimeMs } from './value.js';
