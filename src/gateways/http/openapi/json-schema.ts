// JSON Schema (2020-12, the dialect of OpenAPI 3.1) of the structs that routes use. A route may use only types known here: another type
// stops the start, so the document never says less than the server does.
import { validate } from 'superstruct';
import type { AnyStruct } from '../../../actors/runtime/protocol.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Names of object structs by their fields, because wrapping a struct as optional or nullable keeps its fields. */
const names = new WeakMap<object, { readonly name: string; readonly notes: JsonSchema }>();

/** Gives an object struct a name under `components/schemas`; `notes` are added to its schema. */
export function named<S extends AnyStruct>(name: string, struct: S, notes: JsonSchema = {}): S {
  names.set(struct.schema as object, { name, notes });
  return struct;
}

/** Additional schema members of array structs, by the struct of their elements. */
const arrayNotes = new WeakMap<object, JsonSchema>();

/** Adds members to the schema of an array. No other array may share the struct of its elements. */
export function noted<S extends AnyStruct>(struct: S, notes: JsonSchema): S {
  arrayNotes.set(struct.schema as object, notes);
  return struct;
}

const LEAVES: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  uuid: { type: 'string', format: 'uuid' },
  timestamp: { type: 'string', format: 'date-time' },
  file: { type: 'string', contentEncoding: 'base64' },
  anyObject: { type: 'object' },
  position: { type: ['string', 'integer'] },
  flagOrKeyword: { type: ['boolean', 'string'] },
  date: {
    type: 'string',
    description: 'ISO 8601 date or date-time, in UTC unless it has an offset',
    examples: ['2026-01-31', '2026-01-31T08:30:00Z'],
  },
  page: { type: 'integer', minimum: 1, default: 1 },
  pageSize: {
    type: 'integer',
    minimum: 1,
    default: 20,
    description: 'More than 100 means 100; the reply says which it was',
  },
  limit: { type: 'integer', minimum: 1, default: 10, description: 'More than 1,000 means 1,000' },
  folderName: {},
  headerPairs: { type: 'array', items: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 } },
  strings: { type: 'array', items: { type: 'string' } },
  choices: { type: 'array' },
  texts: { type: 'object', additionalProperties: { type: 'string' } },
  restShape: {},
  unknown: {},
};

/** `components` collects the named schemas that are referred to. @throws Error for a type without a schema */
export function jsonSchema(struct: AnyStruct, components: Map<string, JsonSchema>): JsonSchema {
  const schema = bare(struct, components);
  if (struct.type === 'unknown' || struct.type === 'literal' || !struct.is(null)) return schema;
  if (typeof schema['type'] === 'string') {
    const values = schema['enum'] as readonly unknown[] | undefined;
    return { ...schema, type: [schema['type'], 'null'], ...(values && { enum: [...values, null] }) };
  }
  return { anyOf: [schema, { type: 'null' }] };
}

function bare(struct: AnyStruct, components: Map<string, JsonSchema>): JsonSchema {
  switch (struct.type) {
    case 'object':
    case 'type':
    case 'closedRecord':
      return objectSchema(struct, components);
    case 'array':
      return {
        type: 'array',
        items: jsonSchema(struct.schema as AnyStruct, components),
        ...arrayNotes.get(struct.schema as object),
      };
    case 'enums':
      return { type: 'string', enum: Object.keys(struct.schema as object) };
    case 'literal':
      return { const: struct.schema };
    case 'oneOf':
      return { oneOf: (struct.schema as readonly AnyStruct[]).map((one) => jsonSchema(one, components)) };
    default: {
      const leaf = LEAVES[struct.type];
      if (leaf === undefined) throw new Error(`no JSON schema for struct type ${struct.type}`);
      return { ...leaf, ...(struct.schema as JsonSchema | null) };
    }
  }
}

function objectSchema(struct: AnyStruct, components: Map<string, JsonSchema>): JsonSchema {
  const fields = struct.schema as Readonly<Record<string, AnyStruct>>;
  const { name, notes } = names.get(fields) ?? {};
  if (name !== undefined && components.has(name)) return { $ref: `#/components/schemas/${name}` };
  // The name is entered before the fields, so that a recursive struct finds itself.
  if (name !== undefined) components.set(name, {});
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => isRequired(field)).map(([key]) => key);
  const schema: JsonSchema = {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(entries.map(([key, field]) => [key, jsonSchema(field, components)])),
    ...(struct.type === 'closedRecord' && { additionalProperties: false }),
    ...notes,
  };
  if (name === undefined) return schema;
  components.set(name, schema);
  return { $ref: `#/components/schemas/${name}` };
}

/** Whether a request must contain the field: it is not optional and has no default. */
export const isRequired = (struct: AnyStruct): boolean =>
  validate(undefined, struct, { coerce: true })[0] !== undefined;
