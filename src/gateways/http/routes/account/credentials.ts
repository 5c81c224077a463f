// API keys of an account, and where to use them. A key is shown once, at its creation; later replies show only its description.

import { nullable, optional } from 'superstruct';
import type { IssuedKey, Keyring } from '../../../../actors/account/protocol.js';
import { type ApiKey, SCOPES, type Scope } from '../../../../store/directory.js';
import { choice, flag, idParameter, line, list, record, text, textList, timestamp, uuid } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, notFound, Problem } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';
import { type ConnectionInfo, ownConnectionInfo, ownConnectionInfoOf } from '../connection-info.js';

export interface CredentialSources {
  readonly keys: Keyring;
  readonly connectionInfo: () => ConnectionInfo;
}

const PATH = '/api/smtp-credentials';
const TAGS = ['API keys'];
const LONGEST_NAME = 100;
const LONGEST_DEVICE_ID = 200;
const PLATFORMS: readonly string[] = ['ios', 'android', 'windows', 'macos', 'web'];
const MOBILE_SCOPES: readonly Scope[] = ['app'];

const keyFields = {
  id: uuid(),
  name: text(),
  createdAt: timestamp(),
  lastUsedAt: nullable(timestamp()),
  isActive: flag(),
  scopes: list(choice(...SCOPES)),
};
const apiKey = named('ApiKey', record(keyFields));
const issuedKey = named(
  'IssuedApiKey',
  record({ ...keyFields, apiKey: text({ description: 'The key itself; it is not shown again' }) }),
);
const credentials = named('Credentials', record({ connectionInfo: ownConnectionInfo, keys: list(apiKey) }));

const newKey = named(
  'NewApiKey',
  record({
    name: line(LONGEST_NAME),
    scopes: textList(SCOPES.length * 2, { minItems: 1, items: { type: 'string', enum: SCOPES } }),
  }),
);
const newMobileKey = named(
  'NewMobileKey',
  record({
    name: optional(line(LONGEST_NAME)),
    platform: text({ enum: PLATFORMS, description: 'In upper or lower case' }),
    deviceId: optional(line(LONGEST_DEVICE_ID, { description: 'Another key for the same device revokes this one' })),
    deviceName: optional(line(LONGEST_NAME, { description: 'In place of `name` and `deviceId`' })),
  }),
  { anyOf: [{ required: ['name', 'deviceId'] }, { required: ['deviceName'] }] },
);

export function credentialRoutes(sources: CredentialSources): readonly Route[] {
  const { keys } = sources;

  async function issue(accountId: string, name: string, scopes: readonly Scope[], deviceId?: string) {
    const key = await keys.issue(accountId, name, scopes, deviceId);
    if (key === undefined) return invalid({ name: ['the account has as many active keys as it may'] });
    return { status: 201, json: issuedOf(key) } as const;
  }

  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Active API keys, and where the mail protocols are',
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      replies: { 200: credentials },
      handler: async ({ principal }) => {
        const active = await keys.list(principal.accountId);
        const connectionInfo = ownConnectionInfoOf(sources.connectionInfo(), principal.email, active.length);
        return { status: 200, json: { connectionInfo, keys: active.map(keyOf) } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Make an API key; it is shown in this reply only',
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      description: '`internal` must be the only scope of its key. The number of active keys of an account is limited.',
      body: newKey,
      example: { name: 'Laptop', scopes: ['smtp', 'imap'] },
      replies: { 201: issuedKey },
      handler: async ({ principal, body }) => {
        const scopes = [...new Set(body.scopes)];
        const fault = scopesFault(scopes);
        if (fault !== undefined) return invalid({ scopes: [fault] });
        return issue(principal.accountId, body.name, scopes as Scope[]);
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/mobile`,
      summary: 'Make an API key for the app on a device; it is shown in this reply only',
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      description:
        'The key has the scope `app`. A device has one key: a new key with the same `deviceId` revokes the old one. ' +
        'Phone and desktop programs may send `deviceName` in place of `name` and `deviceId`.',
      body: newMobileKey,
      example: { name: 'Phone', platform: 'ios', deviceId: '6F9619FF-8B86' },
      replies: { 201: issuedKey },
      handler: async ({ principal, body }) => {
        if (!PLATFORMS.includes(body.platform.toLowerCase())) {
          return invalid({ platform: [`must be one of ${PLATFORMS.join(', ')}`] });
        }
        const { name = body.deviceName, deviceId } = body;
        const errors = {
          ...(name === undefined && { name: ['is required'] }),
          ...(deviceId === undefined && body.deviceName === undefined && { deviceId: ['is required'] }),
        };
        if (name === undefined || Object.keys(errors).length > 0) return invalid(errors);
        return issue(principal.accountId, name, MOBILE_SCOPES, deviceId);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{keyId}`,
      summary: 'Revoke an API key for good, at once',
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      params: { keyId: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) =>
        (await keys.revoke(principal.accountId, params.keyId)) ? { status: 204 } : notFound(),
    }),
    defineRoute({
      method: 'POST',
      path: `${PATH}/{keyId}/rotate`,
      summary: 'Revoke an API key and make another of the same name and scopes, in one step',
      tags: TAGS,
      access: OWNER,
      rate: 'authentication',
      params: { keyId: idParameter() },
      replies: { 200: issuedKey },
      handler: async ({ principal, params }) => {
        const key = await keys.rotate(principal.accountId, params.keyId);
        if (key === 'noSuchKey') return notFound();
        if (key === 'serviceWide') return new Problem(403, { detail: 'Only the operator makes service-wide keys.' });
        return { status: 200, json: issuedOf(key) };
      },
    }),
  ];
}

function scopesFault(scopes: readonly string[]): string | undefined {
  const known: readonly string[] = SCOPES;
  if (scopes.length === 0) return 'must hold at least one scope';
  if (!scopes.every((scope) => known.includes(scope))) return `must hold only ${SCOPES.join(', ')}`;
  return scopes.includes('internal') && scopes.length > 1 ? 'internal must be the only scope of its key' : undefined;
}

function keyOf({ id, name, createdAt, lastUsedAt, scopes }: ApiKey) {
  return {
    id,
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    isActive: true,
    scopes: [...scopes],
  };
}

function issuedOf(key: IssuedKey) {
  return { ...keyOf(key), apiKey: key.apiKey };
}
