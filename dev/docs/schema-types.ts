// TypeScript types of JSON schemas, as the OpenAPI and AsyncAPI documents have them.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string | undefined;
}

/** `indent`: that of the line on which the type begins. */
export function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const several = schema.oneOf ?? (schema.properties === undefined ? schema.anyOf : undefined);
  if (several !== undefined) return several.map((one) => typeOf(one, indent)).join(' | ');
  const types = [schema.type ?? 'unknown'].flat();
  return types.map((type) => simpleType(type, schema, indent)).join(' | ');
}

function simpleType(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'object':
      return literalType(schema, indent);
    case 'array':
      return arrayType(schema, indent);
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'unknown':
      return type;
    default:
      throw new Error(`no TypeScript type for JSON schema type ${type}`);
  }
}

function arrayType({ items = {}, minItems, maxItems }: Schema, indent: string): string {
  const item = typeOf(items, indent);
  if (minItems !== undefined && minItems === maxItems && minItems < 5) {
    return `readonly [${Array.from({ length: minItems }, () => item).join(', ')}]`;
  }
  const isUnion = [items.oneOf, items.anyOf, items.enum].some(Boolean) || Array.isArray(items.type);
  return `readonly ${isUnion || item.startsWith('readonly ') ? `(${item})` : item}[]`;
}

/** The type of an object between its braces. */
export function literalType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `{ readonly [name: string]: ${values} }`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const isNeeded = required.includes(name);
    const type = typeOf(field, inner);
    return `${commented(field.description, inner)}${inner}readonly ${keyOf(name)}${isNeeded ? '' : '?'}: ${type}${isNeeded ? '' : ' | undefined'};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

export function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}

export function commented(description: string | undefined, indent = ''): string {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);
}
