// What clients need before they have a credential: the servers of the mail protocols and the features of this server. Main passes it from
// the configuration and the cluster's listeners.
import { flag, record, text } from '../fields.js';
import { named } from '../openapi/json-schema.js';
import { defineRoute, type Route } from '../route.js';
import { type ConnectionInfo, protocolInfo } from './connection-info.js';

export interface DiscoveryInfo extends ConnectionInfo {
  readonly features: { readonly oidc: boolean; readonly pushNotifications: boolean };
  /** The version of the program. */
  readonly version: string;
}

const API_VERSION = 'v1';

const discovery = named(
  'Discovery',
  record({
    smtp: protocolInfo,
    pop3: protocolInfo,
    imap: protocolInfo,
    features: record({ oidc: flag(), pushNotifications: flag() }),
    version: text({ description: 'Version of the server' }),
    apiVersion: text(),
    oidcEnabled: flag({ description: 'The same as `features.oidc`' }),
  }),
);

/** `info` is called at each request, because listeners start and stop. */
export function discoveryRoute(info: () => DiscoveryInfo): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/discovery',
    summary: 'Where the mail protocols are, and what this server can do',
    tags: ['Service'],
    access: 'public',
    replies: { 200: discovery },
    handler: async () => {
      const { smtp, pop3, imap, features, version } = info();
      const json = { smtp, pop3, imap, features, version, apiVersion: API_VERSION, oidcEnabled: features.oidc };
      return { status: 200, json };
    },
  });
}
