// Where the mail protocols are, as discovery tells everyone and the list of API keys tells their owner.
import { flag, record, text, whole } from '../fields.js';
import { named } from '../json-schema.js';

interface ProtocolInfo {
  readonly enabled: boolean;
  readonly serverName: string;
  /** With STARTTLS; 0 when not open. */
  readonly port: number;
  /** Implicit TLS; 0 when not open. */
  readonly securePort: number;
}

export interface ConnectionInfo {
  readonly smtp: ProtocolInfo;
  readonly pop3: ProtocolInfo;
  readonly imap: ProtocolInfo;
}

export const protocolInfo = named(
  'ProtocolInfo',
  record({ enabled: flag(), serverName: text(), port: whole(), securePort: whole() }),
);

export const connectionInfo = named(
  'ConnectionInfo',
  record({ smtp: protocolInfo, pop3: protocolInfo, imap: protocolInfo }),
);
