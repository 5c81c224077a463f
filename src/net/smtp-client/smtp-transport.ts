// The transport over SMTP: it reads and signs the message of a task once, tries the hosts of its domain, and reports the outcomes. It owns
// the connections, the health of hosts and the MTA-STS policies, and ends all attempts when the node stops.
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { DeliveryReport, DeliveryTask, DeliveryTransport } from '../../actors/delivery/delivery-transport.js';
import { parseAddress } from '../../mail-format/address.js';
import type { Sign } from '../../mail-format/authentication/authentication.js';
import { faultStatus } from '../../mail-format/reports/delivery-status.js';
import type { BlobStore } from '../../store/blobs.js';
import { StoreFault } from '../../store/errors.js';
import { newId } from '../../store/ids/new-id.js';
import type { StsPolicyStore } from '../../store/sts-policies.js';
import type { Dns } from '../dns/resolver.js';
import { Attempt, type Common } from './attempt.js';
import { AttemptLog } from './attempt-log.js';
import { HostHealth } from './host-health.js';
import { DEFAULT_LIMITS, type SmtpClientLimits } from './limits.js';
import { NO_METER, type SmtpClientMeter } from './meter.js';
import { type OutgoingMessage, OutgoingMessages } from './outgoing-message.js';
import { hostRules, type OwnHost } from './own-hosts.js';
import { SessionPool } from './pool.js';
import { RecipientResults, type TaskRecipient } from './recipient-results.js';
import { RelayLogins } from './relay-logins.js';
import { RelayRoute } from './relay-route.js';
import { type RelayOptions, Relays } from './relays.js';
import { MxRoute } from './route.js';
import { SignedForms } from './signed-forms.js';
import { createStsPolicies } from './sts.js';
import type { TlsResults } from './tls-results.js';

export interface SmtpTransportOptions {
  readonly dns: Dns;
  readonly blobs: Pick<BlobStore, 'read' | 'stream'>;
  readonly stsPolicies: StsPolicyStore;
  readonly relays: Pick<RelayOptions, 'store' | 'url'>;
  readonly own: OwnHost;
  readonly log: Logger;
  /** The port of remote hosts. */
  readonly port: number;
  readonly allowPrivate: boolean;
  readonly sign?: Sign;
  readonly meter?: SmtpClientMeter;
  /** Counts what TLS resulted in, for the reports to the domains of recipients. */
  readonly tlsResults?: TlsResults | undefined;
  readonly limits?: Partial<SmtpClientLimits>;
  /** Returns values in [0, 1). */
  readonly random?: () => number;
  /** PEM of the authorities that certificates are verified against; when it is absent, those of the system are used. */
  readonly ca?: string;
  /** The port of the hosts of MTA-STS policies; only tests use another one than 443. */
  readonly stsPort?: number;
}

export interface SmtpTransport extends Required<DeliveryTransport> {
  /** The smart hosts that refuse the credentials. */
  readonly relayLogins: Pick<RelayLogins, 'refusing'>;
  /** Accepts no more tasks, and ends running tasks after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const STS_FETCH_MS = 20_000;
/** Extends the time limit of an attempt, for large messages over slow connections. */
const SLOWEST_OCTETS_PER_MS = 32;
/** Matches lines of printable ASCII and blanks, ended by CRLF, none of them empty. */
const HEADER_LINES = /^(?:[\t -~]+\r\n)*$/;

export function createSmtpTransport(options: SmtpTransportOptions): SmtpTransport {
  return new PooledTransport(options);
}

class PooledTransport implements SmtpTransport {
  readonly relayLogins: RelayLogins;
  readonly #log: Logger;
  readonly #sign: Sign | undefined;
  readonly #nodeId: string | undefined;
  readonly #meter: SmtpClientMeter;
  readonly #tlsResults: TlsResults | undefined;
  readonly #limits: SmtpClientLimits;
  readonly #messages: OutgoingMessages;
  readonly #pool: SessionPool;
  readonly #common: Common;
  readonly #sts: ReturnType<typeof createStsPolicies>;
  readonly #relays: Relays;
  readonly #stopping = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosing = false;

