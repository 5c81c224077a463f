// Lists the servers of connection info one by one, in the order in which a mail program tries them: IMAP before POP3, and TLS from the
// start before STARTTLS (RFC 8314 §3).
import type { ConnectionInfo, ProtocolInfo } from '../routes/connection-info.js';

export type MailProtocol = 'imap' | 'pop3' | 'smtp';

export interface MailServer {
  readonly protocol: MailProtocol;
  /** A host name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls';
}

export interface MailServers {
  /** At least one. */
  readonly incoming: readonly [MailServer, ...MailServer[]];
  /** At least one. */
  readonly outgoing: readonly [MailServer, ...MailServer[]];
}

/** Undefined unless a program can both read and send mail: half a configuration is useless to it. */
export function mailServers({ imap, pop3, smtp }: ConnectionInfo): MailServers | undefined {
  const [incoming, ...others] = [...serversOf('imap', imap), ...serversOf('pop3', pop3)];
  const [outgoing, ...further] = serversOf('smtp', smtp);
  if (incoming === undefined || outgoing === undefined) return undefined;
  return { incoming: [incoming, ...others], outgoing: [outgoing, ...further] };
}

function serversOf(protocol: MailProtocol, { serverName, port, securePort }: ProtocolInfo): readonly MailServer[] {
  const host = serverName.replace(/^\[|\]$/g, '');
  return [
    ...(securePort > 0 ? [{ protocol, host, port: securePort, tls: 'implicit' } as const] : []),
    ...(port > 0 ? [{ protocol, host, port, tls: 'starttls' } as const] : []),
  ];
}
