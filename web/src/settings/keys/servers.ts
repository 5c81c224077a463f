// The servers of mail programs as people type them: one for each protocol, with TLS from the start where it is open (RFC 8314 §3).
import type { ConnectionInfo } from '../../../../src/client/index.js';

export interface Server {
  readonly protocol: 'imap' | 'pop3' | 'smtp';
  readonly host: string;
  readonly port: number;
  readonly security: 'SSL/TLS' | 'STARTTLS';
}

const PROTOCOLS = ['imap', 'pop3', 'smtp'] as const;

/** What is not open is not listed. */
export function serversOf(info: Pick<ConnectionInfo, 'imap' | 'pop3' | 'smtp'>): readonly Server[] {
  return PROTOCOLS.flatMap((protocol): readonly Server[] => {
    const { serverName, port, securePort } = info[protocol];
    const host = serverName.replace(/^\[|\]$/g, '');
    if (securePort > 0) return [{ protocol, host, port: securePort, security: 'SSL/TLS' }];
    return port > 0 ? [{ protocol, host, port, security: 'STARTTLS' }] : [];
  });
}
