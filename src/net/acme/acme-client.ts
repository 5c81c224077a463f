// The client of an ACME server (RFC 8555): an account, an order, the proof that the names are ours (HTTP-01), and the certificate. Every request
// has a deadline and so has every order; a refused nonce is replaced a limited number of times. The store keeps what has to last.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterMs } from '../http-client/retry-after.js';
import { readChain } from '../tcp/certificate-chain.js';
import type { AccountKey } from './account-key.js';
import { AcmeFault } from './acme-fault.js';
import {
  type AcmeDirectory,
  type Authorization,
  authorizationOf,
  type Challenge,
  directoryOf,
  fieldsOf,
  type Order,
  orderOf,
  problemFault,
  type RenewalWindow,
  windowOf,
} from './acme-objects.js';
import { type AcmeReply, type AcmeRequest, acmeRequest } from './acme-request.js';

export interface AcmeLimits {
  /** The time for one request. */
  readonly requestMs: number;
  /** The time for one order: validation takes seconds, or minutes when the authority is busy. */
  readonly orderMs: number;
  /** The shortest and longest pause between two looks at what the server decides. */
  readonly pollMs: number;
  readonly longestPollMs: number;
  /** How often a request is repeated because its nonce was refused. */
  readonly nonces: number;
}

const LIMITS: AcmeLimits = { requestMs: 15_000, orderMs: 180_000, pollMs: 250, longestPollMs: 10_000, nonces: 20 };

export interface AcmeClientOptions {
  readonly directory: string;
  readonly key: AccountKey;
  /** The address for messages of the authority. */
  readonly email?: string | undefined;
  /** PEM of the authorities that may sign the server's certificate; absent: those of Node.js. */
  readonly ca?: string | undefined;
  readonly limits?: Partial<AcmeLimits>;
}

/** The name is proved by serving `authorization` for `token`. */
export type Publish = (token: string, authorization: string) => Promise<void>;

export interface NewCertificate {
  readonly names: readonly string[];
  /** PEM: the leaf first, then its chain. */
  readonly chain: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** ms since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Names the certificate to the server when it is asked about the renewal. */
  readonly renewalId: string | undefined;
}

interface Ordering {
  readonly publish: Publish;
  /** The `renewalId` of the certificate that this one replaces. */
  readonly replaces?: string | undefined;
  readonly signal: AbortSignal;
}

const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce';
const NO_ACCOUNT = 'urn:ietf:params:acme:error:accountDoesNotExist';
/**
 * The server does not take `replaces`: another order has replaced the certificate (RFC 9773 §5), or the server does not know it, because it
 * has lost its data or has a new issuer.
 */
const NOT_REPLACEABLE = ['alreadyReplaced', 'malformed'].map((type) => `urn:ietf:params:acme:error:${type}`);
const PEM_CHAIN = 'application/pem-certificate-chain';

export class AcmeClient {
  readonly #options: AcmeClientOptions;
  readonly #limits: AcmeLimits;
  readonly #nonces: string[] = [];
  #known: AcmeDirectory | undefined;
  #account: string | undefined;

