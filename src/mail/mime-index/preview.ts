// The preview of a message: the start of its first text body, else of its HTML body, decoded from a sample of a few kB,
// without tags and with white space folded. The sample bounds the work.
import { htmlText } from '../decode/html-text.js';
import { isVerbatim, textOf } from '../decode/part-text.js';
import type { ChosenBodies } from './body-choice.js';
import { BodySample } from './body-sample.js';
import type { Builders, PartBuilder } from './part-builder.js';

const TEXT_SAMPLE = 4 * 1024;
/** HTML begins with styles more often than with words. */
const HTML_SAMPLE = 32 * 1024;
const LENGTH = 200;
/** Octets in which most texts have a whole preview. */
const START = 512;
const ASCII = /^\p{ASCII}*$/u;
/** White space and controls that are not one space already. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the controls of ASCII
const FOLDED = /[\x00-\x20\x7f]{2,}|[\x00-\x1f\x7f]/g;
/** Characters of the decoded sample that are read: fillers and white space may come before the words. */
const SCANNED = 4000;
const FILLER = /^(?:\u034f|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff])$/;

export class PreviewSamples {
  #text = false;
  #html = false;

  openText(part: PartBuilder): void {
    if (part.isEmbedded) return;
    if (part.content!.subtype === 'html') {
      if (!this.#html) part.sample = new BodySample(HTML_SAMPLE);
      this.#html = true;
    } else {
      if (!this.#text) part.sample = new BodySample(TEXT_SAMPLE);
      this.#text = true;
    }
  }

  /** The octets before the first part of a multipart are its text if the multipart has no part. */
  openPreamble(part: PartBuilder): void {
    if (part.parent === undefined) part.sample = new BodySample(TEXT_SAMPLE);
  }

  preview(bodies: ChosenBodies, builders: Builders): string {
    for (const part of [bodies.text[0], bodies.html[0]]) {
      const sample = part && builders.get(part)?.sample;
      if (part === undefined || sample === undefined) continue;
      const start = isVerbatim(part) && part.subtype !== 'html' ? lineOfStart(sample.octets) : undefined;
      if (start !== undefined) return start;
      const decoded = textOf(part, sample.octets);
      const text = part.subtype === 'html' ? htmlText(decoded) : decoded;
      const line = firstLine(sample.full ? text.replace(/\ufffd{1,3}$/, '') : text);
      if (line !== '') return line;
    }
    return '';
  }
}

/** As `firstLine`, when the first octets are ASCII and enough; most are, and reading the whole sample costs much more. */
function lineOfStart(octets: Buffer): string | undefined {
  const text = octets.toString('latin1', 0, START);
  // NUL is taken out of texts.
  if (!ASCII.test(text) || text.includes('\0')) return undefined;
  const line = text.replace(FOLDED, ' ').trimStart();
  return line.length < LENGTH ? undefined : line.slice(0, LENGTH).trimEnd();
}

/** White space folded, invisible fillers removed, at most LENGTH characters and no half of a surrogate pair. */
function firstLine(text: string): string {
  const end = Math.min(text.length, SCANNED);
  let line = '';
  let parted = false;
  for (let at = 0; at < end && line.length < LENGTH; ) {
    const start = at;
    while (at < end && isPrintable(text.charCodeAt(at))) at++;
    // Other characters are read one at a time.
    const other = at === start ? text[at++]! : '';
    if (/\s|\p{Cc}/u.test(other)) parted = true;
    else if (!FILLER.test(other)) {
      if (parted && line !== '') line += ' ';
      parted = false;
      line += other || text.slice(start, at);
    }
  }
  return line
    .slice(0, LENGTH)
    .replace(/\p{Cs}/gu, '')
    .trimEnd();
}

function isPrintable(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}
