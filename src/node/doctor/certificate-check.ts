// The check `certificate`: names, days and chain of each certificate that the listeners of this node present, and requests for certificates
// that fail (certificate-orders).
import type { ProbedCertificate } from '../../net/tcp/server-probe.js';
import type { Config } from '../config/config.js';
import { failingOrders } from './certificate-orders.js';
import type { NodeCheck } from './check.js';
import { type CheckResult, fail, ok, shown, warn } from './finding.js';
import { probedInside } from './probed-listeners.js';
import type { DoctorSubject } from './subject.js';

const DAY_MS = 86_400_000;
/** As in health. */
const NEAR_EXPIRY_DAYS = 21;

type CertificateSettings = Pick<Config, 'tls' | 'acmeDirectory'>;

interface Presented extends ProbedCertificate {
  /** The names under which clients reach the listeners that present it. */
  readonly wanted: Set<string>;
}

export const certificateCheck: NodeCheck = {
  name: 'certificate',
  async run(subject) {
    const [presented, orders] = await Promise.all([presentedCertificates(subject), ordersOf(subject)]);
    return [...presented, ...orders];
  },
};

async function presentedCertificates(subject: DoctorSubject): Promise<readonly CheckResult[]> {
  const certificates = new Map<string, Presented>();
  for (const { serverName, result } of await probedInside(subject)) {
    if ('error' in result || result.certificate === undefined) continue;
    const { leaf, chainFault } = result.certificate;
    const known = certificates.get(leaf.fingerprint256) ?? { leaf, chainFault, wanted: new Set<string>() };
    known.wanted.add(serverName);
    certificates.set(leaf.fingerprint256, known);
  }
  if (certificates.size === 0)
    return [warn('certificate', 'no listener of this node presents one', 'systemctl start mansio')];
  return [...certificates.values()].map((each) => judge(each, subject.config, Date.now()));
}

async function ordersOf({ store, config }: DoctorSubject): Promise<readonly CheckResult[]> {
  if (config.acmeDirectory === undefined) return [];
  const [states, now] = await Promise.all([store.certificates(), store.clock()]);
  return failingOrders(states, config, now);
}

/** Exported for tests of the days. */
export function judge({ leaf, chainFault, wanted }: Presented, config: CertificateSettings, now: number): CheckResult {
  const subject = [...wanted].join(', ');
  const daysLeft = Math.floor((Date.parse(leaf.validTo) - now) / DAY_MS);
  const renewal = renewalOf(config);
  if (daysLeft < 0) return fail(subject, `it ended on ${leaf.validTo}`, renewal);
  const missing = [...wanted].filter((name) => leaf.checkHost(name) === undefined);
  if (missing.length > 0) {
    const names = shown(leaf.subjectAltName ?? leaf.subject);
    return fail(subject, `it is for ${names}, not for ${missing.join(', ')}`, renewal);
  }
  if (chainFault !== undefined) return warn(subject, chainDetail(chainFault), renewal);
  const detail = `${daysLeft} days left, issued by ${shown(issuerOf(leaf.issuer))}`;
  return daysLeft <= NEAR_EXPIRY_DAYS ? warn(subject, detail, renewal) : ok(subject, detail);
}

function renewalOf({ tls, acmeDirectory }: CertificateSettings): string {
  if (tls !== undefined) return `a new certificate in ${tls.map(({ cert }) => cert).join(', ')}`;
  if (acmeDirectory === undefined) return 'MANSIO_ACME_DIRECTORY=letsencrypt';
  return "journalctl -u mansio --grep 'certificate|ACME' -n 20";
}

function chainDetail(fault: string): string {
  switch (fault) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'it is self-signed: mail programs refuse it';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'its authority is not one that this machine knows: mail programs may refuse it';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'its chain is not complete: the file must have the intermediate certificates after the first one';
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'its chain ends at an authority that this machine does not know, or lacks an intermediate certificate: mail programs may refuse it';
    default:
      return `its chain is not believed (${shown(fault)})`;
  }
}

function issuerOf(issuer: string): string {
  return /^(?:O|CN)=(.*)$/m.exec(issuer)?.[1] ?? issuer.replaceAll('\n', ', ');
}
