// The records of one hosted domain with its keys: what `mansio domain` prints and `mansio doctor` compares with DNS.
import { type DkimKey, dkimRecord, dkimRecordName } from '../../mail-format/authentication/dkim-key.js';
import type { SigningKey } from '../../store/signing-keys.js';
import { type DnsPlan, type DnsRecord, dnsPlan, type PublicEndpoints } from './dns-records.js';

/** A signing key in its public form. */
interface PublishedKey {
  readonly selector: string;
  readonly algorithm: SigningKey['algorithm'];
  readonly record: DnsRecord;
}

/** The settings on which the records of every domain depend. */
export interface RecordSettings {
  readonly endpoints: PublicEndpoints;
  /** The key of MANSIO_DKIM_KEY. */
  readonly fallback: (DkimKey & { readonly selector: string }) | undefined;
}

export interface DomainRecords extends DnsPlan {
  readonly dkim: readonly PublishedKey[];
}

/** Returns the keys that sign mail of the domain: its own, else the default key. `keys` has those of all domains. */
export function signingKeysFor(
  domain: string,
  keys: readonly SigningKey[],
  fallback: RecordSettings['fallback'],
): readonly SigningKey[] {
  const own = keys.filter((key) => key.domain === domain);
  return own.length > 0 || fallback === undefined ? own : [{ domain, ...fallback }];
}

/** `keys`: those of all domains. */
export function domainRecords(
  domain: string,
  keys: readonly SigningKey[],
  { endpoints, fallback }: RecordSettings,
): DomainRecords {
  const dkim = signingKeysFor(domain, keys, fallback).map(published);
  const plan = dnsPlan(
    domain,
    dkim.map(({ record }) => record),
    endpoints,
  );
  return { dkim, ...plan };
}

function published(key: SigningKey): PublishedKey {
  const { domain, selector, algorithm } = key;
  return {
    selector,
    algorithm,
    record: { name: dkimRecordName(domain, selector), type: 'TXT', value: dkimRecord(key) },
  };
}
