// A process of its own for tests: `serve` answers CheckLock and never Lock, and tells its address; `call ADDRESS` calls once, and
// leaves its connection as it is.
import { bindService, connect, type LockService, LockServiceService, serve } from '../src/index.js';
import { ANSWER } from './serving-answer.js';

const [role, address] = process.argv.slice(2);
if (role === 'serve') {
  const methods = Object.keys(LockServiceService).map((name) => [name, async () => ANSWER]);
  const lock = () => {
    process.stdout.write('locking\n');
    return new Promise(() => undefined);
  };
  const server = await serve([
    bindService(LockServiceService, { ...Object.fromEntries(methods), lock } as unknown as LockService),
  ]);
  process.stdout.write(`${server.address}\n`);
} else {
  const { service } = connect(LockServiceService, address);
  const { lockId } = await service.checkLock({ lockId: 1n });
  process.stdout.write(`${lockId}\n`);
}
