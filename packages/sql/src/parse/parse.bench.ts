import { bench, describe } from 'vitest';
import { parseStatement } from './index.js';

const rows = Array.from({ length: 20_000 }, (_, i) => `(${i}, 'name ${i}', ${i}.5, null)`).join(',');

describe('parseStatement', () => {
  bench('a short query', () => {
    parseStatement('select a, count(*) c from t where b > 1 group by a order by c desc limit 5');
  });
  bench('INSERT … VALUES of 20,000 rows', () => {
    parseStatement(`insert into t values ${rows}`);
  });
});
