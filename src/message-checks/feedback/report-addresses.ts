// The `rua` of a DMARC record (RFC 7489 §6.2, RFC 9990) and of a TLSRPT record (RFC 8460 §3): where a domain wants reports.

/** A place for reports. */
export interface ReportTarget {
  /** As the record has it, without the size. */
  readonly uri: string;
  /** The address of a `mailto:` URI; undefined for another one. */
  readonly address: string | undefined;
  /** The largest message that it takes, in octets; undefined without a limit. */
  readonly most: number | undefined;
}

const RECORD = /^\s*v\s*=\s*(?:DMARC1|TLSRPTv1)\s*(?:;|$)/i;
const MOST_URIS = 20;
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** `records`: the texts at the name; those that are no record are passed over. A name with several records has none. */
export function reportAddresses(records: readonly string[]): readonly ReportTarget[] {
  const [record, ...others] = records.filter((text) => RECORD.test(text));
  if (record === undefined || others.length > 0) return [];
  const rua = record
    .split(';')
    .map((tag) => /^\s*rua\s*=(.*)$/is.exec(tag)?.[1])
    .find((value) => value !== undefined);
  return (rua ?? '')
    .split(',', MOST_URIS)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(targetOf);
}

function targetOf(text: string): ReportTarget {
  // A literal `!` is encoded (RFC 7489 §6.2).
  const [, uri = '', number, unit = ''] = /^(.*?)(?:!(\d{1,12})([kmgt]?))?$/is.exec(text)!;
  const most = number === undefined ? undefined : Number(number) * UNITS[unit.toLowerCase()]!;
  const mailto = /^mailto:([^?]+)/i.exec(uri)?.[1];
  return { uri, address: mailto === undefined ? undefined : decoded(mailto), most };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
