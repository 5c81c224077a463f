// The tables of docs/interface/rest.md: every endpoint from the route table, and every shape from the OpenAPI document that the same
// table gives.
import { code, table } from './markdown.js';
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

/** The mirror of the first tag. */
const MIRROR = 'External emails';

export function restTables(): string {
  const document = bareDocument() as unknown as Document;
  const endpoints = document.tags.map(({ name, description }) => {
    const intro = `### ${name}\n\n${description}\n`;
    return name === MIRROR ? intro : `${intro}\n${endpointTable(document, name)}`;
  });
  const shapes = Object.entries(document.components.schemas).map(([name, schema]) => shapeText(name, schema));
  return `## Endpoints\n\n${endpoints.join('\n')}\n## Shapes\n\nA field with *?* may be absent.\n\n${shapes.join('\n')}`;
}

function endpointTable(document: Document, tag: string): string {
  const rows = bareRoutes()
    .filter(({ tags, inDocument }) => inDocument && tags.includes(tag))
    .map((route) => {
      const operation = document.paths[route.path]![route.method.toLowerCase()]!;
      const access = route.access === 'public' ? 'public' : route.access.scopes.map(code).join(', ');
      return [
        code(`${route.method} ${route.path}`),
        [`${operation.summary}.`, route.description, queryText(operation)].filter(Boolean).join(' '),
        access,
        route.rate === 'plain' ? '' : route.rate,
        bodyText(operation.requestBody),
        replyText(operation),
      ];
    });
  return table(['Request', 'What it does', 'Access', 'Rate', 'Body', 'Reply'], rows);
}

function queryText({ parameters }: Operation): string {
  return ['query', 'header'].map((where) => parametersText(parameters, where)).join('');
}

function parametersText(parameters: Operation['parameters'], where: string): string {
  const found = parameters.filter((parameter) => parameter.in === where);
  if (found.length === 0) return '';
  const each = found.map(({ name, required, description, schema }) => {
    const notes = [typeText(schema), description ?? '', boundsText(schema)].filter(Boolean).join('; ');
    return `${code(name)}${required ? '' : '?'} (${notes})`;
  });
  return `<br>${where === 'query' ? 'Query' : 'Header'}: ${each.join(', ')}.`;
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
    .join('<br>');
}

function shapeText(name: string, schema: Schema): string {
  const alternatives = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
  const about = schema.description === undefined ? '' : `${schema.description}.\n\n`;
  if (alternatives !== undefined) {
    const each = alternatives.map((one) => `One form:\n\n${fieldTable(one)}`);
    return `### Shape ${name}\n\n${about}${each.join('\n')}`;
  }
  return `### Shape ${name}\n\n${about}${fieldTable(schema)}`;
}

function fieldTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([field, schema]) => [
    `${code(field)}${required.includes(field) ? '' : ' ?'}`,
    typeText(schema),
    [schema.description ?? '', boundsText(schema)].filter(Boolean).join('; '),
  ]);
  return table(['Field', 'Type', 'Rule'], rows);
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
