import { allParameters, otherNames } from './catalogue.js';

const MOST_LETTERS = 3;

/** Known names that are a few letters apart from one that nobody knows, the likest first. */
export function likeNames(name: string): string[] {
  const wanted = name.toLowerCase();
  return allParameters()
    .flatMap((parameter) => [parameter.name, ...otherNames(parameter)])
    .map((known) => ({ known, letters: distance(wanted, known.toLowerCase()) }))
    .filter(({ letters }) => letters <= MOST_LETTERS)
    .sort((a, b) => a.letters - b.letters)
    .map(({ known }) => known);
}

/** Letters to be changed, added or left out to come from one word to the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}
