// For whom the anonymous account acts (MANSIO_ANONYMOUS_ACCOUNT). A request without a credential proves nothing but that
// it reached loopback, and any page in a browser there can send one: under a name of its own that it lets resolve to
// 127.0.0.1 (DNS rebinding), or across origins. So only names that are ours are answered, and pages of ours alone may
// write or follow events. Programs send no Origin.

export interface AnonymousRequest {
  /** As sent, '' when absent. */
  readonly host: string;
  /** As sent, '' when absent. */
  readonly origin: string;
  /** Whether a foreign page could do harm without reading the answer: CORS keeps only answers from it. */
  readonly takesEffect: boolean;
}

/** Why the request is refused, undefined when it is not. */
export type AnonymousGuard = (request: AnonymousRequest) => string | undefined;

export interface OwnNames {
  readonly hostname: string;
  readonly publicUrl: string | undefined;
  /** Browser origins let in beside our own (MANSIO_CORS_ORIGINS). */
  readonly origins?: readonly string[];
}

export function anonymousGuard({ hostname, publicUrl, origins = [] }: OwnNames): AnonymousGuard {
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isOurs = (name: string) =>
    /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(name) || name === hostname || name === published?.hostname;
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
 * A host name in the form that URLs have, in any case. Other forms of an address (`0x7f.1`, `2130706433`) are names of nobody:
 * browsers never send them, and whoever does counts on being read in another way than by the check before.
 */
function authority(host: string): URL | undefined {
  const text = `http://${host}`;
  if (!/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return host.replace(/:\d*$/, '').toLowerCase() === url.hostname ? url : undefined;
}
