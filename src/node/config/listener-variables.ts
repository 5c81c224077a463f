// Declares the settings of names, listeners and TLS; variables.ts joins them with the others.
import { hostname } from 'node:os';
import {
  domain,
  hostPort,
  httpUrl,
  ipAddress,
  type ListenerPort,
  listenerPort,
  metricsPort,
  networkList,
  readableFiles,
} from './values.js';
import { variable } from './variable.js';

type List = readonly string[];

const PUBLIC_ADDRESS = { byDefault: 'what the nodes of the cluster listen on' } as const;
const publicAddress = (name: string, protocol: string) =>
  variable(name, undefined, hostPort, `Host and port that clients are told for ${protocol}.`, PUBLIC_ADDRESS);

export const listeners = {
  bind: variable(
    'MANSIO_BIND',
    '127.0.0.1',
    ipAddress,
    'Address of the mail listeners (SMTP, IMAP, POP3, ManageSieve) and of HTTPS. The default opens nothing to other machines.',
  ),
  httpBind: variable(
    'MANSIO_HTTP_BIND',
    undefined,
    ipAddress,
    'Address of plain HTTP (REST, hub, health) and of metrics. API keys travel there in the clear: beyond loopback, let a balancer with TLS alone reach it ([plain HTTP](#plain-http)).',
    { byDefault: '`MANSIO_BIND` when that is loopback, else `127.0.0.1`' },
  ),
  hostname: variable(
    'MANSIO_HOSTNAME',
    machineName(),
    domain,
    'Name in the SMTP banner, in `Received` and in the self-signed certificate.',
    { byDefault: "the machine's name" },
  ),
  publicUrl: variable(
    'MANSIO_PUBLIC_URL',
    undefined,
    httpUrl,
    'Base URL of the API for clients. The OpenAPI document names it; without it the document names the address it was read from. Mail that verifies an address links to `/verify` below it.',
    { byDefault: 'the HTTP listener' },
  ),
  httpPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_HTTP_PORT',
    8080,
    listenerPort,
    'Port of REST, hub and health. 0 picks a free port; `off` opens none, and health is on the metrics port.',
  ),
  httpsPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_HTTPS_PORT',
    'off',
    listenerPort,
    'Port of REST, hub and health with TLS, with the certificates of the mail ports. 0 picks a free port; 443 needs root or the right to bind low ports.',
  ),
  metricsPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_METRICS_PORT',
    'off',
    metricsPort,
    'Port of [metrics](metrics.md) in the Prometheus text format; it asks for no credential. 0 is `off` here: it picks no free port, unlike at the other ports.',
  ),
  mxPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_MX_PORT',
    2525,
    listenerPort,
    'Port on which other mail servers deliver. 0 picks a free port; 25 needs root or the right to bind low ports.',
  ),
  submissionPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_SUBMISSION_PORT',
    2587,
    listenerPort,
    'Port of submission with STARTTLS. 0 picks a free port; 587 needs root or the right to bind low ports.',
  ),
  submissionsPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_SUBMISSIONS_PORT',
    2465,
    listenerPort,
    'Port of submission with TLS from the start. 0 picks a free port; 465 needs root or the right to bind low ports.',
  ),
  imapPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_IMAP_PORT',
    2143,
    listenerPort,
    'Port of IMAP with STARTTLS. 0 picks a free port; 143 needs root or the right to bind low ports.',
  ),
  imapsPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_IMAPS_PORT',
    2993,
    listenerPort,
    'Port of IMAP with TLS from the start. 0 picks a free port; 993 needs root or the right to bind low ports.',
  ),
  pop3Port: variable<ListenerPort, ListenerPort>(
    'MANSIO_POP3_PORT',
    2110,
    listenerPort,
    'Port of POP3 with STLS. 0 picks a free port; 110 needs root or the right to bind low ports.',
  ),
  pop3sPort: variable<ListenerPort, ListenerPort>(
    'MANSIO_POP3S_PORT',
    2995,
    listenerPort,
    'Port of POP3 with TLS from the start. 0 picks a free port; 995 needs root or the right to bind low ports.',
  ),
  sievePort: variable<ListenerPort, ListenerPort>(
    'MANSIO_SIEVE_PORT',
    4190,
    listenerPort,
    'Port of ManageSieve with STARTTLS, opened by the role `imap`. 0 picks a free port.',
  ),
  publicSubmission: publicAddress('MANSIO_PUBLIC_SUBMISSION', 'submission with STARTTLS'),
  publicSubmissions: publicAddress('MANSIO_PUBLIC_SUBMISSIONS', 'submission with TLS from the start'),
  publicSmtp: variable(
    'MANSIO_PUBLIC_SMTP',
    undefined,
    hostPort,
    'Host and port at which other mail servers reach the MX listener. `mansio domain` prints the MX record from the host; other servers use port 25.',
    PUBLIC_ADDRESS,
  ),
  publicImap: publicAddress('MANSIO_PUBLIC_IMAP', 'IMAP with STARTTLS'),
  publicImaps: publicAddress('MANSIO_PUBLIC_IMAPS', 'IMAP with TLS from the start'),
  publicPop3: publicAddress('MANSIO_PUBLIC_POP3', 'POP3 with STLS'),
  publicPop3s: publicAddress('MANSIO_PUBLIC_POP3S', 'POP3 with TLS from the start'),
  tlsCert: variable<List, undefined>(
    'MANSIO_TLS_CERT',
    undefined,
    readableFiles,
    'PEM files of the certificates for STARTTLS and TLS, set together with `MANSIO_TLS_KEY`. Clients get the one for the host that they name (SNI), else the first. Changed files are used within 2 s.',
    { byDefault: 'self-signed, made once' },
  ),
  tlsKey: variable<List, undefined>(
    'MANSIO_TLS_KEY',
    undefined,
    readableFiles,
    'PEM files of the private keys of `MANSIO_TLS_CERT`, in the same order.',
    {
      byDefault: 'self-signed, made once',
    },
  ),
  proxyNetworks: variable<List, List>(
    'MANSIO_PROXY_NETWORKS',
    [],
    networkList,
    'Networks of your own balancers, whose PROXY header (version 1 or 2, on every port) and `X-Forwarded-For` are believed: [behind balancers](#behind-balancers).',
  ),
};

/** Returns the name of the machine, or localhost when a banner may not contain the name. */
function machineName(): string {
  try {
    return domain.parse(hostname());
  } catch {
    return 'localhost';
  }
}
