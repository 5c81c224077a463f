// What the web app has to know before it can sign anybody in.
import { flag, record, text } from '../fields.js';
import { named } from '../json-schema.js';
import { defineRoute, type Route } from '../route.js';

export interface WebConfig {
  /** All empty and false when no provider is configured. */
  readonly oidc: { readonly authority: string; readonly clientId: string; readonly enabled: boolean };
}

const webConfig = named(
  'WebConfig',
  record({ oidc: record({ authority: text(), clientId: text(), enabled: flag() }) }),
);

export function configRoute(config: WebConfig): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/config',
    summary: 'Settings of the web app',
    tags: ['Service'],
    access: 'public',
    replies: { 200: webConfig },
    handler: async () => ({ status: 200, json: config }),
  });
}
