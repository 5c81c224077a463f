// Checks a value against the JSON schemas of the OpenAPI document: the subset the gateway writes, and strictly: what
// the schema does not name may not be there.

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
}

// biome-ignore lint/suspicious/noExplicitAny: a parsed document, looked into by path
export type Document = any;

/** What is wrong, as `path: reason`; empty when nothing is. */
export function violations(schema: Schema, value: unknown, document: Document, path = '$'): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = document.components.schemas[name];
    return target === undefined ? [`${path}: no schema ${name}`] : violations(target, value, document, path);
  }
  if (schema.anyOf !== undefined) {
    const all = schema.anyOf.map((option) => violations(option, value, document, path));
    return all.some((problems) => problems.length === 0) ? [] : all.flat();
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length > 0 && !types.some((type) => isOf(type, value))) return [`${path}: not ${types.join(' or ')}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${path}: not one of the values`];
  if (
    schema.format === 'uuid' &&
    value !== null &&
    !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value))
  ) {
    return [`${path}: not a UUID`];
  }
  if (
    schema.format === 'date-time' &&
    value !== null &&
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value))
  ) {
    return [`${path}: not a time`];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, i) => violations(items, item, document, `${path}[${i}]`));
  }
  if (typeof value !== 'object' || value === null || schema.type === undefined) return [];
  const missing = (schema.required ?? []).filter((key) => !(key in value)).map((key) => `${path}.${key}: missing`);
  const inner = Object.entries(value).flatMap(([key, entry]) => {
    const property = schema.properties?.[key] ?? schema.additionalProperties;
    return property === undefined
      ? [`${path}.${key}: not in the schema`]
      : violations(property, entry, document, `${path}.${key}`);
  });
  return [...missing, ...inner];
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
