// Finds out where a message comes from: SPF, DKIM, DMARC and ARC of incoming mail (RFC 7208, 6376, 9989, 8617), reported in an
// Authentication-Results field (RFC 8601). The look-ups begin with the header, and the body is hashed while it arrives. The results
// reject no mail: src/message-checks/dmarc-check.ts decides what follows from a policy that fails.
import { createHash, type Hash } from 'node:crypto';
import type { Field } from 'mailauth/lib/tools.js';
import type { Logger } from 'pino';
import type {
  Authenticate,
  Authenticated,
  Authentication,
  DmarcEvaluation,
  Origin,
} from '../../mail-format/authentication/authentication.js';
import { authenticationResults, type MethodResult } from '../../mail-format/authentication/authentication-results.js';
import { authorDomain } from '../../mail-format/authentication/author-domain.js';
import { type Authors, authorsOf } from '../../mail-format/authentication/author-domains.js';
import { type BodyCanonicalization, CanonicalBody } from '../../mail-format/authentication/body-canonicalization.js';
import { type HeaderLine, headerLines } from '../../mail-format/header/header-lines.js';
import type { Dns } from '../../net/dns/resolver.js';
import { type ArcFound, checkChain, findChain } from './arc.js';
import { Dmarc, type DmarcResult, type Identified, Walks } from './dmarc.js';
import { asField } from './fields.js';
import { Lookups } from './lookups.js';
import { type PublicKey, PublicKeys } from './public-keys.js';
import { readSignature, type Signature, type Unusable } from './signature.js';
import { checkSignature, keyName, type SignatureResult, type SignedMessage } from './signature-check.js';
import { Spf, type SpfResult } from './spf.js';

export interface AuthenticatorOptions {
  readonly dns: Dns;
  /** The name of this server, which the field names as its source. */
  readonly hostname: string;
  /** Whether mail without an author is refused: the domain of its envelope sender has no say then. */
  readonly rejectsAnonymous: boolean;
  readonly log: Logger;
  /** ms for all look-ups of one message. */
  readonly deadlineMs?: number;
  /** The most look-ups for one message. */
  readonly lookups?: number;
  /** The most DKIM signatures of one message that are verified. */
  readonly signatures?: number;
}

const DEADLINE_MS = 5_000;
/** The most look-ups of all checks together: 40 of DMARC, 60 of SPF, 8 keys, 63 of domains that may be aligned, 11 of ARC. */
const LOOKUPS = 182;
const SIGNATURES = 8;

/** The data that is remembered between messages. */
interface Known {
  readonly spf: Spf;
  readonly walks: Walks;
  readonly keys: PublicKeys;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const known: Known = { spf: new Spf(options.hostname), walks: new Walks(), keys: new PublicKeys() };
  return (origin, header) => new MessageAuthentication(options, known, origin, header);
}

class MessageAuthentication implements Authentication {
  readonly #options: AuthenticatorOptions;
  readonly #lines: readonly HeaderLine[];
  readonly #authors: Authors;
  readonly #lookups: Lookups;
  readonly #keys = new Map<Signature, Promise<PublicKey>>();
  readonly #spf: Promise<SpfResult>;
  readonly #dmarc: Dmarc;
  readonly #signatures: readonly (Signature | Unusable)[];
  readonly #arc: ArcFound;
  readonly #bodies = new Map<BodyCanonicalization, { readonly body: CanonicalBody; readonly hash: Hash }>();
  readonly #bodyHashes = new Map<BodyCanonicalization, string>();
  #fields: readonly Field[] = [];

