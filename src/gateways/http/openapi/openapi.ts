// The OpenAPI 3.1 document, made from the route table: both contain the same routes.
import type { AnyStruct } from '../../../actors/runtime/protocol.js';
import { anyObject } from '../fields.js';
import { defineRoute, EMPTY, type Route } from '../route.js';
import { isRequired, type JsonSchema, jsonSchema } from './json-schema.js';
import { type Components, replies } from './openapi-replies.js';
import { ABOUT, TAGS } from './openapi-tags.js';
import { servedDocument } from './served-document.js';

export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** `baseUrl`: the URL of the API as clients reach it; `/` means the address from which the document was read. */
export function openApi(routes: readonly Route[], version: string, baseUrl: string): OpenApiDocument {
  const components: Components = { schemas: new Map(), responses: new Map() };
  const paths: Record<string, Record<string, unknown>> = {};
  const described = routes.filter(({ inDocument }) => inDocument);
  for (const route of described) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, components) };
  }
  const tags = new Set(described.flatMap((route) => route.tags));
  for (const tag of tags) if (TAGS[tag] === undefined) throw new Error(`no description of tag ${tag}`);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mansio',
      version,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries(components.schemas),
      responses: Object.fromEntries(components.responses),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token (JWT) of the OpenID provider, or an API key',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`ApiKey` followed by a space and the API key',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-mansio',
          description: 'A session of the page; over http under localhost the cookie is `mansio`',
        },
      },
    },
  };
}

function operation(route: Route, components: Components): JsonSchema {
  const { access } = route;
  const scopes = typeof access === 'object' ? access.scopes : [];
  const description = [
    ...(route.description === undefined ? [] : [route.description]),
    ...(scopes.length === 0 ? [] : [scopesText(scopes)]),
  ].join('\n\n');
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    tags: route.tags,
    security: access === 'public' ? [] : [...(access === 'signIn' ? [{}] : [SESSION]), { bearer: [] }, { apiKey: [] }],
    ...(scopes.length > 0 ? { 'x-scopes': scopes } : {}),
    parameters: [
      ...Object.entries(route.params).map(([name, struct]) => parameter('path', name, struct, components)),
      ...Object.entries(route.query).map(([name, struct]) => parameter('query', name, struct, components)),
      ...(route.isConditional ? [IF_MATCH] : []),
      ...(route.isEventStream ? [LAST_EVENT_ID, ACCESS_TOKEN] : []),
    ],
    ...requestBody(route, components),
    responses: replies(route, components),
  };
}

const SESSION: JsonSchema = { session: [] };

const IF_MATCH: JsonSchema = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'Entity tags (RFC 9110 §13.1.1): when none of them is that of the current version, nothing is changed',
  schema: { type: 'string' },
};

const LAST_EVENT_ID: JsonSchema = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The last id; a browser sends it by itself when it connects again',
  schema: { type: 'string' },
};

const ACCESS_TOKEN: JsonSchema = {
  name: 'access_token',
  in: 'query',
  required: false,
  description: 'The credential, for clients that cannot send `Authorization`',
  schema: { type: 'string' },
};

const scopesText = (scopes: readonly string[]): string =>
  `Scopes: ${scopes.length > 1 ? 'any of ' : ''}${scopes.map((scope) => `\`${scope}\``).join(', ')}.`;

function requestBody({ body, textBody, isBodyOptional, example }: Route, components: Components): JsonSchema {
  if (textBody !== undefined) {
    const { mediaTypes, example: text } = textBody;
    return ofType(mediaTypes[0]!, { schema: { type: 'string' }, example: text });
  }
  if (body === undefined) return {};
  const schema = jsonSchema(body, components.schemas);
  return ofType('application/json', { schema, ...(example === undefined ? {} : { example }) }, !isBodyOptional);
}

function ofType(mediaType: string, content: JsonSchema, required = true): JsonSchema {
  return { requestBody: { required, content: { [mediaType]: content } } };
}

/** Moves the description from the schema to the parameter, where readers look for it. */
function parameter(where: 'path' | 'query', name: string, struct: AnyStruct, components: Components) {
  const { description, ...schema } = jsonSchema(struct, components.schemas);
  return {
    name,
    in: where,
    required: where === 'path' || isRequired(struct),
    ...(description === undefined ? {} : { description }),
    schema,
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

/** `GET /api/openapi.json`: the document of these routes and of itself. A struct without a schema makes the request fail. */
export function openApiRoute(routes: readonly Route[], version: string, baseUrl: string): Route {
  const route: Route = defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This document',
    tags: ['Service'],
    access: 'public',
    replies: { 200: anyObject(), 304: EMPTY },
    handler: async () => ({ status: 200, ...document() }),
  });
  const document = servedDocument(() => openApi([...routes, route], version, baseUrl));
  return route;
}
