// The URL of a smart host, which passes outbound mail on to other servers: `smtps://user:password@host:465` speaks TLS from the start,
// `smtp://user:password@host:587` uses STARTTLS. It has a password, which nothing logs or shows. Pure.
import { domainToASCII } from 'node:url';

export interface RelayCredentials {
  readonly user: string;
  readonly password: string;
}

export interface Relay {
  /** A name in ASCII, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  /** True when TLS begins with the connection, false when STARTTLS begins it. */
  readonly isImplicitTls: boolean;
  /** Undefined when the smart host knows this server by its address. */
  readonly credentials: RelayCredentials | undefined;
}

/** What `parseRelayUrl` accepts, in words. */
export const RELAY_URL_FORM =
  'a URL such as smtps://user:password@smtp.example.net:465 or smtp://user:password@smtp.example.net:587 (STARTTLS), ' +
  'with other characters than letters and digits in user and password percent-encoded';

const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;
const HOST_NAME = /^(?!\d+(\.\d+)*$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
/** Longer text is no user and no password of a mail server (RFC 4616 §2 allows 255 octets). */
const LONGEST = 255;

/** Undefined when the text is no URL of a smart host. */
export function parseRelayUrl(text: string): Relay | undefined {
  // A `/`, `?` or `#` in a password that is not encoded would end the host.
  if (!/^smtps?:\/\/[^?#]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const { protocol, username, password, pathname } = url;
  if (pathname !== '' && pathname !== '/') return undefined;
  const host = hostOf(url.hostname);
  const port = url.port === '' ? DEFAULT_PORTS[protocol as keyof typeof DEFAULT_PORTS] : Number(url.port);
  if (host === undefined || port === 0) return undefined;
  const isImplicitTls = protocol === 'smtps:';
  if (username === '' && password === '') return { host, port, isImplicitTls, credentials: undefined };
  const [user, secret] = [decoded(username), decoded(password)];
  if (user === undefined || secret === undefined) return undefined;
  return { host, port, isImplicitTls, credentials: { user, password: secret } };
}

/** The URL without its password; text that is no URL of a smart host may be a password, and is hidden. */
export function shownRelayUrl(text: string): string {
  const relay = parseRelayUrl(text);
  if (relay === undefined) return '[hidden]';
  const { isImplicitTls, credentials } = relay;
  const login = credentials === undefined ? '' : `${encodeURIComponent(credentials.user)}:[hidden]@`;
  return `${isImplicitTls ? 'smtps' : 'smtp'}://${login}${relayPlace(relay)}`;
}

/** Host and port, as in a URL. */
export function relayPlace({ host, port }: Pick<Relay, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function hostOf(text: string): string | undefined {
  // URL has checked what stands in brackets.
  if (text.startsWith('[')) return text.slice(1, -1);
  if (IPV4.test(text)) return text;
  const name = domainToASCII(decoded(text) ?? '')
    .toLowerCase()
    .replace(/\.$/, '');
  return name.length <= 253 && HOST_NAME.test(name) ? name : undefined;
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text);
    return plain !== '' && plain.length <= LONGEST && !/\p{Cc}/u.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}
