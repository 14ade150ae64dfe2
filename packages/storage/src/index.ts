export * from './copy.js';
export * from './errors.js';
export * from './file-system.js';
export * from './layered.js';
export * from './local-file-system.js';
export * from './location.js';
export * from './memory-file-system.js';
export * from './walk.js';
