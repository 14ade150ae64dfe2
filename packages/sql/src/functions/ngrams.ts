import { argumentsLength, argumentType, semantic } from '../expressions/errors.js';
import type { Expr } from '../expressions/expr.js';
import { arrayOf, DOUBLE, type HiveType, INT, STRING, structOf, typeName } from '../types/hive-type.js';
import { isInteger, isText } from '../types/type-rules.js';
import { convertArguments, customFunction, result } from './builder.js';
import type { AggregateFunction, Call, Invoke, ScalarFunction } from './definition.js';

const WORDS = arrayOf(STRING);
const SENTENCES = arrayOf(WORDS);

/** Ends of sentences as java.text.BreakIterator finds them: after ! and ?, after a full stop unless a small letter follows. */
const SENTENCE_END =
  /(?<=[!?\u3002]["')\]}\u00BB]*\s*)(?![!?\u3002"')\]}\u00BB\s])|(?<=\.["')\]}\u00BB]*\s+)(?=[^\p{Ll}\s])/u;
const WORD = /(?:[\p{L}\p{M}]+(?:[\p{Pd}'".][\p{L}\p{M}]+)*|\p{N}+(?:["',.]\p{N}+)*)+/gu;

/** SENTENCES: words of sentences, without punctuation (GenericUDFSentences). */
const sentences = customFunction('string', 'sentences', 'string, language?, country?', (call) => {
  if (call.args.length < 1 || call.args.length > 3) {
    throw argumentsLength(call.name, 'The function sentences takes between 1 and 3 arguments.', call.position);
  }
  const [text] = convertArguments(call, ['string', 'string?', 'string?']);
  const sql = call.analysis.udfs.call('sentences', [STRING], SENTENCES, [text.sql], (s) =>
    (s as string)
      .split(SENTENCE_END)
      .map((sentence) => [...sentence.matchAll(WORD)].map(([word]) => word))
      .filter((words) => words.length > 0),
  );
  return result(call, SENTENCES, sql);
});

export const ngramScalars: readonly ScalarFunction[] = [sentences];

const listArgument = (call: Call, arg: Expr): Expr => {
  if (arg.type.kind === 'array') {
    const { element } = arg.type;
    if (element.kind === 'array' && isText(element.element)) return call.analysis.cast(arg, SENTENCES);
    if (isText(element)) return { ...call.analysis.cast(arg, WORDS), sql: `[${call.analysis.cast(arg, WORDS).sql}]` };
  }
  throw argumentType(
    call.analysis.text(arg.position),
    `Only arrays of strings or of arrays of strings are accepted but ${typeName(arg.type)} was passed as parameter 1.`,
    arg.position,
  );
};

function constantCount(arg: Expr, what: string): number {
  if (isInteger(arg.type) && typeof arg.literal === 'bigint' && arg.literal > 0n) return Number(arg.literal);
  throw semantic(`${what} must be a positive constant integer`, arg.position);
}

const textHash = (text: string): number => {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
};

function inHashMapOrder<T extends { readonly ngram: readonly string[] }>(items: readonly T[]): T[] {
  let capacity = 16;
  while (items.length > capacity * 0.75) capacity *= 2;
  const bucket = ({ ngram }: T): number => {
    const hash = ngram.reduce((sum, word) => (Math.imul(31, sum) + textHash(word)) | 0, 1);
    return (hash ^ (hash >>> 16)) & (capacity - 1);
  };
  return [...items].sort((a, b) => bucket(a) - bucket(b));
}

/** The k most frequent of the keys (NGramEstimator.getNGrams). */
function mostFrequent(keys: Iterable<readonly string[]>, k: number): { ngram: string[]; estfrequency: number }[] {
  const counts = new Map<string, { ngram: string[]; estfrequency: number }>();
  for (const ngram of keys) {
    const key = JSON.stringify(ngram);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { ngram: [...ngram], estfrequency: 1 });
    else known.estfrequency++;
  }
  // Of equal counts those are kept that java.util.HashMap holds last, in its order.
  const ordered = inHashMapOrder([...counts.values()]);
  const kept = ordered.sort((a, b) => a.estfrequency - b.estfrequency).slice(-k);
  return inHashMapOrder(kept).sort((a, b) => b.estfrequency - a.estfrequency);
}

const FOUND: HiveType = arrayOf(
  structOf([
    { name: 'ngram', type: WORDS },
    { name: 'estfrequency', type: DOUBLE },
  ]),
);

function* runs(rows: readonly (readonly (readonly string[])[])[], n: number): Generator<readonly string[]> {
  for (const row of rows) {
    for (const words of row) {
      for (let i = 0; i + n <= words.length; i++) yield words.slice(i, i + n);
    }
  }
}

const collected = (list: Expr, invoke: Invoke): string =>
  invoke('list', list.sql, { filter: `${list.sql} IS NOT NULL`, distinct: false });

const ngrams = (call: Call, invoke: Invoke): Expr => {
  const [arg, n, k] = convertArguments(call, ['any', 'any', 'any', 'any?']);
  const list = listArgument(call, arg);
  const [width, most] = [constantCount(n, 'The size of an n-gram'), constantCount(k, 'The number of n-grams')];
  const sql = call.analysis.udfs.call(
    'ngrams',
    [arrayOf(SENTENCES), INT, INT],
    FOUND,
    [collected(list, invoke), String(width), String(most)],
    (rows, size, limit) => mostFrequent(runs(rows as string[][][], size as number), limit as number) as never,
  );
  return result(call, FOUND, sql);
};

/** CONTEXT_NGRAMS(sentences, array('a', NULL), k): the words in the places of the NULLs. */
const contextNgrams = (call: Call, invoke: Invoke): Expr => {
  const [arg, context, k] = convertArguments(call, ['any', 'any', 'any', 'any?']);
  const list = listArgument(call, arg);
  if (context.type.kind !== 'array') return ngrams(call, invoke);
  const most = constantCount(k, 'The number of n-grams');
  const sql = call.analysis.udfs.call(
    'context_ngrams',
    [arrayOf(SENTENCES), WORDS, INT],
    FOUND,
    [collected(list, invoke), call.analysis.cast(context, WORDS).sql, String(most)],
    (rows, asked, limit) => {
      const places = asked as (string | null)[];
      const fits = (words: readonly string[]) => places.every((word, i) => word === null || word === words[i]);
      const keys = [...runs(rows as string[][][], places.length)]
        .filter(fits)
        .map((words) => words.filter((_, i) => places[i] === null));
      return mostFrequent(keys, limit as number) as never;
    },
  );
  return result(call, FOUND, sql);
};

export const ngramAggregates: readonly AggregateFunction[] = [
  { kind: 'aggregate', names: ['ngrams'], category: 'aggregate', usage: 'array, n, k, precision?', build: ngrams },
  {
    kind: 'aggregate',
    names: ['context_ngrams'],
    category: 'aggregate',
    usage: 'array, context, k, precision?',
    build: contextNgrams,
  },
];
