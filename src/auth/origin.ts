// Protects the anonymous account (MANSIO_ANONYMOUS_ACCOUNT). A request without a credential only proves that it reached loopback, and any
// web page in a local browser can send one: under its own name that resolves to 127.0.0.1 (DNS rebinding), or across origins. So only our
// own names are answered, and only our own pages may write or follow events. Programs send no Origin.

export interface AnonymousRequest {
  /** The header as sent; '' when absent. */
  readonly host: string;
  /** The header as sent; '' when absent. */
  readonly origin: string;
  /** True when a foreign page could do harm without reading the answer: CORS only hides answers from it. */
  readonly takesEffect: boolean;
}

/** Returns the reason of a refusal; undefined when the request is allowed. */
export type AnonymousGuard = (request: AnonymousRequest) => string | undefined;

export interface OwnNames {
  readonly hostname: string;
  readonly publicUrl: string | undefined;
  /** Browser origins that are allowed in addition to our own (MANSIO_CORS_ORIGINS). */
  readonly origins?: readonly string[];
}

export function anonymousGuard({ hostname, publicUrl, origins = [] }: OwnNames): AnonymousGuard {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isOurs = (name: string) => isLoopbackName(name) || name === hostname || name === published?.hostname;
  return ({ host, origin, takesEffect }) => {
    const asked = authority(host);
    if (asked === undefined || !isOurs(asked.hostname)) return 'This host name is not served without a credential.';
    if (!takesEffect || origin === '' || origins.includes(origin)) return undefined;
    const from = URL.canParse(origin) ? new URL(origin).host : '';
    if (from !== '' && (from === asked.host || from === published?.host)) return undefined;
    return 'Pages of this origin need a credential.';
  };
}

/**
 * Parses a host name in the form that URLs have, without regard to case. Other forms of an address (`0x7f.1`, `2130706433`) are rejected:
 * browsers never send them, and a client that does hopes that another component reads them differently.
 */
export function authority(host: string, scheme: 'http' | 'https' = 'http'): URL | undefined {
  const text = `${scheme}://${host}`;
  if (!/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return host.replace(/:\d*$/, '').toLowerCase() === url.hostname ? url : undefined;
}

/** Whether a host name in the form of `authority` is that of this machine. */
export function isLoopbackName(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
