// The preview of a message: the start of the first part of its text body that has words, otherwise of its HTML body, decoded from a sample
// of a few kB, without tags and with white space folded. The size of the samples limits the work.
import { htmlText } from '../decode/html-text.js';
import { isVerbatim, type TextPart, textOf } from '../decode/part-text.js';
import type { TextSource } from '../parts.js';
import type { ChosenBodies } from './body-choice.js';
import { BodySample } from './body-sample.js';
import type { Builders, PartBuilder } from './part-builder.js';

const TEXT_SAMPLE = 4 * 1024;
/** HTML often begins with styles rather than with words. */
const HTML_SAMPLE = 32 * 1024;
const LENGTH = 200;
/** Most texts have a whole preview in these first octets. */
const START = 512;
const ASCII = /^\p{ASCII}*$/u;
/** Matches white space and control characters, except a single space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the controls of ASCII
const FOLDED = /[\x00-\x20\x7f]{2,}|[\x00-\x1f\x7f]/g;
/** The characters of the decoded sample that are read: fillers and white space may precede the words. */
const SCANNED = 4000;
const FILLER = /^(?:\u034f|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff])$/;

/** The most texts of each kind whose start is kept: some of them may be in no body. */
const KEPT_TEXTS = 4;
/** The octets of all samples of a message, including those that turn out to be blank. */
const ALL_SAMPLES = 256 * 1024;

export class PreviewSamples {
  readonly #plain: PartBuilder[] = [];
  readonly #html: PartBuilder[] = [];
  #left = ALL_SAMPLES;

  /** Called for the parts in their order, each when the previous one has ended. */
  openText(part: PartBuilder): void {
    const isHtml = part.content!.subtype === 'html';
    const kept = isHtml ? this.#html : this.#plain;
    const last = kept.at(-1);
    if (last !== undefined && lineOf(last) === '') {
      last.sample = undefined;
      kept.pop();
    }
    const limit = isHtml ? HTML_SAMPLE : TEXT_SAMPLE;
    if (kept.length === KEPT_TEXTS || this.#left < limit) return;
    this.#left -= limit;
    part.sample = new BodySample(limit);
    kept.push(part);
  }

  /** The octets before the first part of a multipart are its text if it has no part. */
  openPreamble(part: PartBuilder): void {
    if (part.parent === undefined) part.sample = new BodySample(TEXT_SAMPLE);
  }

  /** Returns the preview of the first text of the bodies that has words. */
  preview(bodies: ChosenBodies, builders: Builders): string {
    for (const part of [...bodies.text, ...bodies.html]) {
      const builder = builders.get(part);
      const line = builder === undefined ? enclosedLine(bodies, part) : lineOf(builder, part);
      if (line !== '') return line;
    }
    return '';
  }
}

/** Makes the preview of a text in a TNEF. */
function enclosedLine({ enclosed }: ChosenBodies, { subtype, params }: TextSource): string {
  const text = enclosed.find((one) => one.subtype === subtype);
  if (text === undefined) return '';
  const sample = { octets: text.sample, full: text.sample.length < text.range.end - text.range.start };
  return lineOfSample(sample, { subtype, params, encoding: 'binary' });
}

/** `text` tells how the octets are read; for a multipart without parts this differs from what its header says. */
function lineOf({ sample, content }: PartBuilder, text: TextPart = content!): string {
  return sample === undefined ? '' : lineOfSample(sample, text);
}

function lineOfSample(sample: Pick<BodySample, 'octets' | 'full'>, text: TextPart): string {
  const isHtml = text.subtype === 'html';
  const start = isVerbatim(text) && !isHtml ? lineOfStart(sample.octets) : undefined;
  if (start !== undefined) return start;
  const decoded = textOf(text, sample.octets);
  const words = isHtml ? htmlText(decoded) : decoded;
  return firstLine(sample.full ? words.replace(/\ufffd{1,3}$/, '') : words);
}

/** Returns the same as `firstLine` if the first octets are ASCII and enough. Most are, and reading the whole sample costs much more. */
function lineOfStart(octets: Buffer): string | undefined {
  const text = octets.toString('latin1', 0, START);
  // NUL is removed from texts.
  if (!ASCII.test(text) || text.includes('\0')) return undefined;
  const line = text.replace(FOLDED, ' ').trimStart();
  return line.length < LENGTH ? undefined : line.slice(0, LENGTH).trimEnd();
}

/** Returns the text with white space folded and invisible fillers removed: at most LENGTH characters, and no half of a surrogate pair. */
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
