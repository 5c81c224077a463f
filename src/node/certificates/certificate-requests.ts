// Requests and renews certificates on the one node that has the lease: looks at each certificate that is due, and asks the authority where a
// certificate is missing, lacks a name or is to be renewed. A failure backs off for its certificate alone, and the old certificate stays.
import type { Logger } from 'pino';
import { Fault } from '../../concurrency/fault.js';
import { AccountKey, newAccountKey } from '../../net/acme/account-key.js';
import { AcmeClient, type AcmeClientOptions } from '../../net/acme/acme-client.js';
import { AcmeFault } from '../../net/acme/acme-fault.js';
import { renewalTime, retryDelay, timeInWindow } from '../../net/acme/renewal-time.js';
import type { CertificateState, CertificateStore, RequestLease } from '../../store/certificates.js';
import { type CertificateNames, DOMAIN_PREFIXES } from './certificate-names.js';

export interface CertificateRequestsOptions {
  readonly store: CertificateStore;
  readonly names: Pick<CertificateNames, 'of'>;
  readonly authority: Pick<AcmeClientOptions, 'directory' | 'email' | 'ca' | 'limits'>;
  readonly nodeId: string;
  /** The time for which a node that is gone keeps the lease. */
  readonly leaseTtlMs: number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** ms since the epoch, by the clock of the database. */
  readonly now: () => number;
  readonly random: () => number;
  readonly meter?: CertificateMeter | undefined;
  /** Called when a certificate has been stored. */
  readonly obtained: () => void;
}

export interface CertificateMeter {
  requested(outcome: 'obtained' | 'failed'): void;
}

/** Another node has the lease, or may have it. */
class LeaseLost extends Fault<'acme-lease-lost'> {
  constructor() {
    super('acme-lease-lost', 'another node requests certificates now', { temporary: true });
  }
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How often a domain is looked up whose names do not all lead here, and how often anything else is looked at. */
const INCOMPLETE_MS = 10 * MINUTE_MS;
const COMPLETE_MS = 6 * HOUR_MS;
/** DNS could not tell. */
const UNKNOWN_MS = 2 * MINUTE_MS;
/** The bounds of the authority's wish when to be asked about a renewal again (RFC 9773 §4.3). */
const ASK_MS = 6 * HOUR_MS;
const LEAST_ASK_MS = HOUR_MS;
const MOST_ASK_MS = 24 * HOUR_MS;
const MOST_AT_ONCE = 100;

interface Holding {
  readonly lease: RequestLease;
  readonly client: AcmeClient;
  readonly signal: AbortSignal;
}

export class CertificateRequests {
  readonly #options: CertificateRequestsOptions;

  constructor(options: CertificateRequestsOptions) {
    this.#options = options;
  }

  /** Looks at all certificates that are due, unless another node does. @throws AcmeFault that concerns the authority as a whole */
  async run(stop: AbortSignal): Promise<void> {
    const { store, nodeId, leaseTtlMs, authority, now } = this.#options;
    const lease = await store.acquire(nodeId, leaseTtlMs, newAccountKey);
    if (lease === undefined) return;
    const lost = new AbortController();
    const renewal = setInterval(() => void this.#extend(lease, lost), leaseTtlMs / 3);
    try {
      const key = await AccountKey.read(lease.privateKey);
      const client = new AcmeClient({ ...authority, key }, lease.account);
      const signal = AbortSignal.any([stop, lost.signal]);
      for (const state of await store.due(now(), MOST_AT_ONCE)) await this.#attend(state, { lease, client, signal });
    } catch (error) {
      if (stop.aborted || lost.signal.aborted || error instanceof LeaseLost) return;
      throw error;
    } finally {
      clearInterval(renewal);
      // The lease ends by itself when the store does not answer.
      await store.release(lease).catch(() => {});
    }
  }

  async #extend(lease: RequestLease, lost: AbortController): Promise<void> {
    const { store, leaseTtlMs } = this.#options;
    // Without an answer it is unknown who has the lease; writes check it.
    const isHeld = await store.extend(lease, leaseTtlMs).catch(() => true);
    if (!isHeld) lost.abort();
  }

