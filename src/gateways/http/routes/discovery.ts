// What clients need before they have a credential: the servers of the mail protocols and the features of this server. Main passes it from
// the configuration and the cluster's listeners.
import { optional } from 'superstruct';
import { flag, record, text, whole } from '../fields.js';
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
    mx: optional(text({ description: '`host:port` at which mail for the accounts of this server is accepted' })),
    features: record({ oidc: flag(), pushNotifications: flag() }),
    version: text({ description: 'Version of the server' }),
    apiVersion: text(),
    oidcEnabled: flag({ description: 'The same as `features.oidc`' }),
    maxMessageSize: whole({ description: 'Bytes of the largest message that is accepted and sent' }),
  }),
);

/** `info` is called at each request, because listeners start and stop. */
export function discoveryRoute(info: () => DiscoveryInfo, maxMessageSize: number): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/discovery',
    summary: 'Where the mail protocols are, and what this server can do',
    tags: ['Service'],
    access: 'public',
    replies: { 200: discovery },
    handler: async () => {
      const { smtp, pop3, imap, mx, features, version } = info();
      const { oidc: oidcEnabled } = features;
      const servers = { smtp, pop3, imap, ...(mx !== undefined && { mx }) };
      const json = { ...servers, features, version, apiVersion: API_VERSION, oidcEnabled, maxMessageSize };
      return { status: 200, json };
    },
  });
}
