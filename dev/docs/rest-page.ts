// Makes the reference in docs/interface/rest.md: a block for each endpoint of the route table, and a table for each shape of the OpenAPI
// document, which is made from the same routes.
import type { Route } from '../../src/gateways/http/route.js';
import { code, paragraph, table } from './markdown.js';
import { bareDocument, bareRoutes } from './openapi-document.js';

export const REST_PAGE = 'docs/interface/rest.md';

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Schema & {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The tag whose endpoints mirror those of the first tag. */
const MIRROR = 'External emails';
/** The reference describes a type with more characters below the table of its field. */
const LONGEST_TYPE = 160;

export function restReference(): string {
  const document = bareDocument() as unknown as Document;
  const endpoints = document.tags.map(({ name, description }) => {
    const intro = `### ${name}\n\n${paragraph(description)}\n`;
    return name === MIRROR ? intro : [intro, ...endpointBlocks(document, name)].join('\n');
  });
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => shapeText(name, schema));
  return `## Endpoints\n\n${endpoints.join('\n')}\n## Shapes\n\nA field with *?* may be absent.\n\n${shapes.join('\n')}`;
}

function endpointBlocks(document: Document, tag: string): string[] {
  return bareRoutes()
    .filter(({ tags, inDocument }) => inDocument && tags.includes(tag))
    .map((route) => {
      const operation = document.paths[route.path]![route.method.toLowerCase()]!;
      const facts = [
        ['Access', accessOf(route.access)],
        ['Rate', route.rate === 'plain' ? '' : route.rate],
        ['Body', bodyText(operation.requestBody)],
        ['Reply', replyText(operation)],
      ].filter(([, fact]) => fact !== '');
      return [
        `#### ${route.method} ${route.path}\n`,
        `${paragraph([`${operation.summary}.`, route.description].filter(Boolean).join(' '))}\n`,
        ...parameterTables(operation.parameters),
        `${paragraph(facts.map(([name, fact]) => `**${name}** ${fact}`).join(' · '))}\n`,
      ].join('\n');
    });
}

function accessOf(access: Route['access']): string {
  if (access === 'public') return 'public';
  return access === 'signIn' ? `${code('app')}, or what the body has` : access.scopes.map(code).join(', ');
}

/** Ids in the path need no description. */
function parameterTables(parameters: Operation['parameters']): string[] {
  return ['query', 'header'].flatMap((where) => {
    const found = parameters.filter((parameter) => parameter.in === where);
    if (found.length === 0) return [];
    const fields = found.map(({ name, required, description, schema }) => ({
      name,
      required,
      schema: { ...schema, ...(description === undefined ? {} : { description }) },
    }));
    return [fieldTable(where === 'query' ? 'Query' : 'Header', fields)];
  });
}

const bodyText = (body: Content | undefined): string =>
  Object.entries(body?.content ?? {})
    .map(([type, { schema }]) => (type === 'application/json' ? typeText(schema!) : code(type)))
    .join();

function replyText({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([status]) => Number(status) < 400 || status === '501' || status === '503')
    .filter(([status, { content }]) => status !== '503' || content !== undefined)
    .map(([status, { content }]) => {
      const shapes = Object.entries(content ?? {}).map(([type, { schema }]) =>
        type === 'application/json' && schema !== undefined ? typeText(schema) : code(type),
      );
      return [status, ...shapes].join(' ');
    })
    .join(', or ');
}

function shapeText(name: string, schema: Schema): string {
  const alternatives = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
  const about = schema.description === undefined ? '' : `${paragraph(`${schema.description}.`)}\n\n`;
  if (alternatives !== undefined) {
    const each = alternatives.map((one) => `One form:\n\n${fieldTable('Field', fieldsOf(one))}`);
    return `### Shape ${name}\n\n${about}${each.join('\n')}`;
  }
  return `### Shape ${name}\n\n${about}${fieldTable('Field', fieldsOf(schema))}`;
}

interface Field {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
}

const fieldsOf = ({ properties = {}, required = [] }: Schema): Field[] =>
  Object.entries(properties).map(([name, schema]) => ({ name, required: required.includes(name), schema }));

function fieldTable(head: string, fields: readonly Field[]): string {
  const isLong = ({ schema }: Field) => typeText(schema).length > LONGEST_TYPE;
  const rows = fields.map((field) => [
    `${code(field.name)}${field.required ? '' : ' ?'}`,
    isLong(field) ? 'see below' : typeText(field.schema),
    [field.schema.description ?? '', boundsText(field.schema)].filter(Boolean).join('; '),
  ]);
  const below = fields.filter(isLong).map(({ name, schema }) => paragraph(`${code(name)}: ${typeText(schema)}.`));
  return [table([head, 'Type', 'Rule'], rows), ...below.map((text) => `${text}\n`)].join('\n');
}

function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return shapeLink(schema.$ref);
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (parts !== undefined) return parts.map(typeText).join(schema.allOf === undefined ? ' or ' : ' and ');
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  const types = [schema.type ?? 'object'].flat().map((type) => {
    if (type === 'array') return `array of ${typeText(schema.items ?? {})}`;
    if (type === 'object' && schema.properties !== undefined)
      return code(`{${Object.keys(schema.properties).join(', ')}}`);
    if (type !== 'string' || schema.format === undefined) return type;
    return schema.format === 'date-time'
      ? 'timestamp'
      : schema.format === 'uuid'
        ? 'UUID'
        : `string (${schema.format})`;
  });
  return types.join(' or ');
}

function shapeLink(ref: string): string {
  const name = ref.slice(ref.lastIndexOf('/') + 1);
  return `[${name}](#shape-${name.toLowerCase()})`;
}

function boundsText(schema: Schema): string {
  const range = (least: number | undefined, most: number | undefined, unit: string) =>
    least === undefined && most === undefined
      ? []
      : [`${least ?? 0}${most === undefined ? ' or more' : ` to ${most}`}${unit}`];
  return [
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minLength, schema.maxLength, ' characters'),
    ...range(schema.minItems, schema.maxItems, ' entries'),
    ...(schema.pattern === undefined ? [] : [code(schema.pattern)]),
    ...(schema.default === undefined ? [] : [`default ${code(JSON.stringify(schema.default))}`]),
  ].join('; ');
}
