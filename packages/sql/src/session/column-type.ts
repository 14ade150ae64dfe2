import type { TypeNode } from '../parse/ast.js';
import { printType } from '../parse/index.js';
import { SemanticError } from './errors.js';

const maxPrecision = 38;
const maxVarchar = 65_535;
const maxChar = 255;

/** A column's type as the catalog keeps it; refused are lengths and types that Hive's tables cannot have (HiveVarchar, HiveDecimal). */
export function columnType(type: TypeNode): string {
  check(type);
  return printType(type);
}

function check(type: TypeNode): void {
  const refuse = (message: string) => new SemanticError(10000, message, { position: type.position });
  switch (type.kind) {
    case 'decimal':
      if (type.precision < 1 || type.precision > maxPrecision)
        throw refuse(`Decimal precision out of allowed range [1,${maxPrecision}]`);
      if (type.scale > type.precision) throw refuse('Decimal scale must be less than or equal to precision');
      return;
    case 'varchar':
      if (type.length < 1 || type.length > maxVarchar)
        throw refuse(`Varchar length ${type.length} out of allowed range [1, ${maxVarchar}]`);
      return;
    case 'char':
      if (type.length < 1 || type.length > maxChar)
        throw refuse(`Char length ${type.length} out of allowed range [1, ${maxChar}]`);
      return;
    case 'primitive':
      if (type.name === 'void' || type.name.startsWith('interval_'))
        throw refuse(`A column cannot have the type ${type.name}`);
      return;
    case 'array':
      check(type.element);
      return;
    case 'map':
      check(type.key);
      check(type.value);
      return;
    case 'struct':
      for (const field of type.fields) check(field.type);
      return;
    case 'uniontype':
      for (const alternative of type.alternatives) check(alternative);
  }
}
