// Writes a DMARC aggregate report (RFC 7489 appendix C).
import type { DmarcCount } from '../../../store/feedback/own-reports.js';

interface DmarcReportHead {
  /** The name of this server. */
  readonly organization: string;
  /** The address of whoever sends the report. */
  readonly email: string;
  readonly reportId: string;
  /** In s since the epoch. */
  readonly begin: number;
  readonly end: number;
  /** As the record of the domain has it. */
  readonly policy: {
    readonly domain: string;
    readonly adkim: 'r' | 's';
    readonly aspf: 'r' | 's';
    readonly p: string;
    readonly sp: string;
  };
}

export function writeDmarcXml(head: DmarcReportHead, counts: readonly DmarcCount[]): string {
  const { organization, email, reportId, begin, end, policy } = head;
  const { domain, adkim, aspf, p, sp } = policy;
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    ${element('org_name', organization)}
    ${element('email', email)}
    ${element('report_id', reportId)}
    <date_range>${element('begin', begin)}${element('end', end)}</date_range>
  </report_metadata>
  <policy_published>
    ${element('domain', domain)}
    ${element('adkim', adkim)}
    ${element('aspf', aspf)}
    ${element('p', p)}
    ${element('sp', sp)}
    <pct>100</pct>
    <fo>0</fo>
  </policy_published>
${counts.map(record).join('')}</feedback>
`;
}

function record({ result, messages }: DmarcCount): string {
  const { source, disposition, dkim, spf, author, results } = result;
  const checked = results.find(({ method }) => method === 'spf');
  const passes = (is: boolean) => (is ? 'pass' : 'fail');
  const evaluated = `${element('disposition', disposition)}${element('dkim', passes(dkim))}${element('spf', passes(spf))}`;
  const sender = checked === undefined || checked.isHelo === true ? '' : checked.domain;
  return `  <record>
    <row>${element('source_ip', source)}${element('count', messages)}<policy_evaluated>${evaluated}</policy_evaluated></row>
    <identifiers>${element('envelope_from', sender)}${element('header_from', author)}</identifiers>
    <auth_results>${results.map(authResult).join('')}</auth_results>
  </record>
`;
}

function authResult({ method, domain, result, selector, isHelo }: DmarcCount['result']['results'][number]): string {
  if (method === 'spf')
    return `<spf>${element('domain', domain)}${element('scope', isHelo === true ? 'helo' : 'mfrom')}${element('result', result)}</spf>`;
  const named = selector === undefined ? '' : element('selector', selector);
  return `<dkim>${element('domain', domain)}${named}${element('result', result)}</dkim>`;
}

const element = (name: string, value: string | number): string => `<${name}>${escaped(String(value))}</${name}>`;

const ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' };

/** XML has no control characters, not even escaped. */
function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '?').replace(/[<>&]/g, (character) => ENTITIES[character]!);
}
