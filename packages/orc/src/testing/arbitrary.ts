import fc from 'fast-check';
import {
  createChar,
  createDecimal,
  createList,
  createMap,
  createPrimitive,
  createStruct,
  createUnion,
  createVarchar,
  type SimpleKind,
  type TypeDescription,
} from '../type-description.js';
import type { AppendableValue } from '../vector/builder.js';

const SIMPLE: readonly SimpleKind[] = [
  'boolean',
  'byte',
  'short',
  'int',
  'long',
  'float',
  'double',
  'string',
  'binary',
  'date',
  'timestamp',
  'timestamp_instant',
];

const leafType: fc.Arbitrary<TypeDescription> = fc.oneof(
  fc.constantFrom(...SIMPLE).map(createPrimitive),
  fc.integer({ min: 1, max: 20 }).map(createVarchar),
  fc.integer({ min: 1, max: 20 }).map(createChar),
  fc
    .integer({ min: 1, max: 38 })
    .chain((precision) => fc.integer({ min: 0, max: precision }).map((scale) => createDecimal(precision, scale))),
);

function nestedType(depth: number): fc.Arbitrary<TypeDescription> {
  if (depth === 0) return leafType;
  const child = nestedType(depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: leafType },
    { weight: 1, arbitrary: child.map(createList) },
    { weight: 1, arbitrary: fc.tuple(leafType, child).map(([key, value]) => createMap(key, value)) },
    { weight: 1, arbitrary: structType(child) },
    { weight: 1, arbitrary: fc.array(child, { minLength: 1, maxLength: 3 }).map(createUnion) },
  );
}

function structType(field: fc.Arbitrary<TypeDescription>): fc.Arbitrary<TypeDescription> {
  return fc
    .array(field, { minLength: 1, maxLength: 4 })
    .map((types) => createStruct(types.map((type, i) => [`f${i}`, type] as const)));
}

/** Structs of columns of every type, nested to this depth. */
export function arbitrarySchema(depth = 2): fc.Arbitrary<TypeDescription> {
  return structType(nestedType(depth));
}

/** Values of a type, in the form in which vectorValue gives them; NULL among them when `nullable`. */
export function arbitraryValue(type: TypeDescription, nullable = true): fc.Arbitrary<AppendableValue> {
  const value = presentValue(type);
  return nullable ? fc.option(value, { freq: 5, nil: null }) : value;
}

function integers(bits: number): fc.Arbitrary<number> {
  const limit = 2 ** (bits - 1);
  return fc.oneof(
    fc.integer({ min: -limit, max: limit - 1 }),
    fc.integer({ min: -3, max: 3 }),
    fc.constantFrom(-limit, limit - 1),
  );
}

/** Text without lone surrogates, which UTF-8 cannot hold, and without blanks at its end, which CHAR does not keep. */
function texts(maximum: number): fc.Arbitrary<string> {
  return fc
    .string({ unit: 'grapheme-composite', maxLength: Math.min(maximum, 20) })
    .map((text) => [...text].slice(0, maximum).join('').replace(/ +$/, ''));
}

function presentValue(type: TypeDescription): fc.Arbitrary<AppendableValue> {
  switch (type.kind) {
    case 'boolean':
      return fc.boolean();
    case 'byte':
      return integers(8);
    case 'short':
      return integers(16);
    case 'int':
      return integers(32);
    case 'date':
      return fc.oneof(fc.integer({ min: -719_162, max: 2_932_896 }), fc.integer({ min: -100, max: 20_000 }));
    case 'long':
      return fc.oneof(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.bigInt({ min: -5n, max: 5n }),
        fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n),
      );
    case 'float':
      return fc.float();
    case 'double':
      return fc.double();
    case 'string':
      return texts(1000);
    case 'char':
    case 'varchar':
      return texts(type.maximumLength ?? 1);
    case 'binary':
      return fc.uint8Array({ maxLength: 20 });
    case 'timestamp':
    case 'timestamp_instant':
      // The last second before 1970 is left out: ORC cannot carry a fraction there.
      return fc.record({
        seconds: fc
          .bigInt({ min: -62_135_596_800n, max: 253_402_300_799n })
          .map((seconds) => (seconds === -1n ? -2n : seconds)),
        nanos: fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constantFrom(0, 1, 1000, 1_000_000, 500_000_000)),
      });
    case 'decimal': {
      const { precision = 38, scale = 0 } = type;
      const limit = 10n ** BigInt(precision) - 1n;
      return fc
        .oneof(fc.bigInt({ min: -limit, max: limit }), fc.constantFrom(-limit, limit, 0n, 1n, -1n))
        .map((unscaled) => ({ unscaled, scale }));
    }
    case 'list':
      return fc.array(arbitraryValue(type.children[0]), { maxLength: 5 });
    case 'map':
      return fc.array(fc.tuple(arbitraryValue(type.children[0], false), arbitraryValue(type.children[1])), {
        maxLength: 4,
      });
    case 'struct':
      return fc.record(
        Object.fromEntries(type.fieldNames.map((name, i) => [name, arbitraryValue(type.children[i])] as const)),
      );
    case 'union':
      return fc.oneof(
        ...type.children.map((child, tag) => arbitraryValue(child).map((value) => ({ tag, value }) as AppendableValue)),
      );
  }
}

/** A schema and rows of it. */
export function arbitraryTable(maximumRows = 60): fc.Arbitrary<{ schema: TypeDescription; rows: AppendableValue[] }> {
  return arbitrarySchema().chain((schema) =>
    fc.array(arbitraryValue(schema, false), { maxLength: maximumRows }).map((rows) => ({ schema, rows })),
  );
}
