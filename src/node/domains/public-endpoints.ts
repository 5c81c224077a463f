// The public endpoints of the cluster, at which others reach it: those that running nodes have registered or, without such a node, those
// that a node with these settings would register.
import type { Sql } from '../../store/postgres/driver/client.js';
import { postgresLeases } from '../../store/postgres/leases.js';
import type { Config } from '../config/config.js';
import {
  apiUrlOf,
  connectionInfoOf,
  type KnownNode,
  mxAddressOf,
  registration,
  stsPolicyOf,
} from '../listeners/connection-info.js';
import type { PublicEndpoints } from './dns-records.js';

export async function readPublicEndpoints(sql: Sql, config: Config): Promise<PublicEndpoints> {
  return publicEndpoints(config, (await postgresLeases(sql).view()).nodes);
}

/** `nodes`: those in the store. */
export function publicEndpoints(config: Config, nodes: readonly KnownNode[]): PublicEndpoints {
  const known = nodes.some(({ expired }) => !expired) ? nodes : [nodeOf(config)];
  return {
    connectionInfo: connectionInfoOf(config, known),
    mxAddress: mxAddressOf(config, known),
    apiUrl: apiUrlOf(config, known),
    stsPolicy: stsPolicyOf(config, known),
  };
}

function nodeOf(config: Config): KnownNode {
  const { roles } = config;
  const ports = {
    ...(roles.has('api') && { https: config.httpsPort }),
    ...(roles.has('mx') && { mx: config.mxPort }),
    ...(roles.has('submission') && { submission: config.submissionPort, submissions: config.submissionsPort }),
    ...(roles.has('imap') && { imap: config.imapPort, imaps: config.imapsPort }),
    ...(roles.has('pop3') && { pop3: config.pop3Port, pop3s: config.pop3sPort }),
  };
  const listeners = Object.fromEntries(
    Object.entries(ports).flatMap(([name, port]) => (port === 'off' ? [] : [[name, `:${port}`]])),
  );
  return { state: 'serving', expired: false, listeners: registration(config, listeners) };
}
