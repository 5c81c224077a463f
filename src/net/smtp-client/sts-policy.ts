// The texts of MTA-STS: the TXT record that announces a policy (RFC 8461 §3.1), the policy (§3.2), and which hosts it allows (§4.1).
// mailauth's parser uses the last of repeated fields and lets a wildcard match several labels; the RFC requires the first field and one
// label.
import type { StsPolicy } from '../../store/sts-policies.js';

/** A fetched policy, without the id that announced it. */
export interface StsText extends Pick<StsPolicy, 'mode' | 'mx'> {
  /** In ms. */
  readonly maxAge: number;
}

const RECORD = /^v=STSv1\s*;/;
const ID = /^[A-Za-z0-9]{1,32}$/;
const MODE = /^(?:enforce|testing|none)$/;
const MX = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** One year (RFC 8461 §3.2). */
const LONGEST_AGE_S = 31_557_600;
const MOST_MX = 1_000;

/** Returns the id of the only record; undefined when there is no valid record, or more than one. */
export function stsId(records: readonly (readonly string[])[]): string | undefined {
  const texts = records.map((strings) => strings.join('')).filter((text) => RECORD.test(text));
  if (texts.length !== 1) return undefined;
  for (const field of texts[0]!.split(';')) {
    const [name = '', value = ''] = field.split('=', 2);
    if (name.trim() === 'id') return ID.test(value.trim()) ? value.trim() : undefined;
  }
  return undefined;
}

/** Returns undefined when the text is not a valid policy. */
export function parseStsPolicy(text: string): StsText | undefined {
  const fields = new Map<string, string>();
  const mx = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value = ''] = /^([a-zA-Z0-9_.-]{1,32}):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) {
      if (line.trim() !== '') return undefined;
    } else if (name === 'mx') mx.add(value.toLowerCase());
    else if (!fields.has(name)) fields.set(name, value);
  }
  const mode = fields.get('mode') ?? '';
  const age = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1' || !MODE.test(mode) || !/^\d{1,10}$/.test(age)) return undefined;
  if (mx.size > MOST_MX || ![...mx].every((pattern) => MX.test(pattern))) return undefined;
  if (mode !== 'none' && mx.size === 0) return undefined;
  return {
    mode: mode as StsPolicy['mode'],
    mx: [...mx],
    maxAge: Math.min(Number(age), LONGEST_AGE_S) * 1000,
  };
}

/** `host` is in lower case without a final dot. */
export function allowsHost({ mx }: Pick<StsPolicy, 'mx'>, host: string): boolean {
  const parent = host.slice(host.indexOf('.') + 1);
  return mx.some((pattern) =>
    pattern.startsWith('*.') ? host.includes('.') && pattern.slice(2) === parent : pattern === host,
  );
}
