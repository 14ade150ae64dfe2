import { semantic } from '../expressions/errors.js';
import { arrayOf, BIGINT, BOOLEAN, DOUBLE, FLOAT, type HiveType, INT, SMALLINT, STRING } from '../types/hive-type.js';
import { jsFunction } from './builder.js';
import type { ScalarFunction } from './definition.js';
import { evaluateXPath, toBoolean, toNumber, toText, type XPathValue } from './xml/evaluate-xpath.js';
import { parseXml } from './xml/parse-xml.js';
import { parseXPath, type XPath } from './xml/parse-xpath.js';
import type { XmlNode } from './xml/xml-node.js';

const MOST_KEPT = 100;
const paths = new Map<string, XPath | undefined>();

function compiled(path: string): XPath | undefined {
  if (!paths.has(path)) {
    if (paths.size >= MOST_KEPT) paths.clear();
    paths.set(path, parseXPath(path));
  }
  return paths.get(path);
}

/** UDFXPathUtil.eval: no value for empty text or a path that is none; an error for text that is no XML. */
function evaluated(xml: string, path: string): XPathValue | undefined {
  if (xml === '' || path === '') return undefined;
  const expression = compiled(path);
  if (expression === undefined) return undefined;
  const root = parseXml(xml);
  if (root === undefined)
    throw semantic(`Error loading expression '${path}': the text is not well-formed XML`, undefined, 10014);
  return evaluateXPath(expression, root);
}

/** A double as Java casts it to a whole number: saturated, NaN is 0. */
function whole(value: number, bits: number): bigint {
  if (Number.isNaN(value)) return 0n;
  const limit = 2n ** BigInt(bits - 1);
  if (value >= Number(limit)) return limit - 1n;
  return value <= -Number(limit) ? -limit : BigInt(Math.trunc(value));
}

const numeric = (names: string, type: HiveType, of: (value: number) => number | bigint): ScalarFunction =>
  jsFunction('string', names, ['string', 'string'], type, (xml, path) => {
    const value = evaluated(xml as string, path as string);
    return value === undefined ? null : of(toNumber(value));
  });

const nodeValue = (node: XmlNode): string[] => (node.kind === 'element' || node.kind === 'root' ? [] : [node.value]);

/** XPATH and kin (org.apache.hadoop.hive.ql.udf.xml). */
export const xpathFunctions: readonly ScalarFunction[] = [
  jsFunction('string', 'xpath', ['string', 'string'], arrayOf(STRING), (xml, path) => {
    const value = evaluated(xml as string, path as string);
    if (value === undefined) return null;
    if (typeof value !== 'object') throw semantic(`XPATH wants nodes, but '${path}' gives a value`);
    return value.flatMap(nodeValue);
  }),
  jsFunction('string', 'xpath_string', ['string', 'string'], STRING, (xml, path) => {
    const value = evaluated(xml as string, path as string);
    return value === undefined ? null : toText(value);
  }),
  jsFunction('string', 'xpath_boolean', ['string', 'string'], BOOLEAN, (xml, path) => {
    const value = evaluated(xml as string, path as string);
    return value === undefined ? null : toBoolean(value);
  }),
  numeric('xpath_double xpath_number', DOUBLE, (x) => x),
  numeric('xpath_float', FLOAT, Math.fround),
  numeric('xpath_long', BIGINT, (x) => whole(x, 64)),
  numeric('xpath_int', INT, (x) => Number(whole(x, 32))),
  numeric('xpath_short', SMALLINT, (x) => Number(BigInt.asIntN(16, whole(x, 32)))),
];
