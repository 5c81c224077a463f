// Log lines at the start about access to plain HTTP, on which API keys are not encrypted: an operator who opens the mail ports learns that
// HTTP is still local, and one who opens HTTP without a balancer is warned. So is one whose proxy with https is not trusted: no browser signs
// in there.
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { isLoopback } from '../config/values.js';

/** `http`, `https`: the addresses and ports of the listeners. */
export function adviseOfHttp(
  { bind, httpBind, proxyNetworks, publicUrl }: Pick<Config, 'bind' | 'httpBind' | 'proxyNetworks' | 'publicUrl'>,
  { http, https }: { readonly http?: string; readonly https?: string },
  log: Pick<Logger, 'info' | 'warn'>,
): void {
  if (
    publicUrl !== undefined &&
    new URL(publicUrl).protocol === 'https:' &&
    https === undefined &&
    proxyNetworks.length === 0
  )
    log.warn(
      { http, publicUrl },
      'browsers cannot sign in to the page: MANSIO_PUBLIC_URL has https, and no proxy in front is named in MANSIO_PROXY_NETWORKS',
    );
  if (isLoopback(httpBind)) {
    if (!isLoopback(bind) && https === undefined)
      log.info(
        { http },
        'HTTP is open to this machine only; MANSIO_HTTPS_PORT opens it to others with TLS, MANSIO_HTTP_BIND without',
      );
    return;
  }
  if (proxyNetworks.length > 0) return;
  log.warn(
    { http },
    'HTTP is open to other machines without TLS, so keys travel in the clear: put a balancer with TLS before it and name it in MANSIO_PROXY_NETWORKS, or unset MANSIO_HTTP_BIND',
  );
}