  async #attend(state: CertificateState, holding: Holding): Promise<void> {
    const { names, now } = this.#options;
    holding.signal.throwIfAborted();
    const { domain } = state;
    const wanted = await names.of(domain);
    if (wanted === undefined) return this.#schedule(holding, state, { nextAt: now() + UNKNOWN_MS });
    const advised = await this.#advised(state, holding);
    const isMissing = wanted.some((name) => !state.names.includes(name));
    const isOld = advised.renewAt !== undefined && advised.renewAt <= now();
    if (wanted.length > 0 && (isMissing || isOld)) return this.#request(state, wanted, holding);
    const nextAt = Math.min(
      isOld ? Number.POSITIVE_INFINITY : (advised.renewAt ?? Number.POSITIVE_INFINITY),
      lookAt(state, wanted, now()),
    );
    await this.#schedule(holding, state, { ...advised, nextAt });
  }

  /** When the certificate is to be renewed: the authority is asked where it offers advice. */
  async #advised(
    { renewalId, renewAt, askAt }: CertificateState,
    { client, signal }: Holding,
  ): Promise<{ readonly renewAt?: number | undefined; readonly askAt?: number | undefined }> {
    const { now, random, log } = this.#options;
    if (renewalId === undefined || now() < askAt) return { renewAt };
    try {
      const advice = await client.renewalWindow(renewalId, signal);
      if (advice === undefined) return { renewAt, askAt: now() + ASK_MS };
      const waitMs = Math.min(MOST_ASK_MS, Math.max(LEAST_ASK_MS, advice.askAgainMs ?? ASK_MS));
      return { renewAt: timeInWindow(advice.window, renewAt, random()), askAt: now() + waitMs };
    } catch (error) {
      if (!(error instanceof AcmeFault) || signal.aborted) throw error;
      log.warn({ type: error.type, detail: error.message }, 'the authority gave no advice about a renewal');
      return { renewAt, askAt: now() + LEAST_ASK_MS };
    }
  }

  async #request(state: CertificateState, names: readonly string[], holding: Holding): Promise<void> {
    const { store, now, random, log, meter, obtained } = this.#options;
    const { lease, client, signal } = holding;
    const { domain } = state;
    try {
      const publish = async (token: string, authorization: string) =>
        assertHeld(await store.publish(lease, token, authorization));
      const certificate = await client.certificate(names, { publish, replaces: state.renewalId, signal });
      if (client.account !== undefined && client.account !== lease.account)
        await store.keepAccount(lease, client.account);
      const renewAt = renewalTime(certificate, random());
      // A certificate that is old already (the authority's clock differs) is not requested again and again.
      const nextAt = Math.max(now() + HOUR_MS, Math.min(renewAt, lookAt({ domain }, names, now())));
      assertHeld(await store.keep(lease, domain, { ...certificate, renewAt, askAt: now() + LEAST_ASK_MS, nextAt }));
      meter?.requested('obtained');
      log.info({ names, notAfter: new Date(certificate.notAfter), renewAt: new Date(renewAt) }, 'certificate obtained');
      obtained();
    } catch (error) {
      if (!(error instanceof AcmeFault) || signal.aborted) throw error;
      meter?.requested('failed');
      const retryMs = retryDelay(state.failures + 1, error.retryAfterMs, random());
      const { type, message: detail } = error;
      log.warn({ names, type, detail, retryMs, hasOld: state.notAfter !== undefined }, 'no certificate');
      assertHeld(await store.failed(lease, domain, { type, detail, tried: names, nextAt: now() + retryMs }));
      if (error.isOfServer) throw error;
    }
  }

  async #schedule(
    { lease }: Holding,
    { domain }: CertificateState,
    times: Parameters<CertificateStore['schedule']>[2],
  ): Promise<void> {
    assertHeld(await this.#options.store.schedule(lease, domain, times));
  }
}

/** When the names of the certificate are looked up again. */
function lookAt({ domain }: Pick<CertificateState, 'domain'>, names: readonly string[], now: number): number {
  const isComplete = domain === undefined || names.length === DOMAIN_PREFIXES.length;
  return now + (isComplete ? COMPLETE_MS : INCOMPLETE_MS);
}

/** A domain that was removed meanwhile ends the run as well; the next one does not see it. */
function assertHeld(isHeld: boolean): void {
  if (!isHeld) throw new LeaseLost();
}
