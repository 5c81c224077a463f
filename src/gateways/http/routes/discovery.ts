// What clients need before they have a credential: where the mail protocols are and what the server can do. Comes from
// the configuration and the open listeners, through main.
import { flag, record } from '../fields.js';
import { named } from '../json-schema.js';
import { defineRoute, type Route } from '../route.js';
import { type ConnectionInfo, protocolInfo } from './connection-info.js';

export interface DiscoveryInfo extends ConnectionInfo {
  readonly features: { readonly oidc: boolean; readonly pushNotifications: boolean };
}

const discovery = named(
  'Discovery',
  record({
    smtp: protocolInfo,
    pop3: protocolInfo,
    imap: protocolInfo,
    features: record({ oidc: flag(), pushNotifications: flag() }),
  }),
);

/** `info` is asked at each request: ports are known only when the listeners are open. */
export function discoveryRoute(info: () => DiscoveryInfo): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/discovery',
    summary: 'Where the mail protocols are, and what this server can do',
    tags: ['Service'],
    access: 'public',
    replies: { 200: discovery },
    handler: async () => ({ status: 200, json: info() }),
  });
}
