// The port of ACME: proofs for the authority, and redirects to HTTPS. It is opened on every node that may be asked, whichever node requests.
import { acmeHandler } from '../../gateways/http/acme-handler.js';
import { type HttpServer, startHttp } from '../../gateways/http/server/server.js';
import { TrustedNetworks } from '../../net/tcp/trusted-networks.js';
import type { AcmeCertificates } from '../certificates/acme-certificates.js';
import { knownHosts } from '../certificates/open-certificates.js';
import type { Config } from '../config/config.js';
import type { Engine } from '../engine/engine.js';
import type { Resources } from '../resources.js';
import { listenFailure } from '../start-failure.js';
import type { StopListener } from './open-listener.js';

const HTTPS_PORT = 443;

/** @throws StartFault when the port cannot be opened */
export async function openAcme(
  config: Config,
  { tls, processShare, log }: Resources,
  { directory }: Pick<Engine, 'directory'>,
  certificates: AcmeCertificates,
  stops: StopListener[],
): Promise<HttpServer | undefined> {
  const { bind, acmePort: port, proxyNetworks } = config;
  if (port === 'off') return undefined;
  const handler = acmeHandler({
    authorizationOf: (token) => certificates.authorizationOf(token),
    isKnown: knownHosts(config, tls.certificates, directory),
    httpsPort: publicHttpsPort(config),
  });
  try {
    const server = await startHttp({
      bind,
      port,
      ...(processShare && { sharing: { port: processShare.acmePort } }),
      handler,
      webSockets: [],
      trusted: new TrustedNetworks(proxyNetworks),
      log,
    });
    stops.push((graceMs) => server.stop(graceMs));
    return server;
  } catch (error) {
    throw listenFailure(error, { name: 'ACME', variable: 'MANSIO_ACME_PORT', bind, port });
  }
}

/** The port in MANSIO_PUBLIC_URL, else the one that HTTPS listens on. */
function publicHttpsPort({ publicUrl, httpsPort }: Pick<Config, 'publicUrl' | 'httpsPort'>): number {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url?.protocol === 'https:') return url.port === '' ? HTTPS_PORT : Number(url.port);
  return httpsPort === 'off' || httpsPort === 0 ? HTTPS_PORT : httpsPort;
}
