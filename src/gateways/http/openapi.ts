// The OpenAPI 3.1 document, made from the route table: what is not in the table is not in the document, and the other
// way round.

import { createHash } from 'node:crypto';
import { unknown } from 'superstruct';
import type { AnyStruct } from '../../actors/runtime/protocol.js';
import type { HeaderField } from './exchange.js';
import { record, text, whole } from './fields.js';
import { isRequired, type JsonSchema, jsonSchema, named } from './json-schema.js';
import { entityTag } from './revalidation.js';
import { defineRoute, EMPTY, type ReplyShape, type Route } from './route.js';

const problemStruct = named('Problem', record({ type: text(), title: text(), status: whole() }));

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'Done; no content',
  304: 'Not modified: what If-None-Match names is still what there is',
  400: 'Something in the request is not as described; `errors` names the fields',
  401: 'No credential, or not a valid one',
  403: 'The credential is not enough',
  404: 'There is no such thing in this account',
  413: 'The body is too large',
  415: 'The body is not JSON',
  429: 'Too many requests, or too soon; try again after the time in Retry-After',
  501: 'Not implemented',
  503: 'Try again after the time in Retry-After',
};

export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** `baseUrl`: of the API as clients reach it, `/` for the address the document was read from. */
export function openApi(routes: readonly Route[], version: string, baseUrl: string): OpenApiDocument {
  const components = new Map<string, JsonSchema>();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, components) };
  }
  jsonSchema(problemStruct, components);
  const problem = components.get('Problem') as { properties: object };
  components.set('Problem', { ...problem, properties: { ...problem.properties, ...PROBLEM_EXTRAS } });
  return {
    openapi: '3.1.0',
    info: { title: 'Mansio', version, description: 'Mail: mailboxes, messages, attachments.' },
    servers: [{ url: baseUrl }],
    paths,
    components: {
      schemas: Object.fromEntries(components),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a token of the OpenID provider' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`ApiKey` followed by a space and the API key',
        },
      },
    },
  };
}

const PROBLEM_EXTRAS = {
  detail: { type: 'string' },
  errors: {
    type: 'object',
    description: 'Field name to messages; with status 400',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
};

function operation(route: Route, components: Map<string, JsonSchema>): JsonSchema {
  const responses: Record<string, unknown> = {};
  for (const [status, shape] of Object.entries(route.replies)) {
    responses[status] = {
      description: REASONS[Number(status)] ?? 'See the description',
      ...content(shape, components),
    };
  }
  for (const status of problemsOf(route)) {
    responses[status] ??= {
      description: REASONS[status],
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    };
  }
  const scopes = route.access === 'public' ? [] : route.access.scopes;
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: route.tags,
    ...(scopes.length > 0
      ? { description: `Scopes: any of ${scopes.map((scope) => `\`${scope}\``).join(', ')}.` }
      : {}),
    security: scopes.length > 0 ? [{ bearer: [] }, { apiKey: [] }] : [],
    parameters: [
      ...Object.entries(route.params).map(([name, struct]) => parameter('path', name, struct, components)),
      ...Object.entries(route.query).map(([name, struct]) => parameter('query', name, struct, components)),
    ],
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(route.body, components) } },
          },
        }),
    responses,
  };
}

function problemsOf(route: Route): readonly number[] {
  const checked = route.body !== undefined || Object.keys(route.query).length > 0;
  return [
    ...(checked ? [400] : []),
    ...(route.access === 'public' ? [] : [401, 403, 503]),
    ...(route.rate === 'unlimited' ? [] : [429]),
    ...(Object.keys(route.params).length > 0 ? [404] : []),
    ...(route.body === undefined ? [] : [413, 415]),
    ...route.problems,
  ];
}

function content(shape: ReplyShape, components: Map<string, JsonSchema>): JsonSchema {
  if ('kind' in shape) return shape.kind === 'empty' ? {} : { content: { [shape.contentType]: {} } };
  return { content: { 'application/json': { schema: jsonSchema(shape, components) } } };
}

function parameter(where: 'path' | 'query', name: string, struct: AnyStruct, components: Map<string, JsonSchema>) {
  return {
    name,
    in: where,
    required: where === 'path' || isRequired(struct),
    schema: jsonSchema(struct, components),
  };
}

/** `GET /api/emails/{id}` → `getEmailsById`. */
function operationId(route: Route): string {
  const words = route.path
    .replace(/^\/api\//, '/')
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => (segment.startsWith('{') ? `by-${segment.slice(1, -1)}` : segment))
    .join('-')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return route.method.toLowerCase() + words.join('');
}

/** `GET /api/openapi.json`: the document of these routes and of itself. @throws Error for a struct without a schema */
export function openApiRoute(routes: readonly Route[], version: string, baseUrl: string): Route {
  const described: { document?: OpenApiDocument; headers?: readonly HeaderField[] } = {};
  const route: Route = defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This document',
    tags: ['Service'],
    access: 'public',
    replies: { 200: unknown(), 304: EMPTY },
    handler: async () => ({ status: 200, headers: described.headers ?? [], json: described.document }),
  });
  described.document = openApi([...routes, route], version, baseUrl);
  const digest = createHash('sha256').update(JSON.stringify(described.document)).digest('base64url');
  described.headers = [entityTag(digest), ['Cache-Control', 'no-cache']];
  return route;
}
