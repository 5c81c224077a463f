// A DMARC Policy Record as its owner published it (RFC 9989 §4.7). Unknown tags are ignored, including the obsolete ones of RFC 7489
// (`pct`, `rf`, `ri`); if a tag is repeated, the first one counts.

export type Policy = 'none' | 'quarantine' | 'reject';

export interface DmarcRecord {
  /** The policy for the domain of the record; undefined when the record must not be applied to any message (§4.10.1). */
  readonly policy: Policy | undefined;
  /** `sp`: the policy for subdomains that exist. */
  readonly ofSubdomains: Policy | undefined;
  /** `np`: the policy for subdomains that do not exist. */
  readonly ofMissing: Policy | undefined;
  /** `t=y`: the owner is testing the policy. */
  readonly isTest: boolean;
  readonly isStrict: { readonly dkim: boolean; readonly spf: boolean };
  /** `rua` has a URI: the owner wants reports. */
  readonly wantsReports: boolean;
  /** `y`: the domain is a public suffix; `n`: it is an organizational domain; `u`: the record does not say. */
  readonly psd: 'y' | 'n' | 'u';
}

/** Only the version is case-sensitive. */
const VERSION = /^\s*[vV]\s*=\s*DMARC1\s*(?:;|$)/;
const URI = /^[a-z][a-z0-9+.-]*:\S/i;
const MOST_TAGS = 50;

/** Returns undefined when the text is not a DMARC record. */
export function dmarcRecord(text: string): DmarcRecord | undefined {
  if (!VERSION.test(text)) return undefined;
  const tags = new Map<string, string>();
  for (const part of text.split(';', MOST_TAGS)) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(0, equals)).trim().toLowerCase();
    if (!tags.has(name)) tags.set(name, part.slice(equals + 1).trim());
  }
  const is = (name: string, value: string) => tags.get(name)?.toLowerCase() === value;
  const policies = ['p', 'sp', 'np'].map((name) => policyOf(tags.get(name)));
  const isValid = policies[0] !== undefined && ['sp', 'np'].every((name, i) => !tags.has(name) || policies[i + 1]);
  const wantsReports = (tags.get('rua') ?? '').split(',').some((uri) => URI.test(uri.trim()));
  const [policy, ofSubdomains, ofMissing] = isValid ? policies : [wantsReports ? ('none' as const) : undefined];
  return {
    policy,
    ofSubdomains,
    ofMissing,
    isTest: is('t', 'y'),
    isStrict: { dkim: is('adkim', 's'), spf: is('aspf', 's') },
    wantsReports,
    psd: is('psd', 'y') ? 'y' : is('psd', 'n') ? 'n' : 'u',
  };
}

function policyOf(value: string | undefined): Policy | undefined {
  const policy = value?.toLowerCase();
  return policy === 'none' || policy === 'quarantine' || policy === 'reject' ? policy : undefined;
}
