// The way to a smart host: its name is looked up as an address, without MX records and MTA-STS, and every address is allowed, because the
// operator has named it. Mail and credentials travel over verified TLS alone. What the smart host refuses before it has seen sender and
// recipients is a fault of the set-up: it is temporary, so that no mail bounces until it is mended.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type DeliveryStatus, faultStatus } from '../../mail-format/reports/delivery-status.js';
import { type Exchanger, hostAddresses } from './mail-exchangers.js';
import type { RelayLogins } from './relay-logins.js';
import type { SenderRelay } from './relays.js';
import { type Blocked, blocked, type MailRoute, type RouteConnection, type RouteParts } from './route.js';
import type { Answer } from './transaction.js';

/** Replies to any command that ask for other credentials (RFC 4954 §6, RFC 5248). */
const ASKS_FOR_LOGIN = /^53[0458](?:[ -]|$)/;

export class RelayRoute implements MailRoute {
  readonly connection: RouteConnection;
  readonly #parts: RouteParts;
  readonly #relay: SenderRelay;
  readonly #logins: RelayLogins;

  constructor(parts: RouteParts, relay: SenderRelay, logins: RelayLogins) {
    this.#parts = parts;
    this.#relay = relay;
    this.#logins = logins;
    const { port, isImplicitTls, credentials, id: key } = relay;
    this.connection = { port, tls: 'verified', isImplicitTls, credentials, key };
  }

  async hosts(): Promise<readonly Exchanger[] | Blocked> {
    const { host } = this.#relay;
    const refusal = this.#logins.backsOff(this.#relay);
    if (refusal !== undefined) return blocked(host, refusal);
    const literal = isIP(host) === 6 ? `[IPv6:${host}]` : `[${host}]`;
    const isLiteral = isIP(host) !== 0;
    return [{ host: isLiteral ? literal : host, priority: 0, isImplicit: false, ...(isLiteral && { address: host }) }];
  }

  async addresses(exchanger: Exchanger): Promise<readonly string[] | Blocked> {
    const { dns, random, rules } = this.#parts;
    const { host } = exchanger;
    let found = await hostAddresses(dns, exchanger, random);
    if ('fault' in found && found.fault !== 'dns') found = (await systemAddresses(host)) ?? found;
    if ('fault' in found) return blocked(host, faultStatus(found.fault === 'dns' ? 'dns' : 'relay', found.detail));
    const own = found.find((address) => rules.isOwnAddress(address, this.connection.port));
    if (own === undefined) return found;
    return blocked(host, faultStatus('relay', `the smart host ${host} (${own}) is this host itself`));
  }

  statusOf({ status, reply, stage }: Answer): DeliveryStatus {
    if (status.kind !== 'permanent') return status;
    if (reply !== undefined && ASKS_FOR_LOGIN.test(reply)) {
      const refusal = faultStatus(
        'relay-login',
        `the smart host ${this.#relay.host} wants other credentials: ${reply}`,
      );
      this.#logins.refused(this.#relay, refusal);
      return refusal;
    }
    // Without a stage the connection could not be set up.
    return stage === undefined
      ? { ...status, kind: 'temporary', statusCode: `4${status.statusCode.slice(1)}` }
      : status;
  }

  loggedIn(refusal: DeliveryStatus | undefined): void {
    if (this.connection.credentials === undefined) return;
    if (refusal === undefined) this.#logins.accepted(this.#relay);
    else this.#logins.refused(this.#relay, refusal);
  }

  /** A smart host is the operator's own: nobody gets reports about it. */
  negotiated(): void {}
}

/** Names that only this machine knows, such as those of its hosts file. */
async function systemAddresses(host: string): Promise<readonly string[] | undefined> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return undefined;
  }
}
