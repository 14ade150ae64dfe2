import { describe } from 'vitest';
import { filesOverFlight } from '../test/over-flight.js';
import { World } from '../test/world.js';

/** The suite of the Worker once more, with its files done by a data service. */
World.filesOf = filesOverFlight;

describe('over Flight: compaction', async () => {
  await import('./compaction.test.js');
});
describe('over Flight: recovery', async () => {
  await import('./recovery.test.js');
});
describe('over Flight: requests', async () => {
  await import('./requests.test.js');
});
describe('over Flight: for whom', async () => {
  await import('./run-as.test.js');
});
