// DKIM signatures of outgoing mail (RFC 6376, RFC 8463): an RSA one and an Ed25519 one, as far as the author's domain has keys. The message
// is read once, piece by piece; signing runs outside of the event loop. mailauth writes and canonicalizes the fields. This file chooses the
// signed fields, with more instances than the header has, so that nobody can add one without breaking the signature.
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { generateCanonicalizedHeader } from 'mailauth/lib/dkim/header/index.js';
import type { Field } from 'mailauth/lib/tools.js';
import { lruCache } from '../../concurrency/lru-cache.js';
import type { Sign } from '../../mail-format/authentication/authentication.js';
import { CanonicalBody } from '../../mail-format/authentication/body-canonicalization.js';
import { readDkimKey } from '../../mail-format/authentication/dkim-key.js';
import { HeaderCollector } from '../../mail-format/header/header-collector.js';
import { headerLines } from '../../mail-format/header/header-lines.js';
import type { SigningKey, SigningKeyStore } from '../../store/signing-keys.js';
import { asField } from './fields.js';

export interface SignerOptions {
  readonly keys: Pick<SigningKeyStore, 'keysOf' | 'isHosted'>;
  /** The path of a PEM file: it signs for hosted domains that have no keys. */
  readonly fallback?: { readonly selector: string; readonly key: string } | undefined;
  readonly log: ErrorLog;
}

interface ErrorLog {
  error(data: Readonly<Record<string, unknown>>, message: string): void;
}

interface LoadedKey {
  readonly selector: string;
  readonly algorithm: 'rsa' | 'ed25519';
  readonly key: KeyObject;
}

const CANONICALIZATION = 'relaxed/relaxed';
/** The characters of a line of a signature. */
const LINE = 75;
/** New keys are used after this time at the latest. */
const REMEMBERED_MS = 10_000;
const REMEMBERED = 1000;
/** The number of messages and domains whose signatures are kept while the keys are remembered: one message often goes to many domains. */
const KEPT = 1000;
/** These fields are signed as often as they are present, and once more. */
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
/** These fields are signed when they are present; forwarding hosts add some of them. */
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

/** The signed fields in their order, by their names in lower case. */
const SIGNED_NAMES = new Map([...OVERSIGNED, ...SIGNED].map((name) => [name.toLowerCase(), name]));

const signAside = promisify(sign) as (algorithm: string | null, data: Buffer, key: KeyObject) => Promise<Buffer>;

/** @throws Error when the fallback file holds no usable key */
export function createSigner({ keys, fallback, log }: SignerOptions): Sign {
  const remembered = lruCache<string, readonly LoadedKey[]>(REMEMBERED, {
    ttl: REMEMBERED_MS,
    fetchMethod: (domain) => load(domain),
  });
  const kept = lruCache<string, { readonly by: readonly LoadedKey[]; readonly fields: Promise<string> }>(KEPT, {});
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

  return async (name, open, hash) => {
    const domain = name.toLowerCase();
    const loaded = (await remembered.fetch(domain)) ?? [];
    if (loaded.length === 0) return '';
    const of = `${hash} ${domain}`;
    const known = kept.get(of);
    if (known?.by === loaded) return known.fields;
    const fields = signatures(domain, loaded, open());
    const made = { by: loaded, fields };
    kept.set(of, made);
    fields.catch(() => kept.peek(of) === made && kept.delete(of));
    return fields;
  };
}

type Message = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

async function signatures(domain: string, keys: readonly LoadedKey[], message: Message): Promise<string> {
  const { header, bodyHash } = await read(message);
  const fields = await Promise.all(keys.map((key) => signature(domain, key, header, bodyHash)));
  return fields.join('');
}

function loadOwn({ domain, selector, algorithm, privateKey }: SigningKey, log: ErrorLog): LoadedKey[] {
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

async function read(message: Message) {
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

async function signature(domain: string, key: LoadedKey, header: Buffer, bodyHash: string): Promise<string> {
  const isRsa = key.algorithm === 'rsa';
  const algorithm = `${key.algorithm}-sha256`;
  const { canonicalizedHeader, signatureHeaderLine } = generateCanonicalizedHeader('DKIM', signed(header), {
    algorithm,
    canonicalization: CANONICALIZATION,
    signingDomain: domain,
    selector: key.selector,
    bodyHash,
    signTime: new Date(),
  });
  // RFC 8463 §3: Ed25519 signs the hash.
  const data = isRsa ? canonicalizedHeader : createHash('sha256').update(canonicalizedHeader).digest();
  const octets = await signAside(isRsa ? 'sha256' : null, data, key.key);
  return `${withSignature(signatureHeaderLine, octets.toString('base64'))}\r\n`;
}

/** `line` is canonicalized and has any value in its last tag, `b`: RFC 6376 §3.7 excludes that value from the signed data. */
function withSignature(line: string, value: string): string {
  const tag = `b=${value}`;
  const lines = [];
  for (let at = 0; at < tag.length; at += LINE) lines.push(tag.slice(at, at + LINE));
  return line.slice(0, line.lastIndexOf('b=')) + lines.join('\r\n ');
}

/** Among fields with one name the last comes first (RFC 6376 §5.4.2). */
function signed(header: Buffer) {
  const names: string[] = [];
  const headers: Field[] = [];
  const fields = new Map<string, Field[]>();
  for (const line of headerLines(header)) {
    if (!SIGNED_NAMES.has(line.name)) continue;
    const others = fields.get(line.name);
    if (others === undefined) fields.set(line.name, [asField(line)]);
    else others.push(asField(line));
  }
  for (const [key, name] of SIGNED_NAMES) {
    for (const field of fields.get(key)?.reverse() ?? []) {
      headers.push(field);
      names.push(name);
    }
    if (OVERSIGNED.includes(name)) names.push(name);
  }
  return { keys: names.join(': '), headers };
}
