// What the check `certificate` says of requests to the authority (ACME) that fail: for which names, why, when they are tried again, and what
// mends them. The types are those of RFC 8555 §6.7, and those of `acme-fault.ts` where the authority gave none.
import type { CertificateState } from '../../store/certificates.js';
import type { Config } from '../config/config.js';
import { addressRecord } from './domain/records.js';
import { type CheckResult, counted, fail, shown, spanOf, warn } from './finding.js';

type OrderSettings = Pick<Config, 'acmeDirectory' | 'acmeEmail'>;

/** `now`: by the clock of the database. */
export function failingOrders(
  states: readonly CertificateState[],
  config: OrderSettings,
  now: number,
): readonly CheckResult[] {
  return states.filter(({ failures }) => failures > 0).map((state) => failingOrder(state, config, now));
}

/** A domain lacks only the names of its settings, so its mail goes on. */
function failingOrder(state: CertificateState, config: OrderSettings, now: number): CheckResult {
  const { domain, tried, failures, notAfter, nextAt, error } = state;
  const names = tried.length === 0 ? (domain ?? 'certificate') : tried.join(', ');
  const isServed = notAfter !== undefined && notAfter > now;
  const served = isServed ? `the old one serves for ${spanOf(notAfter - now)} more` : 'there is none yet';
  const again = nextAt > now ? `it is tried again in ${spanOf(nextAt - now)}` : 'it is tried again now';
  const { type = '', detail = '' } = error ?? {};
  const why = `no new certificate: ${shortType(type)}: ${shown(detail)}`;
  const text = `${why}; ${served}; ${counted(failures, 'request')} failed, ${again}`;
  const fix = mending(type, culprit(tried, detail), config);
  return domain === undefined && !isServed ? fail(names, text, fix) : warn(names, text, fix);
}

const URN = 'urn:ietf:params:acme:error:';

function shortType(type: string): string {
  return type.startsWith(URN) ? type.slice(URN.length) : type;
}

/** The name that the authority complains of. */
function culprit(tried: readonly string[], detail: string): string {
  return tried.find((name) => detail.includes(name)) ?? tried[0] ?? 'NAME';
}

function mending(type: string, name: string, { acmeDirectory = '' }: OrderSettings): string {
  switch (type) {
    case `${URN}connection`:
      return 'nft add rule inet filter input tcp dport 80 accept';
    case `${URN}dns`:
      return addressRecord(name);
    case `${URN}unauthorized`:
    case `${URN}incorrectResponse`:
      return `curl -v http://${name}/.well-known/acme-challenge/x`;
    case `${URN}caa`:
      return `${name}. IN CAA 0 issue "${authorityOf(acmeDirectory)}"`;
    case `${URN}invalidContact`:
    case `${URN}unsupportedContact`:
      return 'MANSIO_ACME_EMAIL of an address that the authority accepts';
    case `${URN}rejectedIdentifier`:
      return 'MANSIO_ACME_NAMES without the name that the authority rejects';
    case `${URN}externalAccountRequired`:
      return 'MANSIO_ACME_DIRECTORY=letsencrypt';
    case 'tls':
      return 'MANSIO_ACME_CA=FILE with the authority of the directory';
    case 'connection':
    case 'timeout':
      return `curl -v ${acmeDirectory}`;
    default:
      return "journalctl -u mansio --grep 'no certificate' -n 20";
  }
}

/** The name of the authority in CAA records: by custom its domain. */
function authorityOf(directory: string): string {
  const host = URL.canParse(directory) ? new URL(directory).hostname : directory;
  return host.split('.').slice(-2).join('.');
}
