import { vi } from 'vitest';
import type { Channel } from './channel.js';

// The whole contract once more, with clients whose calls share no stream.
vi.mock('./channel.js', async (original) => {
  const actual = await original<{ Channel: typeof Channel }>();
  return {
    Channel: class extends actual.Channel {
      constructor(...[address, options, clock]: ConstructorParameters<typeof Channel>) {
        super(address, { ...options, shareStream: false }, clock);
      }
    },
  };
});

await import('./bind.test.js');
await import('./serve.test.js');
await import('./identity.test.js');
await import('./failover.test.js');
