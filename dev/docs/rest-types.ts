// Writes the TypeScript types of the client from the OpenAPI document: an interface for each shape, and the operations of each path.
import { bareDocument } from './openapi-document.js';
import { commented, keyOf, literalType, type Schema, typeOf } from './schema-types.js';

export const REST_TYPES = 'src/client/generated/rest.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The paths of people's mail. `/api/external/emails` mirrors `/api/emails`, the client has the events of the hub, and the rest is for mail
 * programs and operators.
 */
const isForClients = (path: string): boolean =>
  path.startsWith('/api/') && !/^\/api\/(external|internal-notifications|events|openapi|docs)\b/.test(path);

export function restTypes(): string {
  const { paths, components } = bareDocument() as unknown as Document;
  const shown = Object.entries(paths).filter(([path]) => isForClients(path));
  const text = shown.map(([path, operations]) => `  '${path}': {\n${operationsOf(operations)}  };\n`).join('');
  const named = namesIn(JSON.stringify(shown.map(([, operations]) => operations)), components.schemas);
  const schemas = Object.entries(components.schemas).filter(([name]) => named.has(name));
  return [
    '// The shapes and paths of REST. `npm run docs` writes this file from the OpenAPI document.\n',
    ...schemas.map(([name, schema]) => `${commented(schema.description)}export ${declared(name, schema)}`),
    `/** What each path takes and replies, by method. */\nexport interface Paths {\n${text}}\n`,
  ].join('\n');
}

function declared(name: string, schema: Schema): string {
  return schema.type === 'object' && schema.anyOf === undefined
    ? `interface ${name} ${literalType(schema, '')}\n`
    : `type ${name} = ${typeOf({ ...schema, description: undefined }, '')};\n`;
}

/** The names that `text` refers to, directly or by other schemas. */
function namesIn(text: string, schemas: Readonly<Record<string, Schema>>, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (name === 'Problem' || found.has(name)) continue;
    found.add(name);
    namesIn(JSON.stringify(schemas[name]), schemas, found);
  }
  return found;
}

function operationsOf(operations: Readonly<Record<string, Operation>>): string {
  return Object.entries(operations)
    .map(([method, operation]) => {
      const members = [
        parametersOf('params', operation, 'path'),
        parametersOf('query', operation, 'query'),
        parametersOf('headers', operation, 'header'),
        bodyOf(operation.requestBody),
        `      readonly reply: ${replyOf(operation)};\n`,
      ];
      return `    /** ${operation.summary}. */\n    readonly ${method.toUpperCase()}: {\n${members.join('')}    };\n`;
    })
    .join('');
}

function parametersOf(member: string, { parameters }: Operation, place: Parameter['in']): string {
  const found = parameters.filter((one) => one.in === place && !['Last-Event-ID', 'access_token'].includes(one.name));
  if (found.length === 0) return '';
  const isNeeded = found.some(({ required }) => required);
  const fields = found.map(({ name, required, schema, description }) => {
    const type = typeOf(schema, '        ');
    return `${commented(description, '        ')}        readonly ${keyOf(name)}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'};\n`;
  });
  return `      readonly ${member}${isNeeded ? '' : '?'}: {\n${fields.join('')}      };\n`;
}

function bodyOf(body: Body | undefined): string {
  if (body === undefined) return '';
  const [content] = Object.values(body.content ?? {});
  return `      readonly body${body.required === false ? '?' : ''}: ${typeOf(content?.schema ?? {}, '      ')};\n`;
}

/** JSON has the type of its schema, other content is a Blob, and no content is undefined. */
function replyOf({ responses }: Operation): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      if (content === undefined) return 'undefined';
      const json = content['application/json'];
      return json === undefined ? 'Blob' : typeOf(json.schema ?? {}, '      ');
    });
  return [...new Set(types)].join(' | ') || 'undefined';
}
