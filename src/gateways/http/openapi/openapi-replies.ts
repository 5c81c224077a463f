// Describes replies in the OpenAPI document: the replies of a route with their schemas and header fields, and problems as shared
// components. The problems of a route follow from its access, parameters and body.
import { record, text, whole } from '../fields.js';
import type { ReplyShape, Route } from '../route.js';
import { type JsonSchema, jsonSchema, named } from './json-schema.js';

const PROBLEM_JSON = 'application/problem+json';

const RETRY_AFTER = {
  'Retry-After': { description: 'Whole seconds to wait', required: true, schema: { type: 'integer', minimum: 0 } },
};

interface KnownProblem {
  readonly name: string;
  readonly description: string;
  readonly headers?: JsonSchema;
}

const PROBLEMS: Readonly<Record<number, KnownProblem>> = {
  400: { name: 'BadRequest', description: 'Something in the request is not as described; `errors` names the fields' },
  401: {
    name: 'Unauthorized',
    description: 'No credential, or not a valid one',
    headers: { 'WWW-Authenticate': { description: 'RFC 6750 challenge', required: true, schema: { type: 'string' } } },
  },
  403: {
    name: 'Forbidden',
    description: 'The credential is valid and not enough',
    headers: { 'WWW-Authenticate': { description: 'Scopes that would do', schema: { type: 'string' } } },
  },
  404: {
    name: 'NotFound',
    description: 'There is no such thing in this account; an id that is not a UUID names nothing',
  },
  409: { name: 'Conflict', description: 'What is there is not in a state that allows this' },
  410: { name: 'Gone', description: 'What the request names was used, or its time is over' },
  412: { name: 'PreconditionFailed', description: 'If-Match names another version than there is' },
  413: {
    name: 'ContentTooLarge',
    description:
      'The body, or the message made of it, is larger than the endpoint takes: 1 MiB unless it says otherwise',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON, or not of the type described here, or has a content coding',
  },
  429: { name: 'TooManyRequests', description: 'Too many requests, or too soon', headers: RETRY_AFTER },
  501: { name: 'NotImplemented', description: 'Not implemented' },
  502: { name: 'BadGateway', description: 'Another server did not give what is asked for' },
  503: {
    name: 'ServiceUnavailable',
    description: 'Who keeps this account cannot be reached just now',
    headers: RETRY_AFTER,
  },
  507: { name: 'InsufficientStorage', description: 'The mailbox is full' },
};

const SUCCESSES: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  204: 'Done; no content',
  304: 'What If-None-Match names is still what there is',
};

const problem = named('Problem', record({ type: text(), title: text(), status: whole() }), {
  description: 'Problem details, RFC 9457',
});
const PROBLEM_FIELDS: JsonSchema = {
  type: { type: 'string', format: 'uri', description: 'Where the status is defined' },
  title: { type: 'string' },
  status: { type: 'integer' },
  detail: { type: 'string' },
  errors: {
    type: 'object',
    description: 'Field name to messages; with status 400',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  },
};

/** The members of `components`, filled while operations are described. */
export interface Components {
  readonly schemas: Map<string, JsonSchema>;
  readonly responses: Map<string, JsonSchema>;
}

export function replies(route: Route, components: Components): JsonSchema {
  const described: Record<string, JsonSchema> = {};
  for (const [status, shape] of Object.entries(route.replies)) {
    const description = SUCCESSES[Number(status)] ?? PROBLEMS[Number(status)]?.description ?? 'See the description';
    described[status] = { description, ...content(shape, route.replyFields, components) };
  }
  for (const status of problemsOf(route)) described[status] ??= problemReply(status, components);
  return described;
}

function problemsOf(route: Route): readonly number[] {
  const checked = route.body !== undefined || Object.keys(route.query).length > 0;
  return [
    ...(checked ? [400] : []),
    ...(route.access === 'public' ? [] : [401, 403, 503]),
    ...(route.rate === 'unlimited' ? [] : [429]),
    ...(Object.keys(route.params).length > 0 ? [404] : []),
    ...(route.isConditional ? [412] : []),
    ...(route.body === undefined && route.textBody === undefined ? [] : [413, 415]),
    ...route.problems,
  ];
}

function content(shape: ReplyShape, replyFields: Route['replyFields'], components: Components): JsonSchema {
  if (!('kind' in shape)) {
    const schema = jsonSchema(shape, components.schemas);
    return { ...headerFields(replyFields), content: { 'application/json': { schema } } };
  }
  if (shape.kind === 'empty') return headerFields(replyFields);
  return { ...headerFields(shape.headers), content: { [shape.contentType]: {} } };
}

function headerFields(fields: Route['replyFields']): JsonSchema {
  const described = Object.entries(fields).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return described.length === 0 ? {} : { headers: Object.fromEntries(described) };
}

function problemReply(status: number, components: Components): JsonSchema {
  const known = PROBLEMS[status];
  if (known === undefined) throw new Error(`no description of a problem with status ${status}`);
  const { name, ...rest } = known;
  if (!components.responses.has(name)) {
    const schema = jsonSchema(problem, components.schemas);
    const described = components.schemas.get('Problem');
    components.schemas.set('Problem', { ...described, properties: PROBLEM_FIELDS });
    components.responses.set(name, { ...rest, content: { [PROBLEM_JSON]: { schema } } });
  }
  return { $ref: `#/components/responses/${name}` };
}
