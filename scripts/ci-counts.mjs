// Counts of a test run, and a failure where tests over ../shared/golden were skipped though the folder is there.
// node scripts/ci-counts.mjs VITEST.json SHARED [GOLDEN.json]
import { existsSync, readFileSync } from 'node:fs';

/** Tests that may be skipped where this runs, and why. */
const MAY_SKIP = [{ name: /say when access is denied$/, why: 'root may read and write everything' }];

const [vitest, shared, golden] = process.argv.slice(2);
const results = JSON.parse(readFileSync(vitest, 'utf8'));
const skipped = results.testResults.flatMap((file) =>
  file.assertionResults
    .filter((test) => test.status === 'pending' || test.status === 'skipped')
    .map((test) => test.fullName),
);
console.log(
  `npm test: ${results.numPassedTests} passed, ${results.numFailedTests} failed, ${skipped.length} skipped in ${results.testResults.length} files`,
);
if (golden !== undefined) {
  const { passed, failed } = JSON.parse(readFileSync(golden, 'utf8'));
  console.log(`npm run golden: ${passed} passed, ${failed} failed`);
}
const hasShared = existsSync(`${shared}/golden/orc-examples`) && existsSync(`${shared}/golden/verbatim`);
const unexpected = skipped.filter((name) => !MAY_SKIP.some((known) => known.name.test(name)));
if (hasShared && unexpected.length > 0) {
  console.error(`${shared} is there, and these tests were skipped:\n  ${unexpected.join('\n  ')}`);
  process.exit(1);
}
if (!hasShared) console.log(`${shared}/golden is not there: tests over other people's files were skipped`);
