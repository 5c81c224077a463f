// What a phone sets itself up with when it scans a code: an account in Thunderbird's format for phones
// (thunderbird-android, feature/migration/qrcode/qr-code-format.md), or the address of this page.
import type { ConnectionInfo, IssuedApiKey } from '../../../../src/client/index.js';
import { type Server, serversOf } from './servers.js';

interface Owner {
  readonly email: string;
  readonly displayName: string;
}

type Issued = Pick<IssuedApiKey, 'apiKey' | 'scopes'>;
type Servers = Pick<ConnectionInfo, 'imap' | 'pop3' | 'smtp' | 'username'>;

const FORMAT_VERSION = 1;
const ONLY_CODE = [1, 1];
const PROTOCOLS = { imap: 0, pop3: 1, smtp: 0 } as const;
const SECURITIES = { STARTTLS: 2, 'SSL/TLS': 3 } as const;
const PASSWORD = 1;
const ASCII = /^[ -~]+$/;

/** The account with its key; undefined where the key does not read and send mail, or a name is not in ASCII: the format has no others. */
export function thunderbirdAccount({ apiKey, scopes }: Issued, info: Servers, owner: Owner): string | undefined {
  const servers = serversOf(info).filter(({ protocol }) => scopes.includes(protocol));
  const outgoing = servers.find(({ protocol }) => protocol === 'smtp');
  const incoming = servers.find(({ protocol }) => protocol !== 'smtp');
  if (incoming === undefined || outgoing === undefined) return undefined;
  const { username } = info;
  if (![username, owner.email, incoming.host, outgoing.host].every((text) => ASCII.test(text))) return undefined;
  const login = ({ protocol, host, port, security }: Server) => [
    PROTOCOLS[protocol],
    host,
    port,
    SECURITIES[security],
    PASSWORD,
    username,
  ];
  // An empty name of the account stands for the address.
  const account = [...login(incoming), '', apiKey];
  const identity = [owner.email, owner.displayName];
  return JSON.stringify([FORMAT_VERSION, ONLY_CODE, account, [[[...login(outgoing), apiKey], identity]]]);
}

/** The address at which a phone makes a profile for itself; undefined where the page is on this machine alone. */
export function phonePage({ origin, hostname }: Readonly<Record<'origin' | 'hostname', string>>): string | undefined {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname) ? undefined : `${origin}/settings/keys`;
}
