// Serves the settings of an address where Thunderbird and similar programs look for them: at `autoconfig.` before its domain, and at the
// domain itself under `.well-known`. Some programs send no address; then the requested host names the domain.
import { optional } from 'superstruct';
import type { HostedDomains } from '../../../../actors/directory/protocol.js';
import { parseAddress } from '../../../../mail-format/address.js';
import { text } from '../../fields.js';
import { clientConfig } from '../../mail-programs/client-config.js';
import { mailServers } from '../../mail-programs/mail-servers.js';
import { Problem } from '../../problem.js';
import { binary, defineRoute, type Route } from '../../route.js';
import type { ConnectionInfo } from '../connection-info.js';
import { document, XML } from './document-reply.js';
import { prefixedDomain, requestedHost } from './requested-domain.js';

export interface MailProgramSources {
  /** Called at each request, because listeners start and stop. */
  readonly connectionInfo: () => ConnectionInfo;
  /** Base URL of the API as clients reach it; undefined when no node knows it. */
  readonly apiUrl: () => string | undefined;
  readonly hosts: HostedDomains['hosts'];
}

export const TAGS = ['Mail programs'];
const PATHS = ['/.well-known/autoconfig/mail/config-v1.1.xml', '/mail/config-v1.1.xml'];
const HOST_PREFIX = 'autoconfig.';

export function autoconfigRoutes({ connectionInfo, hosts }: MailProgramSources): readonly Route[] {
  return PATHS.map((path) =>
    defineRoute({
      method: 'GET',
      path,
      summary: 'Settings for Thunderbird and programs that read the same file',
      description:
        'The file is the same for every address of a domain, whether or not the account exists. 404 for a domain that is not hosted here, and when programs could not both read and send mail.',
      tags: TAGS,
      access: 'public',
      query: {
        emailaddress: optional(
          text({ description: 'The address of the user; without it the domain in the host name counts' }),
        ),
      },
      replies: { 200: binary(XML) },
      problems: [404, 503],
      handler: async ({ query, host }) => {
        const { emailaddress } = query;
        const named = () => prefixedDomain(host, HOST_PREFIX) ?? requestedHost(host);
        const domain = emailaddress === undefined ? named() : parseAddress(emailaddress.trim())?.domain;
        if (domain === undefined || !(await hosts(domain)))
          return new Problem(404, { detail: 'No mail of that domain is here.' });
        const servers = mailServers(connectionInfo());
        if (servers === undefined) return new Problem(404, { detail: 'Mail programs are not served now.' });
        return document(200, XML, clientConfig(domain, servers));
      },
    }),
  );
}
