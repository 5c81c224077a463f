// The IMAP server of an import, as an operator names it: `imaps://user@host`, or `imap://user@host` for STARTTLS, optionally with
// a port and a mailbox (RFC 5092).

export interface ImapServer {
  readonly host: string;
  readonly port: number;
  /** True: TLS from the start; false: STARTTLS. */
  readonly isSecure: boolean;
  /**
   * Any certificate is accepted, and also no TLS when the server offers none: for this machine, or when the operator allows it.
   */
  readonly isLax: boolean;
  readonly user: string;
  /** '' when the URL has none. */
  readonly password: string;
  /** Gives an OAuth 2.0 access token, which is used instead of a password. It is asked before each connection, because tokens expire. */
  readonly token?: () => Promise<string>;
  /** Only this mailbox and the mailboxes below it are imported. */
  readonly folder: string | undefined;
  /** User, server and port: the key of the stored positions. */
  readonly name: string;
}

const PORTS: Readonly<Record<string, number>> = { 'imap:': 143, 'imaps:': 993 };
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns what the URL says, or a text about what is wrong with it. */
export function imapServer(text: string, isLax: boolean): ImapServer | { readonly problem: string } {
  const url = parsed(text);
  const standard = url === undefined ? undefined : PORTS[url.protocol];
  if (url === undefined || standard === undefined || url.hostname === '')
    return { problem: 'is no URL of the form imaps://user@host' };
  if (url.username === '') return { problem: 'names no user: imaps://user@host' };
  const path = decoded(url.pathname.slice(1));
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (path === undefined || user === undefined || password === undefined)
    return { problem: 'has a percent sign that encodes nothing' };
  const port = url.port === '' ? standard : Number(url.port);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    isSecure: url.protocol === 'imaps:',
    isLax: isLax || LOOPBACK.test(url.hostname),
    user,
    password,
    folder: path === '' ? undefined : path,
    name: `${user}@${url.hostname.toLowerCase()}:${port}`,
  };
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
