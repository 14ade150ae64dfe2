// Opens a transaction on the home, says its number, and keeps it alive until somebody aborts it or 60 seconds have passed.
import { openHome } from '../apps/cli/dist/home.js';

const home = await openHome();
const { txns, clock, identity } = home.services;
const { txnIds } = await txns.openTxns({ count: 1, ...identity, type: 0 });
const [txnId] = txnIds;
console.log(`open ${txnId}`);
for (let i = 0; i < 240; i++) {
  await clock.sleep(250);
  const { abortedTxnIds } = await txns.heartbeatTxns({ txnIds });
  if (abortedTxnIds.length === 0) continue;
  console.log(`transaction ${txnId} was aborted`);
  break;
}
await txns.abortTxns({ txnIds, reasonCode: 50005 });
await home.close();
