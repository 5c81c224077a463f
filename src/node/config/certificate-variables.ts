// Declares the settings of certificates by ACME, and of the MTA-STS policy that relies on them; variables.ts joins them with the others.
import {
  acmeDirectory,
  domainList,
  emailAddress,
  type ListenerPort,
  listenerPort,
  oneOf,
  readableFile,
} from './values.js';
import { variable } from './variable.js';

type List = readonly string[];

const NONE = { byDefault: 'none' } as const;

export const certificates = {
  acmeDirectory: variable(
    'MANSIO_ACME_DIRECTORY',
    undefined,
    acmeDirectory,
    'URL of the ACME directory of a certificate authority, or `letsencrypt`. Setting it accepts the terms of the authority ([certificates](certificates.md)).',
    { byDefault: 'none: no certificates are requested' },
  ),
  acmeEmail: variable(
    'MANSIO_ACME_EMAIL',
    undefined,
    emailAddress,
    'Address at which the authority reaches you about the account.',
    NONE,
  ),
  acmeNames: variable<List, List>(
    'MANSIO_ACME_NAMES',
    [],
    domainList,
    "Names of the deployment's own certificate. Hosted domains have certificates of their own.",
    { byDefault: '`MANSIO_HOSTNAME` and the host of `MANSIO_PUBLIC_URL`' },
  ),
  acmePort: variable<ListenerPort | undefined, undefined>(
    'MANSIO_ACME_PORT',
    undefined,
    listenerPort,
    'Port on `MANSIO_BIND` that answers the authority (HTTP-01) and redirects the rest to HTTPS. The authority asks port 80.',
    { byDefault: '80 with `MANSIO_ACME_DIRECTORY`, else `off`' },
  ),
  acmeCa: variable(
    'MANSIO_ACME_CA',
    undefined,
    readableFile,
    'PEM file of the authorities that a private directory is checked against.',
    { byDefault: 'those of Node.js' },
  ),
  mtaStsMode: variable(
    'MANSIO_MTA_STS_MODE',
    'testing',
    oneOf('off', 'testing', 'enforce'),
    'Mode of the [MTA-STS policy](certificates.md#mta-sts) of hosted domains.',
  ),
};