  constructor(options: SmtpTransportOptions) {
    const { dns, blobs, stsPolicies, relays, own, log, port, allowPrivate, sign, ca } = options;
    this.#log = log;
    this.#sign = sign;
    this.#nodeId = own.nodeId;
    const { meter = NO_METER, random = Math.random, stsPort = 443 } = options;
    this.#meter = meter;
    this.#tlsResults = options.tlsResults;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const rules = hostRules(own, allowPrivate);
    this.#messages = new OutgoingMessages(blobs);
    this.#pool = new SessionPool(this.#limits, this.#meter);
    this.#common = {
      dns,
      pool: this.#pool,
      health: new HostHealth(this.#limits.closingMs),
      rules,
      limits: this.#limits,
      meter: this.#meter,
      hostname: own.hostname,
      port,
      ca,
      random,
    };
    const { isAllowed } = rules;
    this.#sts = createStsPolicies({
      dns,
      isAllowed,
      port: stsPort,
      ca,
      timeoutMs: STS_FETCH_MS,
      store: stsPolicies,
      log: this.#log,
      results: this.#tlsResults,
    });
    this.relayLogins = new RelayLogins(this.#meter);
    this.#relays = new Relays({ ...relays, logins: this.relayLogins });
    setMaxListeners(0, this.#stopping.signal);
  }

  async destinationOf({ sender, domain }: Pick<DeliveryTask, 'sender' | 'domain'>): Promise<string> {
    const relay = await this.#relays.of(sender);
    return relay === undefined ? domain : `smart host ${relay.place}`;
  }

  async deliver(task: DeliveryTask): Promise<DeliveryReport> {
    const work = this.#attempt(task);
    const seen = work.catch(() => {});
    this.#underWay.add(seen);
    try {
      return await work;
    } finally {
      this.#underWay.delete(seen);
    }
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    this.#pool.close();
    const timer = setTimeout(() => this.#stopping.abort(), graceMs);
    await Promise.all(this.#underWay);
    clearTimeout(timer);
    this.#pool.close();
  }

  async #signature(task: DeliveryTask, content: OutgoingMessage, name: string): Promise<string> {
    if (this.#sign === undefined) return '';
    const domains = signingDomains(task, content);
    try {
      for (const domain of domains) {
        const lines = await this.#sign(domain, () => content.chunks(), name);
        if (!HEADER_LINES.test(lines)) throw new Error('the signature is no header field');
        if (lines !== '') return lines;
      }
      return '';
    } catch (error) {
      // Without a signature the message may be refused for good; a later attempt can sign it.
      if (error instanceof StoreFault && error.temporary) throw error;
      const { accountId, outboundId } = task;
      this.#log.error({ accountId, outboundId, domains, err: error }, 'message not signed');
      return '';
    }
  }

  async #formsOf(task: DeliveryTask): Promise<SignedForms> {
    const content = await this.#messages.of(task.blob, task.size);
    const original = { content, prefix: await this.#signature(task, content, task.blob) };
    return new SignedForms(original, async () => {
      const converted = await this.#messages.inSevenBits(task.blob, content);
      if (typeof converted === 'string') return converted;
      return { content: converted, prefix: await this.#signature(task, converted, `${task.blob} 7bit`) };
    });
  }

  async #attempt(task: DeliveryTask): Promise<DeliveryReport> {
    const attempts = new AttemptLog(task, this.#log, this.#meter, newId, this.#nodeId);
    const { addressees, unusable, sender } = envelopeOf(task);
    const results = new RecipientResults([...addressees, ...unusable]);
    const wrong = faultStatus('bad-address', 'the address cannot be written in an SMTP envelope');
    for (const addressee of unusable) results.settle(addressee, wrong, null);
    if (sender === undefined) results.settleAll(wrong, null);
    if (this.#isClosing) results.noteAll(faultStatus('ended', 'the node stops'), null);
    if (this.#isClosing || results.isOver || sender === undefined) {
      return { outcomes: results.outcomes(), attempts: [] };
    }
    const end = this.#endOf(task);
    try {
      const relay = await this.#relays.of(sender);
      const isTlsReport = await this.#isTlsReport(task);
      const hasPolicy = relay === undefined && !task.domain.startsWith('[') && !isTlsReport;
      const [forms, policy] = await Promise.all([
        this.#formsOf(task),
        hasPolicy ? this.#sts.policyOf(task.domain) : undefined,
      ]);
      const route =
        relay === undefined
          ? new MxRoute(
              this.#common,
              this.#common.port,
              task.domain,
              policy,
              isTlsReport ? undefined : this.#tlsResults,
            )
          : new RelayRoute(this.#common, relay, this.relayLogins);
      const mail = { task: { ...task, sender }, forms, route, signal: end.signal, log: attempts };
      try {
        await new Attempt(this.#common, mail, results).run();
      } catch (error) {
        // The deliveries so far are reported; the others are tried again.
        if (results.pending.length === addressees.length) throw error;
        this.#log.error({ accountId: task.accountId, outboundId: task.outboundId, err: error }, 'delivery broke off');
      }
      if (policy?.mode === 'testing') this.#logTesting(task, attempts);
      return { outcomes: results.outcomes(), attempts: attempts.entries };
    } finally {
      end.release();
    }
  }

  /**
   * A report about failures of TLS has to arrive in spite of them: no policy counts for it (RFC 8460 §3). Its own sessions are not
   * reported, or two servers would send each other a report about the last one for ever. @throws what reading the message throws
   */
  async #isTlsReport({ sender, blob, size }: DeliveryTask): Promise<boolean> {
    return sender === '' && (await this.#messages.of(blob, size)).isTlsReport;
  }

  /** Logs the effect of a policy in testing mode, which changes nothing (RFC 8461 §5). */
  #logTesting({ domain, outboundId }: DeliveryTask, { entries }: AttemptLog): void {
    for (const { host, tls } of entries) {
      if (host === null || tls?.endsWith('(verified)')) continue;
      this.#log.info(
        { domain, outboundId, host, tls },
        'an enforced MTA-STS policy would have kept this host from the mail',
      );
    }
  }

  /** Returns a signal that is aborted when the task is cancelled, the node stops, or the time is up. */
  #endOf(task: DeliveryTask): { readonly signal: AbortSignal; release(): void } {
    const controller = new AbortController();
    const { signal } = controller;
    setMaxListeners(0, signal);
    const onEnd = () => controller.abort();
    const timer = setTimeout(onEnd, this.#limits.attemptMs + task.size / SLOWEST_OCTETS_PER_MS);
    const sources = [task.signal, this.#stopping.signal];
    for (const source of sources) {
      if (source.aborted) onEnd();
      source.addEventListener('abort', onEnd, { once: true });
    }
    return {
      signal,
      release: () => {
        clearTimeout(timer);
        for (const source of sources) source.removeEventListener('abort', onEnd);
      },
    };
  }
}

/**
 * Returns the domains whose key may sign, the best first: the domain of From, which readers see and DMARC requires (RFC 9989 §4.4), then
 * the domain of the envelope's sender. The submission of the message has checked that the account may use the address in From.
 */
function signingDomains({ sender }: DeliveryTask, { authorDomains }: OutgoingMessage): readonly string[] {
  const domain = parseAddress(sender)?.domain;
  const others = authorDomains.filter((author) => author !== domain);
  if (domain === undefined) return others;
  return others.length < authorDomains.length ? [domain, ...others] : [...others, domain];
}

/** Returns the addresses of the envelope. They are parsed again, so that no invalid address gets into it. */
function envelopeOf({ sender, recipients }: DeliveryTask): {
  readonly addressees: readonly TaskRecipient[];
  readonly unusable: readonly TaskRecipient[];
  /** The sender is undefined when it is not an address. */
  readonly sender: string | undefined;
} {
  const known = new Map<string, TaskRecipient & { readonly ids: string[] }>();
  const unusable: TaskRecipient[] = [];
  for (const { id, address, dsn } of recipients) {
    const path = pathOf(address);
    if (path === undefined) unusable.push({ ids: [id], address });
    else if (known.has(path)) known.get(path)!.ids.push(id);
    else known.set(path, { ids: [id], address: path, dsn });
  }
  return { addressees: [...known.values()], unusable, sender: sender === '' ? '' : pathOf(sender) };
}

/** The library accepts no angle brackets, although a quoted local part may have them. */
function pathOf(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined || /[<>]/.test(address.localPart)) return undefined;
  const { localPart, domain } = address;
  return `${localPart}@${domain.replace(/^\[ipv6:/, '[IPv6:')}`;
}
