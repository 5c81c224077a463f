// DKIM signatures of outgoing mail (RFC 6376, RFC 8463): an RSA and an Ed25519 one, as the author's domain has keys. The
// message is read once, piece by piece; signing is done outside of the event loop. More instances of a field are signed than
// there are, so that none can be added unseen.
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Sign } from '../mail/authentication.js';
import { CanonicalBody } from '../mail/body-canonicalization.js';
import { readDkimKey } from '../mail/dkim-key.js';
import { HeaderCollector } from '../mail/header-collector.js';
import { type HeaderLine, headerLines } from '../mail/header-lines.js';
import type { SigningKey, SigningKeyStore } from '../store/signing-keys.js';

export interface SignerOptions {
  readonly keys: SigningKeyStore;
  /** Path of a PEM file: signs for hosted domains that have no keys. */
  readonly fallback?: { readonly selector: string; readonly key: string } | undefined;
  readonly log: Logger;
}

interface LoadedKey {
  readonly selector: string;
  readonly algorithm: 'rsa' | 'ed25519';
  readonly key: KeyObject;
}

/** New keys are used within this time. */
const REMEMBERED_MS = 10_000;
const REMEMBERED = 1000;
/** Signed as often as they are there, and once more. */
const OVERSIGNED = [
  'From',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'Cc',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
];
/** Signed when they are there; those that hand the message on add some. */
const SIGNED = [
  'Sender',
  'Resent-From',
  'Resent-Sender',
  'Resent-To',
  'Resent-Cc',
  'Resent-Date',
  'Resent-Message-ID',
  'Content-ID',
  'Content-Description',
  'List-Id',
  'List-Help',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Subscribe',
  'List-Post',
  'List-Owner',
  'List-Archive',
];

/** Characters of a line of the signature (RFC 5322 §2.1.1), its tab left out. */
const LINE = 72;

const SIGNABLE = [...OVERSIGNED, ...SIGNED].map((name) => {
  return { name, key: name.toLowerCase(), isOversigned: OVERSIGNED.includes(name) };
});

const signAside = promisify(sign) as (algorithm: string | null, data: Buffer, key: KeyObject) => Promise<Buffer>;

/** @throws Error when the fallback's file holds no key that will do */
export function createSigner({ keys, fallback, log }: SignerOptions): Sign {
  const remembered = new LRUCache<string, readonly LoadedKey[]>({
    max: REMEMBERED,
    ttl: REMEMBERED_MS,
    fetchMethod: (domain) => load(domain),
  });
  let lastFallback = fallback && loadFallback(fallback);

  async function load(domain: string): Promise<readonly LoadedKey[]> {
    const own = (await keys.keysOf(domain)).flatMap((key) => loadOwn(key, log));
    if (own.length > 0) return own.sort((a, b) => (a.algorithm > b.algorithm ? -1 : 1));
    if (fallback === undefined || lastFallback === undefined || !(await keys.isHosted(domain))) return [];
    try {
      lastFallback = loadFallback(fallback);
    } catch (error) {
      log.error({ err: error }, 'the default signing key cannot be used any more, keeping the one before');
    }
    return [lastFallback];
  }

  return async (name, open) => {
    const domain = name.toLowerCase();
    const loaded = (await remembered.fetch(domain)) ?? [];
    if (loaded.length === 0) return '';
    const { header, bodyHash } = await read(open());
    const fields = signedFields(header);
    const lines = await Promise.all(loaded.map((key) => signature(domain, key, fields, bodyHash)));
    return lines.join('');
  };
}

function loadOwn({ domain, selector, algorithm, privateKey }: SigningKey, log: Logger): LoadedKey[] {
  try {
    return [{ selector, algorithm, key: createPrivateKey(privateKey) }];
  } catch (error) {
    log.error({ domain, selector, err: error }, 'a signing key cannot be used');
    return [];
  }
}

function loadFallback({ selector, key: path }: { readonly selector: string; readonly key: string }): LoadedKey {
  const { algorithm, privateKey } = readDkimKey(readFileSync(path, 'utf8'));
  return { selector, algorithm, key: createPrivateKey(privateKey) };
}

async function read(message: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const collector = new HeaderCollector();
  const hash = createHash('sha256');
  const body = new CanonicalBody('relaxed', (octets) => hash.update(octets));
  let inBody = false;
  for await (const piece of message) {
    const octets = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const rest: Buffer | undefined = inBody ? octets : collector.push(octets);
    inBody = rest !== undefined;
    if (rest !== undefined) body.write(rest);
  }
  body.finish();
  return { header: collector.header(), bodyHash: hash.digest('base64') };
}

interface SignedFields {
  readonly names: readonly string[];
  /** One character an octet. */
  readonly canonical: string;
}

async function signature(domain: string, key: LoadedKey, fields: SignedFields, bodyHash: string): Promise<string> {
  const { selector, algorithm } = key;
  const value = [
    ` v=1; a=${algorithm}-sha256; c=relaxed/relaxed; t=${Math.floor(Date.now() / 1000)};`,
    `d=${asciiOf(domain)}; s=${asciiOf(selector)};`,
    `h=${inLines(fields.names)};`,
    `bh=${bodyHash};`,
    'b=',
  ].join('\r\n\t');
  const octets = Buffer.from(`${fields.canonical}${relaxed('dkim-signature', value)}`, 'latin1');
  // RFC 8463 §3: the hash is what is signed.
  const signed =
    algorithm === 'rsa'
      ? await signAside('rsa-sha256', octets, key.key)
      : await signAside(null, createHash('sha256').update(octets).digest(), key.key);
  const lines = signed.toString('base64').match(LINES)!;
  return `DKIM-Signature:${value}${lines.join('\r\n\t')}\r\n`;
}

const LINES = new RegExp(`.{1,${LINE}}`, 'g');

/** Of fields with one name the last comes first (RFC 6376 §5.4.2). */
function signedFields(header: Buffer): SignedFields {
  const byName = new Map<string, HeaderLine[]>();
  for (const line of headerLines(header)) {
    const others = byName.get(line.name);
    if (others === undefined) byName.set(line.name, [line]);
    else others.unshift(line);
  }
  const names: string[] = [];
  let canonical = '';
  for (const { name, key, isOversigned } of SIGNABLE) {
    for (const { raw } of byName.get(key) ?? []) {
      names.push(name);
      canonical += `${relaxed(key, raw.slice(raw.indexOf(':') + 1))}\r\n`;
    }
    if (isOversigned) names.push(name);
  }
  return { names, canonical };
}

/** RFC 6376 §3.4.2. `name`: in lower case. */
function relaxed(name: string, folded: string): string {
  const unfolded = folded.includes('\n') ? folded.replace(/\r?\n/g, '') : folded;
  const value = unfolded.replace(/[\t ]{2,}|\t/g, ' ');
  return `${name}:${value.replace(/^ | $/g, '')}`;
}

/** A list of names in lines. */
function inLines(names: readonly string[]): string {
  let text = '';
  let width = 0;
  for (const name of names) {
    width += name.length + 1;
    if (width > LINE) {
      text += '\r\n\t';
      width = name.length + 1;
    }
    text += `${name}:`;
  }
  return text.slice(0, -1);
}

function asciiOf(name: string): string {
  return domainToASCII(name) || name;
}
