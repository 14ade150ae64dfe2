export * from './bytes.js';
export * from './clock.js';
export * from './errors.js';
export * from './ids.js';
