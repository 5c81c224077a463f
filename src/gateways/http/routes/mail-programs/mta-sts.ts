// Serves the MTA-STS policy of a hosted domain (RFC 8461 §3.3) at the host `mta-sts.` before it.
import type { HostedDomains } from '../../../../actors/directory/protocol.js';
import { Problem } from '../../problem.js';
import { binary, defineRoute, type Route } from '../../route.js';
import { TAGS } from './autoconfig.js';
import { document } from './document-reply.js';
import { prefixedDomain } from './requested-domain.js';

export interface StsSources {
  /** The policy of every hosted domain; undefined while there is none. Called at each request, because nodes start and stop. */
  readonly stsPolicy: () => string | undefined;
  readonly hosts: HostedDomains['hosts'];
}

const TEXT = 'text/plain';

export function mtaStsRoute({ stsPolicy, hosts }: StsSources): Route {
  return defineRoute({
    method: 'GET',
    path: '/.well-known/mta-sts.txt',
    summary: 'MTA-STS policy of a hosted domain',
    description:
      'Other mail servers read it at the host `mta-sts.` before the domain. 404 at other hosts, with `MANSIO_MTA_STS_MODE=off`, and while no node takes mail in.',
    tags: TAGS,
    access: 'public',
    replies: { 200: binary(TEXT) },
    problems: [404, 503],
    handler: async ({ host }) => {
      const domain = prefixedDomain(host, 'mta-sts.');
      if (domain === undefined || !(await hosts(domain)))
        return new Problem(404, { detail: 'No mail of that domain is here.' });
      const policy = stsPolicy();
      return policy === undefined
        ? new Problem(404, { detail: 'There is no policy now.' })
        : document(200, TEXT, policy);
    },
  });
}
