// Reads a DMARC aggregate report (RFC 7489 appendix C, RFC 9990). The XML comes from strangers: a document type, depth, nodes, text and
// rows are bounded, and no entities but those of XML itself exist. The parser pauses between pieces, so that a large report does not hold up mail.
import { setImmediate as pause } from 'node:timers/promises';
import { SaxesParser } from 'saxes';
import { canonicalAddress } from '../../../net/tcp/ip-address.js';
import {
  BoundedSums,
  DISPOSITIONS,
  type Disposition,
  type DmarcReport,
  type DmarcSum,
  OTHER_SOURCES,
  reportDomain,
  reportText,
  UnreadableReport,
} from '../feedback-reports.js';

/** Characters of the name of an element. */
const LONGEST_NAME = 100;
const MOST_DEPTH = 20;
/** Elements and attributes. A row has 15 to 30. */
const MOST_NODES = 500_000;
/** Characters of one element. */
const LONGEST_TEXT = 1_000;
/** Messages of one row. */
const MOST_MESSAGES = 1e12;
const PIECE_OCTETS = 32 * 1024;

/** The elements whose text is read, by their path below `feedback`. */
const READ = new Map<string, Name>([
  ['report_metadata/org_name', 'organization'],
  ['report_metadata/report_id', 'reportId'],
  ['report_metadata/date_range/begin', 'begin'],
  ['policy_published/domain', 'domain'],
  ['record/row/source_ip', 'source'],
  ['record/row/count', 'count'],
  ['record/row/policy_evaluated/disposition', 'disposition'],
  ['record/row/policy_evaluated/dkim', 'dkim'],
  ['record/row/policy_evaluated/spf', 'spf'],
]);
type Name = 'organization' | 'reportId' | 'begin' | 'domain' | 'source' | 'count' | 'disposition' | 'dkim' | 'spf';

/** @throws UnreadableReport */
export async function readDmarcXml(octets: Uint8Array): Promise<DmarcReport> {
  const reading = new DmarcReading();
  const decoder = new TextDecoder();
  for (let at = 0; at < octets.length; at += PIECE_OCTETS) {
    reading.write(decoder.decode(octets.subarray(at, at + PIECE_OCTETS), { stream: true }));
    await pause();
  }
  return reading.finish();
}

class DmarcReading {
  readonly #parser = new SaxesParser();
  readonly #path: string[] = [];
  readonly #texts = new Map<Name, string>();
  readonly #sums = new BoundedSums<Omit<DmarcSum, 'messages'>>((sum) => ({ ...sum, source: OTHER_SOURCES }));
  #text = '';
  #nodes = 0;

  constructor() {
    const parser = this.#parser;
    parser.on('error', () => refuse('the XML is malformed'));
    parser.on('doctype', () => refuse('the XML has a document type'));
    parser.on('opentagstart', ({ name }) => this.#open(name));
    // Attributes count one by one, because a tag may have millions.
    parser.on('attribute', () => this.#countNode());
    parser.on('text', (text) => this.#addText(text));
    parser.on('cdata', (text) => this.#addText(text));
    parser.on('closetag', () => this.#close());
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  finish(): DmarcReport {
    this.#parser.close();
    const text = (name: Name) => this.#texts.get(name) ?? '';
    const begin = Number(reportText(text('begin'), 'the start of the period')) * 1000;
    if (!Number.isSafeInteger(begin)) refuse('the start of the period is no time');
    return {
      kind: 'dmarc',
      domain: reportDomain(text('domain')),
      organization: reportText(text('organization'), 'the name of the organization'),
      reportId: reportText(text('reportId'), 'the id of the report'),
      begin,
      sums: this.#sums.entries.map(([sum, messages]) => ({ ...sum, messages })),
    };
  }

  #countNode(): void {
    if (++this.#nodes > MOST_NODES) refuse('the XML has too many elements');
  }

  #open(name: string): void {
    this.#countNode();
    if (this.#path.length >= MOST_DEPTH) refuse('the XML is too deep');
    if (name.length > LONGEST_NAME) refuse('the XML has a long name');
    const local = name.slice(name.indexOf(':') + 1);
    if (this.#path.length === 0 && local !== 'feedback') refuse('the XML is no aggregate report');
    this.#path.push(local);
    this.#text = '';
  }

  #addText(text: string): void {
    if (this.#text.length <= LONGEST_TEXT) this.#text += text.slice(0, LONGEST_TEXT + 1);
  }

  #close(): void {
    const path = this.#path.slice(1).join('/');
    this.#path.pop();
    const name = READ.get(path);
    if (name !== undefined) this.#texts.set(name, this.#text.trim());
    this.#text = '';
    if (path === 'record') this.#addRow();
  }

  #addRow(): void {
    const take = (name: Name) => {
      const text = this.#texts.get(name) ?? '';
      this.#texts.delete(name);
      return text;
    };
    const source = canonicalAddress(take('source'));
    if (source === undefined) throw new UnreadableReport('a row has no address');
    const count = take('count');
    if (!/^\d{1,13}$/.test(count) || Number(count) > MOST_MESSAGES) refuse('a row has no number of messages');
    const [dkim, spf] = [take('dkim').toLowerCase() === 'pass', take('spf').toLowerCase() === 'pass'];
    this.#sums.add({ source, dkim, spf, disposition: dispositionOf(take('disposition').toLowerCase()) }, Number(count));
  }
}

/** RFC 9990 has `pass` for messages that pass: nothing happens to them. */
function dispositionOf(text: string): Disposition {
  return DISPOSITIONS.find((each) => each === text) ?? 'none';
}

function refuse(why: string): never {
  throw new UnreadableReport(why);
}
