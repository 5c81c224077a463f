// The way of a message to the recipients of one domain: which hosts are tried, at which addresses, and how they are connected to. This one
// leads to the MX hosts of the domain (RFC 5321 §5.1), under its MTA-STS policy; `relay-route.ts` leads to a smart host.
import { type DeliveryStatus, faultStatus } from '../../mail-format/reports/delivery-status.js';
import type { StsPolicy } from '../../store/sts-policies.js';
import type { Dns } from '../dns/resolver.js';
import type { Tried } from './attempt-log.js';
import { type Exchanger, hostAddresses, mailExchangers } from './mail-exchangers.js';
import type { HostRules } from './own-hosts.js';
import type { SessionOptions } from './session.js';
import { allowsHost } from './sts-policy.js';
import { negotiated, notInPolicy, type TlsNegotiation, type TlsResults } from './tls-results.js';
import type { Answer } from './transaction.js';

/** Returned when the domain, or a host, is not tried. */
export interface Blocked {
  readonly tried: Tried;
  readonly status: DeliveryStatus;
  /** The host is this node itself: hosts of its priority, and those after it, would lead back to it. */
  readonly isOwn?: boolean;
}

/** How hosts are connected to. */
export interface RouteConnection
  extends Required<Pick<SessionOptions, 'port' | 'isImplicitTls'>>,
    Pick<SessionOptions, 'credentials'> {
  /** `opportunistic` falls back to no TLS. */
  readonly tls: 'opportunistic' | 'verified';
  /** Sessions with the same key are interchangeable. */
  readonly key: string;
}

export interface MailRoute {
  readonly connection: RouteConnection;
  /** In the order of trying, at least one. */
  hosts(): Promise<readonly Exchanger[] | Blocked>;
  /** The addresses that may be connected to, at least one. */
  addresses(exchanger: Exchanger): Promise<readonly string[] | Blocked>;
  /** The status of a recipient after a reply, or without one. */
  statusOf(answer: Answer): DeliveryStatus;
  /** Called when the host has accepted the credentials, or with the reason why it has not. */
  loggedIn(refusal: DeliveryStatus | undefined): void;
  /** Called once for each connection for which TLS was tried. */
  negotiated(negotiation: TlsNegotiation): void;
}

export interface RouteParts {
  readonly dns: Dns;
  readonly rules: HostRules;
  /** Returns values in [0, 1). */
  readonly random: () => number;
}

export class MxRoute implements MailRoute {
  readonly connection: RouteConnection;
  readonly #parts: RouteParts;
  readonly #domain: string;
  readonly #policy: StsPolicy | undefined;
  readonly #results: TlsResults | undefined;

  /** `port`: that of all mail hosts. `results`: undefined where nobody counts them. */
  constructor(
    parts: RouteParts,
    port: number,
    domain: string,
    policy: StsPolicy | undefined,
    results: TlsResults | undefined,
  ) {
    this.#parts = parts;
    this.#results = results;
    this.#domain = domain;
    this.#policy = policy;
    const tls = policy?.mode === 'enforce' ? 'verified' : 'opportunistic';
    this.connection = { port, tls, isImplicitTls: false, key: tls };
  }

  async hosts(): Promise<readonly Exchanger[] | Blocked> {
    const { dns, random, rules } = this.#parts;
    const found = await mailExchangers(dns, this.#domain, random);
    if ('fault' in found) return blocked(null, faultStatus(found.fault, found.detail));
    // RFC 5321 §5.1: hosts with a priority not better than this node's would lead back to it.
    const end = found.find(({ host }) => rules.isOwnName(host))?.priority ?? Number.POSITIVE_INFINITY;
    const hosts = found.filter(({ priority }) => priority < end);
    if (hosts.length > 0) return hosts;
    return blocked(found[0]!.host, faultStatus('own-host', `mail for ${this.#domain} would come back to this host`));
  }

  async addresses(exchanger: Exchanger): Promise<readonly string[] | Blocked> {
    const { dns, random, rules } = this.#parts;
    const { host } = exchanger;
    if (this.#policy?.mode === 'enforce' && !allowsHost(this.#policy, host)) {
      this.#results?.add(this.#domain, notInPolicy(this.#policy, host));
      return blocked(host, faultStatus('sts-host', `${host} is not in the MTA-STS policy of the domain`));
    }
    const found = await hostAddresses(dns, exchanger, random);
    if ('fault' in found) return blocked(host, faultStatus(found.fault, found.detail));
    const own = found.find((address) => rules.isOwnAddress(address, this.connection.port));
    if (own !== undefined) {
      const status = faultStatus('own-host', `${host} (${own}) is this host itself`);
      return { tried: { host, address: own, tls: null }, status, isOwn: true };
    }
    const allowed = found.filter((address) => rules.isAllowed(address));
    if (allowed.length > 0) return allowed;
    // The sender sees the attempt and must not learn the private address.
    return blocked(host, faultStatus('private-host', `${host} has no public address`));
  }

  statusOf({ status }: Answer): DeliveryStatus {
    return status;
  }

  loggedIn(): void {}

  negotiated(negotiation: TlsNegotiation): void {
    // An address literal has no policy and nobody to report to.
    if (!this.#domain.startsWith('[')) this.#results?.add(this.#domain, negotiated(this.#policy, negotiation));
  }
}

export function blocked(host: string | null, status: DeliveryStatus): Blocked {
  return { tried: { host, address: null, tls: null }, status };
}
