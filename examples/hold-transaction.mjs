// Opens a transaction on the home, says its number, and keeps it alive until somebody aborts it or 60 seconds have passed.
import { openHome } from '../apps/cli/dist/home.js';

const home = await openHome();
const { txns, clock, identity } = home.services;
const { user, host, agentInfo } = identity;
const {
  txnIds: [txnId],
} = await txns.openTxns({ numTxns: 1, user, host, agentInfo });
console.log(`open ${txnId}`);
try {
  for (let i = 0; i < 240; i++) {
    await clock.sleep(250);
    await txns.heartbeat({ txnId });
  }
  await txns.abortTxn({ txnId });
} catch (error) {
  console.log(`transaction ${txnId} is over: ${error.message}`);
} finally {
  await home.close();
}