  constructor(options: AuthenticatorOptions, known: Known, origin: Origin, header: Buffer) {
    const { dns, deadlineMs = DEADLINE_MS, lookups = LOOKUPS } = options;
    this.#options = options;
    this.#lines = headerLines(header);
    this.#authors = authorsOf(this.#lines);
    this.#lookups = new Lookups(dns, origin.remoteAddress, { deadlineMs, lookups });
    // The look-ups that decide the verdict come first; those that a peer can multiply come last.
    this.#dmarc = new Dmarc(this.#authors, known.walks, this.#lookups, this.#shownDomain(origin));
    this.#spf = known.spf.check(origin, this.#lookups);
    this.#signatures = this.#choose();
    this.#arc = findChain(this.#lines, this.#lookups);
    for (const signature of this.#signatures) if ('signature' in signature) this.#expect('DKIM', signature, known.keys);
    if (isChain(this.#arc)) this.#expect('ARC', this.#arc.signature, known.keys);
    void this.#spf.then(({ domain }) => this.#dmarc.expect(domain));
    for (const { domain } of this.#signatures) this.#dmarc.expect(domain);
  }

  /**
   * Returns the domain of the envelope sender when clients show it, because no field names an author or a sender. Returns undefined in
   * other cases, and if such a message is rejected.
   */
  #shownDomain({ sender }: Origin): string | undefined {
    const isAnonymous = this.#authors.fault === 'missing' && this.#lines.every(({ name }) => name !== 'sender');
    return isAnonymous && !this.#options.rejectsAnonymous ? authorDomain(sender) : undefined;
  }

  write(octets: Uint8Array): void {
    for (const { body } of this.#bodies.values()) body.write(octets);
  }

  async finish(): Promise<Authenticated> {
    try {
      return await this.#results();
    } catch (error) {
      // The cause is a bug or a message that triggers one. It tells nothing about the sender, so no result is reported.
      this.#options.log.error({ err: error }, 'a message could not be authenticated');
      return this.#resultOf([], [], []);
    } finally {
      this.#lookups.close();
    }
  }

  abandon(): void {
    this.#lookups.close();
  }

  /** Chooses a limited number of signatures; those of the author's domain come first. */
  #choose(): readonly (Signature | Unusable)[] {
    const lines = this.#lines.filter(({ name }) => name === 'dkim-signature');
    const { signatures: most = SIGNATURES } = this.#options;
    const read = lines.slice(0, 10 * most).map((line) => readSignature(line, 'DKIM'));
    const isAuthors = ({ domain }: { domain: string }) =>
      this.#authors.domains.some((author) => author === domain || author.endsWith(`.${domain}`));
    return [...read.filter(isAuthors), ...read.filter((each) => !isAuthors(each))].slice(0, most);
  }

  /** Starts the look-up of the signature's key before the body arrives, and prepares the hash of the body. */
  #expect(kind: 'DKIM' | 'ARC', signature: Signature, keys: PublicKeys): void {
    const key = keys.find(kind, keyName(signature), this.#lookups);
    key.catch(() => undefined);
    this.#keys.set(signature, key);
    const { bodyCanonicalization } = signature;
    if (this.#bodies.has(bodyCanonicalization)) return;
    const hash = createHash('sha256');
    const body = new CanonicalBody(bodyCanonicalization, (octets) => hash.update(octets));
    this.#bodies.set(bodyCanonicalization, { hash, body });
  }

  async #results(): Promise<Authenticated> {
    for (const [kind, { body, hash }] of this.#bodies) {
      body.finish();
      this.#bodyHashes.set(kind, hash.digest('base64'));
    }
    if (this.#bodies.size > 0) this.#fields = this.#lines.map((line) => asField(line));
    const dkim = await this.#verified();
    const spf = await this.#spf;
    const identified: Identified[] = [];
    for (const { method, domain, result } of [spf, ...dkim])
      if (result === 'pass' || result === 'temperror') identified.push({ method, domain, result });
    const dmarc = await this.#dmarc.judge(identified);
    const arc = await checkChain(this.#arc, await this.#chainSignature(), this.#lookups);
    const unsigned: MethodResult = { method: 'dkim', result: 'none' };
    const signed = dkim.length === 0 ? [unsigned] : dkim;
    const all = [spf, ...signed, ...dmarc, ...(arc === undefined ? [] : [arc])];
    const evaluation = await this.#dmarc.evaluation(identified);
    const result = this.#resultOf(all, dmarc, identified);
    return evaluation === undefined
      ? result
      : { ...result, evaluation: { ...evaluation, results: reported(spf, dkim) } };
  }

  #resultOf(
    results: readonly MethodResult[],
    dmarc: readonly DmarcResult[],
    identified: readonly Identified[],
  ): Authenticated {
    const { hostname } = this.#options;
    const summary: Record<string, string> = {};
    for (const { method, result } of results) summary[method] = summary[method] === 'pass' ? 'pass' : result;
    return {
      field: authenticationResults(hostname, results),
      failedPolicy: strictest(dmarc),
      summary,
      passed: identified.filter(({ result }) => result === 'pass').map(({ domain }) => domain.toLowerCase()),
    };
  }

  async #verified(): Promise<readonly (MethodResult & { readonly method: 'dkim'; readonly domain: string })[]> {
    return Promise.all(
      this.#signatures.map(async (each) => {
        const isReadable = 'signature' in each;
        const outcome: SignatureResult = isReadable
          ? await checkSignature('DKIM', each, this.#message(each))
          : { result: each.result, comment: each.reason };
        const named = [
          ['header.d', each.domain],
          ['header.s', each.selector],
        ] as const;
        // RFC 6008: these properties tell several signatures apart.
        const more = isReadable
          ? ([
              ['header.a', each.algorithm],
              ['header.b', each.signature.slice(0, 8)],
            ] as const)
          : [];
        return { method: 'dkim' as const, domain: each.domain, properties: [...named, ...more], ...outcome };
      }),
    );
  }

  async #chainSignature(): Promise<SignatureResult> {
    if (!isChain(this.#arc)) return { result: 'none' };
    const { signature } = this.#arc;
    return checkSignature('ARC', signature, this.#message(signature));
  }

  #message(signature: Signature): SignedMessage {
    const bodyHash = this.#bodyHashes.get(signature.bodyCanonicalization)!;
    return { key: this.#keys.get(signature)!, fields: this.#fields, bodyHash, now: Date.now() };
  }
}

/** The signatures of a message that a report names. */
const MOST_REPORTED = 3;

function reported(
  spf: SpfResult,
  dkim: readonly (MethodResult & { readonly domain: string })[],
): DmarcEvaluation['results'] {
  const property = ({ properties = [] }: MethodResult, name: string) => properties.find(([each]) => each === name)?.[1];
  const isHelo = property(spf, 'smtp.helo') !== undefined;
  const signatures = dkim.slice(0, MOST_REPORTED).map(({ domain, result, ...more }) => {
    const selector = property({ result, ...more }, 'header.s');
    return { method: 'dkim' as const, domain, result, ...(selector !== undefined && { selector }) };
  });
  return [...signatures, { method: 'spf', domain: spf.domain, result: spf.result, ...(isHelo && { isHelo }) }];
}

function strictest(dmarc: readonly DmarcResult[]): Authenticated['failedPolicy'] {
  if (dmarc.some(({ wanted }) => wanted === 'reject')) return 'reject';
  return dmarc.some(({ wanted }) => wanted === 'quarantine') ? 'quarantine' : 'none';
}

function isChain(found: ArcFound): found is Extract<ArcFound, { signature: Signature }> {
  return found !== 'none' && 'signature' in found;
}
