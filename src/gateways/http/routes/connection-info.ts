// The servers of the mail protocols: discovery shows them to everybody, and the list of API keys shows them to the owner, there also in the
// flat fields that some clients read.
import { EMAIL, flag, record, text, whole } from '../fields.js';
import { named } from '../openapi/json-schema.js';

export interface ProtocolInfo {
  readonly enabled: boolean;
  readonly serverName: string;
  /** The port with STARTTLS; 0 when it is not open. */
  readonly port: number;
  /** The port with implicit TLS; 0 when it is not open. */
  readonly securePort: number;
}

export interface ConnectionInfo {
  readonly smtp: ProtocolInfo;
  readonly pop3: ProtocolInfo;
  readonly imap: ProtocolInfo;
  /** `host:port` at which mail for the accounts is accepted; undefined when no node accepts it. */
  readonly mx?: string | undefined;
}

export const protocolInfo = named(
  'ProtocolInfo',
  record({
    enabled: flag(),
    serverName: text(),
    port: whole({ description: 'With STARTTLS (POP3: STLS); 0 when not open' }),
    securePort: whole({ description: 'With implicit TLS; 0 when not open' }),
  }),
);

export const ownConnectionInfo = named(
  'ConnectionInfo',
  record({
    smtp: protocolInfo,
    pop3: protocolInfo,
    imap: protocolInfo,
    smtpServer: text({ description: 'This and the fields below repeat it, for clients that read them' }),
    smtpPort: whole(),
    smtpSecurePort: whole(),
    smtpEnabled: flag(),
    pop3Server: text(),
    pop3Port: whole(),
    pop3SecurePort: whole(),
    pop3Enabled: flag(),
    imapServer: text(),
    imapPort: whole(),
    imapSecurePort: whole(),
    imapEnabled: flag(),
    username: text({ ...EMAIL, description: 'The address of the account, as mail programs ask for it' }),
    activeKeyCount: whole(),
  }),
);

/** `info` in the form that one account gets. */
export function ownConnectionInfoOf(info: ConnectionInfo, username: string, activeKeyCount: number) {
  const { smtp, pop3, imap } = info;
  return {
    smtp,
    pop3,
    imap,
    smtpServer: smtp.serverName,
    smtpPort: smtp.port,
    smtpSecurePort: smtp.securePort,
    smtpEnabled: smtp.enabled,
    pop3Server: pop3.serverName,
    pop3Port: pop3.port,
    pop3SecurePort: pop3.securePort,
    pop3Enabled: pop3.enabled,
    imapServer: imap.serverName,
    imapPort: imap.port,
    imapSecurePort: imap.securePort,
    imapEnabled: imap.enabled,
    username,
    activeKeyCount,
  };
}