  constructor(options: AcmeClientOptions, account?: string) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#account = account;
  }

  /** The URL of the account; undefined before it is registered. */
  get account(): string | undefined {
    return this.#account;
  }

  /** Creates the account, or finds that of the key; returns its URL. @throws AcmeFault */
  async register(signal: AbortSignal): Promise<string> {
    const { email } = this.#options;
    const { newAccount } = await this.#directory(signal);
    this.#account = undefined;
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] };
    const reply = await this.#post(newAccount, { termsOfServiceAgreed: true, ...contact }, signal);
    const { location } = reply.headers;
    if (location === undefined) throw new AcmeFault('reply', 'the server gave the account no URL');
    this.#account = location;
    return location;
  }

  /** When the authority wants the certificate to be renewed, and after which time it may be asked again; undefined when it offers no advice. @throws AcmeFault */
  async renewalWindow(
    renewalId: string,
    signal: AbortSignal,
  ): Promise<{ readonly window: RenewalWindow; readonly askAgainMs: number | undefined } | undefined> {
    const { renewalInfo } = await this.#directory(signal);
    if (renewalInfo === undefined) return undefined;
    const reply = await this.#request({ method: 'GET', url: `${renewalInfo}/${renewalId}` }, signal);
    if (reply.status !== 200) throw faultOf(reply, `the status of renewalInfo is ${reply.status}`);
    return { window: windowOf(reply), askAgainMs: waitOf(reply) };
  }

  /** @throws AcmeFault */
  async certificate(names: readonly string[], { publish, replaces, signal }: Ordering): Promise<NewCertificate> {
    const { orderMs } = this.#limits;
    const over = AbortSignal.timeout(orderMs);
    const until = AbortSignal.any([signal, over]);
    const ordering = { publish, replaces, signal: until };
    try {
      if (this.#account === undefined) await this.register(until);
      return await this.#ordered(names, ordering).catch(async (error) => {
        if (!(error instanceof AcmeFault && error.type === NO_ACCOUNT)) throw error;
        // The authority has lost the account; that of the key is made again.
        await this.register(until);
        return this.#ordered(names, ordering);
      });
    } catch (error) {
      if (!over.aborted || signal.aborted) throw error;
      throw new AcmeFault('timeout', `no certificate within ${orderMs / 1000} s`, { cause: error });
    }
  }

  async #ordered(names: readonly string[], { publish, replaces, signal }: Ordering): Promise<NewCertificate> {
    const created = await this.#newOrder(names, replaces, signal);
    const { location } = created.headers;
    if (location === undefined) throw new AcmeFault('reply', 'the server gave the order no URL');
    const begun = orderOf(created);
    // One after the other, so that a failure leaves few challenges open.
    for (const url of begun.authorizations) await this.#authorize(url, publish, signal);
    const { certificateRequest, renewalIdOf } = await import('./certificate-request.js');
    const { der, privateKey } = await certificateRequest(names);
    let order = await this.#decided(location, signal, orderOf, ({ status }) => status !== 'pending');
    if (order.status === 'ready') {
      await this.#post(begun.finalize, { csr: der.toString('base64url') }, signal);
      order = await this.#decided(
        location,
        signal,
        orderOf,
        ({ status }) => status !== 'processing' && status !== 'ready',
      );
    }
    if (order.status !== 'valid' || order.certificate === undefined) throw orderFault(order);
    const reply = await this.#post(order.certificate, undefined, signal, PEM_CHAIN);
    const chain = chainOf(reply);
    return { ...checked(chain, privateKey, names), renewalId: renewalIdOf(chain) };
  }

  async #newOrder(names: readonly string[], replaces: string | undefined, signal: AbortSignal): Promise<AcmeReply> {
    const { newOrder, renewalInfo } = await this.#directory(signal);
    const identifiers = names.map((value) => ({ type: 'dns', value }));
    if (replaces === undefined || renewalInfo === undefined) return this.#post(newOrder, { identifiers }, signal);
    try {
      return await this.#post(newOrder, { identifiers, replaces }, signal);
    } catch (error) {
      if (error instanceof AcmeFault && NOT_REPLACEABLE.includes(error.type))
        return this.#post(newOrder, { identifiers }, signal);
      throw error;
    }
  }

  /** Proves one name. @throws AcmeFault with the reason of the authority */
  async #authorize(url: string, publish: Publish, signal: AbortSignal): Promise<void> {
    const authorization = authorizationOf(await this.#post(url, undefined, signal));
    if (authorization.status === 'valid') return;
    const challenge = http01(authorization);
    await publish(challenge.token, this.#options.key.authorization(challenge.token));
    await this.#post(challenge.url, {}, signal);
    const decided = await this.#decided(url, signal, authorizationOf, ({ status }) => status !== 'pending');
    if (decided.status === 'valid') return;
    const { error } = decided.challenges.find(({ type }) => type === 'http-01') ?? {};
    const what = `the proof for ${decided.name} is ${decided.status}`;
    const fault = problemFault(error, what);
    throw new AcmeFault(
      fault.type,
      fault.message.includes(decided.name) ? fault.message : `${decided.name}: ${fault.message}`,
    );
  }

  /** Looks until the server has decided; the deadline of the order ends the wait. */
  async #decided<T>(
    url: string,
    signal: AbortSignal,
    read: (reply: AcmeReply) => T,
    isDecided: (value: T) => boolean,
  ): Promise<T> {
    const { pollMs, longestPollMs } = this.#limits;
    for (let waitMs = pollMs; ; waitMs = Math.min(2 * waitMs, longestPollMs)) {
      const reply = await this.#post(url, undefined, signal);
      const value = read(reply);
      if (isDecided(value)) return value;
      await paused(Math.min(longestPollMs, waitOf(reply) ?? waitMs), signal);
    }
  }

  async #directory(signal: AbortSignal): Promise<AcmeDirectory> {
    if (this.#known === undefined) {
      const reply = await this.#request({ method: 'GET', url: this.#options.directory }, signal);
      if (reply.status !== 200) throw faultOf(reply, `the status of the directory is ${reply.status}`);
      this.#known = directoryOf(reply);
    }
    return this.#known;
  }

  /** Sends a signed request, with another nonce when one is refused. @throws AcmeFault for a status of failure */
  async #post(
    url: string,
    payload: object | undefined,
    signal: AbortSignal,
    accept = 'application/json',
  ): Promise<AcmeReply> {
    const { key } = this.#options;
    for (let refused = 0; ; refused++) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce(signal));
      const body = await key.sign(payload, { nonce, url, account: this.#account });
      const headers = { 'content-type': 'application/jose+json', accept };
      const reply = await this.#request({ method: 'POST', url, headers, body }, signal);
      this.#keepNonce(reply);
      if (reply.status >= 200 && reply.status < 300) return reply;
      const fault = faultOf(reply, `the status of ${new URL(url).pathname} is ${reply.status}`);
      if (fault.type !== BAD_NONCE || refused >= this.#limits.nonces) throw fault;
    }
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.#directory(signal);
    const reply = await this.#request({ method: 'HEAD', url: newNonce }, signal);
    const nonce = nonceOf(reply);
    if (nonce === undefined) throw new AcmeFault('reply', 'the server gave no nonce');
    return nonce;
  }

  #keepNonce(reply: AcmeReply): void {
    const nonce = nonceOf(reply);
    if (nonce !== undefined && this.#nonces.length === 0) this.#nonces.push(nonce);
  }

  #request(request: Omit<AcmeRequest, 'ca' | 'timeoutMs' | 'signal'>, signal: AbortSignal): Promise<AcmeReply> {
    return acmeRequest({ ...request, ca: this.#options.ca, timeoutMs: this.#limits.requestMs, signal });
  }
}

function nonceOf({ headers }: AcmeReply): string | undefined {
  const nonce = headers['replay-nonce'];
  return typeof nonce === 'string' && /^[\w-]{1,512}$/.test(nonce) ? nonce : undefined;
}

function waitOf({ headers }: AcmeReply): number | undefined {
  return retryAfterMs({ headers: { 'retry-after': headers['retry-after'] ?? '' } }, Date.now());
}

function faultOf(reply: AcmeReply, what: string): AcmeFault {
  let problem: unknown;
  try {
    problem = fieldsOf(reply);
  } catch {
    problem = undefined;
  }
  return problemFault(problem, what, waitOf(reply));
}

function orderFault({ status, error }: Order): AcmeFault {
  return problemFault(error, `the order is ${status}`);
}

function http01({ name, status, challenges }: Authorization): Challenge {
  const found = challenges.find(({ type }) => type === 'http-01');
  if (status !== 'pending' || found === undefined)
    throw new AcmeFault('reply', `the server offers no proof by HTTP for ${name} (${status})`);
  return found;
}

function chainOf({ headers, body }: AcmeReply): string {
  if (!(headers['content-type'] ?? '').toLowerCase().startsWith(PEM_CHAIN))
    throw new AcmeFault('reply', `the certificate is ${headers['content-type'] ?? 'of no type'}, not ${PEM_CHAIN}`);
  return body.toString('latin1');
}

/** @throws AcmeFault when the certificate is not the one that was requested */
function checked(chain: string, privateKey: string, names: readonly string[]): Omit<NewCertificate, 'renewalId'> {
  let leaf: X509Certificate;
  try {
    readChain(chain);
    leaf = new X509Certificate(chain);
  } catch (cause) {
    throw new AcmeFault('reply', 'the certificate cannot be read', { cause });
  }
  const missing = names.filter((name) => leaf.checkHost(name) === undefined);
  if (missing.length > 0) throw new AcmeFault('reply', `the certificate is not for ${missing.join(', ')}`);
  if (!leaf.checkPrivateKey(createPrivateKey(privateKey)))
    throw new AcmeFault('reply', 'the certificate is for another key');
  return { names, chain, privateKey, notBefore: Date.parse(leaf.validFrom), notAfter: Date.parse(leaf.validTo) };
}

async function paused(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (cause) {
    throw new AcmeFault('aborted', 'the request was given up', { cause });
  }
}
