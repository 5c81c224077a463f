// The settings that a web app needs before a user can sign in. Some web clients read the same settings, under other names, from a file next
// to their pages.
import { flag, record, text } from '../fields.js';
import { named } from '../openapi/json-schema.js';
import { defineRoute, type Route } from '../route.js';

export interface WebConfig {
  /** Everything is empty and false when no provider is configured. */
  readonly oidc: { readonly authority: string; readonly clientId: string; readonly enabled: boolean };
}

const TAGS = ['Service'];
const FILES = ['/config.json', '/config/config.json'];
const OIDC_SCOPE = 'openid profile email';

const webConfig = named(
  'WebConfig',
  record({ oidc: record({ authority: text(), clientId: text(), enabled: flag() }) }),
);

const webClientFile = named(
  'WebClientConfig',
  record({
    oidcAuthority: text({ description: 'Empty when no provider is configured' }),
    oidcClientId: text(),
    oidcRedirectUri: text({ description: 'Empty; the page itself is meant' }),
    oidcScope: text(),
  }),
);

/** `publicUrl`: the URL of the web app; undefined when it is unknown. */
export function configRoutes(config: WebConfig, publicUrl: string | undefined): readonly Route[] {
  const { authority, clientId } = config.oidc;
  const file = {
    oidcAuthority: authority,
    oidcClientId: clientId,
    oidcRedirectUri: publicUrl ?? '',
    oidcScope: OIDC_SCOPE,
  };
  return [
    defineRoute({
      method: 'GET',
      path: '/api/config',
      summary: 'Settings of the web app',
      tags: TAGS,
      access: 'public',
      replies: { 200: webConfig },
      handler: async () => ({ status: 200, json: config }),
    }),
    ...FILES.map((path) =>
      defineRoute({
        method: 'GET',
        path,
        summary: 'Settings of the web app, in flat fields',
        tags: TAGS,
        access: 'public',
        replies: { 200: webClientFile },
        handler: async () => ({ status: 200, json: file }),
      }),
    ),
  ];
}
