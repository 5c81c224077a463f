// The AsyncAPI 3 document of the events and calls of the hub and of the event stream, made from the tables of events and from the shapes
// of the OpenAPI document.
import { EVENTS, type EventDescription, HUB_CALLS, HUB_EVENTS, NOTICES } from '../../events/event-payloads.js';
import { anyObject } from '../fields.js';
import { defineRoute, EMPTY, type Route } from '../route.js';
import { type JsonSchema, jsonSchema } from './json-schema.js';
import type { OpenApiDocument } from './openapi.js';
import { servedDocument } from './served-document.js';

export type AsyncApiDocument = Readonly<Record<string, unknown>>;

const TOPICS = ['timeline', 'changes', 'sessions'] as const;
const ABOUT = `Events of an account, as they happen, over the hub and as an event stream, and the calls of the hub.

**The hub** speaks the SignalR hub protocol. An event is an invocation: \`target\` is the name of the message, and the payload
is its only argument, except that the members of \`ListChanged\` are two arguments. A call is an invocation of the client with
one argument, and its reply the result of the completion.

**The event stream** has server-sent events: \`event\` is the name of the message, \`data\` its payload, \`id\` the position.

Clients ignore events and members that they do not know: later versions have more.`;

/** `rest`: the OpenAPI document, whose shapes the events use. */
export function asyncApi(rest: OpenApiDocument, version: string, baseUrl: string): AsyncApiDocument {
  const components = new Map<string, JsonSchema>();
  const described: [string, EventDescription][] = Object.entries({ ...EVENTS, ...NOTICES, ...HUB_EVENTS });
  const events = described.map(([name, { when, payload, topic }]) => {
    const asked = topic === undefined ? '' : `. On the hub for connections whose address has \`${topic}=true\``;
    return [name, message(name, `${when}${asked}`, jsonSchema(payload, components))] as const;
  });
  const calls = Object.entries(HUB_CALLS).flatMap(([name, { what, argument, result }]) => [
    [name, message(name, what, jsonSchema(argument, components))] as const,
    [`${name}Result`, message(`${name}Result`, `The result of ${name}`, jsonSchema(result, components))] as const,
  ]);
  const messages = Object.fromEntries([...events, ...calls]);
  const ofStream = [...Object.keys(EVENTS), ...Object.keys(NOTICES)];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Mansio events',
      version,
      description: ABOUT,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    ...(URL.canParse(baseUrl) && { servers: serversAt(new URL(baseUrl)) }),
    defaultContentType: 'application/json',
    channels: {
      hub: {
        address: '/hubs/email',
        title: 'The hub',
        messages: Object.fromEntries(Object.keys(messages).map((name) => [name, messageOf(name)])),
        bindings: { ws: { method: 'GET', query: QUERY } },
      },
      stream: {
        address: '/api/events',
        title: 'The event stream',
        messages: Object.fromEntries(ofStream.map((name) => [name, messageOf(name)])),
      },
    },
    operations: {
      sendToHub: operation('send', 'hub', [...ofStream, ...Object.keys(HUB_EVENTS)]),
      sendToStream: operation('send', 'stream', ofStream),
      ...Object.fromEntries(Object.keys(HUB_CALLS).map((name) => [`receive${name}`, callOf(name)])),
    },
    components: { messages, schemas: schemasIn(messages, rest) },
  };
}

const QUERY: JsonSchema = {
  type: 'object',
  properties: {
    ...Object.fromEntries([...TOPICS, 'resume'].map((name) => [name, { type: 'string', enum: ['true', 'false'] }])),
    access_token: { type: 'string', description: 'The credential, for clients that cannot send `Authorization`' },
  },
};

function message(name: string, summary: string, payload: JsonSchema): JsonSchema {
  return { name, summary, payload };
}

const messageOf = (name: string): JsonSchema => ({ $ref: `#/components/messages/${name}` });
const channelOf = (name: string): JsonSchema => ({ $ref: `#/channels/${name}` });
const inChannel = (channel: string, name: string): JsonSchema => ({ $ref: `#/channels/${channel}/messages/${name}` });

function operation(action: 'send' | 'receive', channel: string, names: readonly string[]) {
  return { action, channel: channelOf(channel), messages: names.map((name) => inChannel(channel, name)) };
}

function callOf(name: string): JsonSchema {
  const reply = { channel: channelOf('hub'), messages: [inChannel('hub', `${name}Result`)] };
  return { ...operation('receive', 'hub', [name]), reply };
}

function serversAt({ host, pathname, protocol }: URL): JsonSchema {
  const path = pathname === '/' ? {} : { pathname: pathname.replace(/\/$/, '') };
  return {
    hub: { host, ...path, protocol: protocol === 'https:' ? 'wss' : 'ws' },
    stream: { host, ...path, protocol: protocol.slice(0, -1) },
  };
}

/** The shapes of REST that `value` refers to, directly or by other shapes. */
function schemasIn(value: unknown, rest: OpenApiDocument, found: Record<string, unknown> = {}) {
  const { schemas } = rest['components'] as { readonly schemas: Readonly<Record<string, unknown>> };
  for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (found[name] !== undefined) continue;
    if (schemas[name] === undefined) throw new Error(`REST has no shape ${name}`);
    found[name] = schemas[name];
    schemasIn(schemas[name], rest, found);
  }
  return found;
}

/** `GET /api/docs/events`. `rest`: makes the OpenAPI document. */
export function asyncApiRoute(rest: () => OpenApiDocument, version: string, baseUrl: string): Route {
  const document = servedDocument(() => asyncApi(rest(), version, baseUrl));
  return defineRoute({
    method: 'GET',
    path: '/api/docs/events',
    summary: 'The AsyncAPI document of the events and calls of the hub',
    tags: ['Service'],
    access: 'public',
    replies: { 200: anyObject(), 304: EMPTY },
    handler: async () => ({ status: 200, ...document() }),
  });
}
