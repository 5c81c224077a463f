// The DNS records of a hosted domain: the receiver of its mail (MX), its permitted senders (SPF, DKIM, DMARC), the TLS that senders can
// expect (MTA-STS, TLSRPT), and the servers for mail programs (SRV of RFC 6186 and RFC 8314, and the names that programs use over https).
import { isIP } from 'node:net';
import type { ConnectionInfo, ProtocolInfo } from '../../gateways/http/routes/connection-info.js';
import type { OwnStsPolicy } from '../../mail-format/authentication/own-sts-policy.js';
import { hostOf, portOf } from '../listeners/connection-info.js';

export interface DnsRecord {
  readonly name: string;
  readonly type: 'CNAME' | 'MX' | 'SRV' | 'TXT';
  /** The strings of a TXT record; the fields of other records. Names end with a dot. */
  readonly value: readonly string[];
}

/** The records that a domain has to publish, and the reasons for which others are missing. */
export interface DnsPlan {
  readonly records: readonly DnsRecord[];
  readonly notes: readonly string[];
}

/** The addresses at which others reach the cluster. */
export interface PublicEndpoints {
  readonly connectionInfo: ConnectionInfo;
  /** `host:port`; undefined when no node accepts inbound mail. */
  readonly mxAddress: string | undefined;
  readonly apiUrl: string | undefined;
  /** Undefined when this deployment has no MTA-STS policy. */
  readonly stsPolicy: Pick<OwnStsPolicy, 'id'> | undefined;
}

const MX_PORT = 25;
const HTTPS_PORT = 443;
/** RFC 6186 §3.4: the domain does not offer the service. */
const NOT_OFFERED = ['0', '0', '0', '.'];

/** `keys`: the records of the domain's DKIM keys. */
export function dnsPlan(domain: string, keys: readonly DnsRecord[], endpoints: PublicEndpoints): DnsPlan {
  const notes = new Set<string>();
  const { smtp, imap, pop3 } = endpoints.connectionInfo;
  const service = (
    label: string,
    { serverName }: ProtocolInfo,
    port: number,
    priority: number,
  ): readonly DnsRecord[] => {
    const name = `_${label}._tcp.${domain}`;
    if (port === 0) return [{ name, type: 'SRV', value: NOT_OFFERED }];
    if (!isFullName(serverName)) {
      notes.add(`SRV: ${serverName} is not the full name of a host (MANSIO_HOSTNAME)`);
      return [];
    }
    return [{ name, type: 'SRV', value: [String(priority), '1', String(port), `${serverName}.`] }];
  };
  // A program prefers the service with the lower priority (RFC 6186 §3.4).
  if (keys.length === 0)
    notes.add(`DKIM: ${domain} has no key, so its mail leaves unsigned: mansio domain add ${domain} makes keys`);
  const records = [
    ...mailExchanger(domain, endpoints.mxAddress, notes),
    txt(domain, 'v=spf1 mx ~all'),
    ...keys,
    txt(`_dmarc.${domain}`, `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`),
    ...stsRecords(domain, endpoints, notes),
    txt(`_smtp._tls.${domain}`, `v=TLSRPTv1; rua=mailto:postmaster@${domain}`),
    ...service('submissions', smtp, smtp.securePort, 0),
    ...service('submission', smtp, smtp.port, 10),
    ...service('imaps', imap, imap.securePort, 0),
    ...service('imap', imap, imap.port, 10),
    ...service('pop3s', pop3, pop3.securePort, 20),
    ...service('pop3', pop3, pop3.port, 30),
    ...webRecords(domain, endpoints.apiUrl, notes),
  ];
  return { records, notes: [...notes] };
}

function txt(name: string, text: string): DnsRecord {
  return { name, type: 'TXT', value: [text] };
}

function mailExchanger(domain: string, address: string | undefined, notes: Set<string>): readonly DnsRecord[] {
  if (address === undefined) {
    notes.add('MX: no node takes mail in (role mx, MANSIO_MX_PORT)');
    return [];
  }
  const host = hostOf(address);
  if (!isFullName(host)) {
    notes.add(`MX: ${host} is not the full name of a host (MANSIO_HOSTNAME)`);
    return [];
  }
  const port = portOf(address);
  if (port !== MX_PORT) notes.add(`MX: other servers connect to port ${MX_PORT} of ${host}, not to ${port}`);
  return [{ name: domain, type: 'MX', value: ['10', `${host}.`] }];
}

/** Senders read the policy at port 443 of a name below the domain (RFC 8461 §3.3), and have to find the certificate of that name. */
function stsRecords(domain: string, { apiUrl, stsPolicy }: PublicEndpoints, notes: Set<string>): readonly DnsRecord[] {
  if (stsPolicy === undefined) return [];
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  if (url?.protocol !== 'https:' || url.port !== '' || !isFullName(url.hostname)) {
    notes.add('MTA-STS: MANSIO_PUBLIC_URL has to be an https URL with a host name and without a port');
    return [];
  }
  return [txt(`_mta-sts.${domain}`, `v=STSv1; id=${stsPolicy.id}`), ...alias(`mta-sts.${domain}`, `${url.hostname}.`)];
}

/** Programs use https, and expect the certificate of the name that they request. */
function webRecords(domain: string, apiUrl: string | undefined, notes: Set<string>): readonly DnsRecord[] {
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  if (url?.protocol !== 'https:' || !isFullName(url.hostname)) {
    notes.add('autoconfig and autodiscover: MANSIO_PUBLIC_URL has to be an https URL with a host name');
    return [];
  }
  const target = `${url.hostname}.`;
  const port = url.port === '' ? String(HTTPS_PORT) : url.port;
  return [
    ...alias(`autoconfig.${domain}`, target),
    ...alias(`autodiscover.${domain}`, target),
    { name: `_autodiscover._tcp.${domain}`, type: 'SRV', value: ['0', '1', port, target] },
  ];
}

/** No record for a name that would be an alias of itself. */
function alias(name: string, target: string): readonly DnsRecord[] {
  return `${name}.` === target ? [] : [{ name, type: 'CNAME', value: [target] }];
}

/** Records must name a host, never an address, and the name must resolve everywhere. */
export function isFullName(host: string): boolean {
  return host.includes('.') && isIP(host) === 0;
}

/** The lines of a zone file, with the notes as comments. */
export function zoneLines({ records, notes }: DnsPlan): readonly string[] {
  return [
    ...records.map(({ name, type, value }) => {
      const data = type === 'TXT' ? value.map((text) => `"${text}"`) : value;
      return `${name}. IN ${type} ${data.join(' ')}`;
    }),
    ...notes.map((note) => `; ${note}`),
  ];
}
