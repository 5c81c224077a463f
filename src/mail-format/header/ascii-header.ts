// Rewrites a header without octets above 127, for servers that accept none: raw 8-bit text becomes encoded words (RFC 2047), raw 8-bit
// parameters become extended ones (RFC 2231). Readers display the same text. Octets that are not UTF-8 are taken to be in the charset that
// the part declares, otherwise in `unknown-8bit` (RFC 1428 §3).
import { isUtf8 } from 'node:buffer';
import { type HeaderLine, headerLines } from './header-lines.js';

const EIGHT_BIT = /[\x80-\xff]/;
const ADDRESS_LIST =
  /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$|^(?:disposition-notification|return-receipt)-to$/;
const PARAMETERS = /^content-(?:type|disposition)$/;
/** Fields of ids, dates, tokens and hosts: no word in them can be encoded. */
const TOKENS =
  /^(?:(?:resent-)?(?:message-id|date)|references|in-reply-to|content-id|content-transfer-encoding|mime-version|received|return-path|delivered-to|dkim-signature)$/;
/** RFC 2047 §2. */
const LONGEST_WORD = 75;

/** `charset` is the one that the part declares. Returns undefined when an address or a boundary is not ASCII. */
export function asciiHeader(header: Buffer, charset: string | undefined): Buffer | undefined {
  let from = 0;
  const pieces: Buffer[] = [];
  for (const line of headerLines(header)) {
    if (!EIGHT_BIT.test(line.raw)) continue;
    const field = asciiField(line, charset);
    if (field === undefined) return undefined;
    pieces.push(header.subarray(from, line.start), Buffer.from(field, 'latin1'));
    from = line.start + line.raw.length;
  }
  return Buffer.concat([...pieces, header.subarray(from)]);
}

function asciiField({ name, raw }: HeaderLine, declared: string | undefined): string | undefined {
  if (name === '' || TOKENS.test(name)) return withoutEightBit(raw);
  const colon = raw.indexOf(':') + 1;
  const body = raw.slice(colon);
  const charset = charsetOf(body, declared);
  const written = PARAMETERS.test(name)
    ? withExtendedParameters(body, charset)
    : withEncodedWords(ADDRESS_LIST.test(name) ? phrasesOf(body) : wordsOf(body), charset);
  return written === undefined ? undefined : `${withoutEightBit(raw.slice(0, colon))}${written}`;
}

const withoutEightBit = (text: string): string => text.replace(/[\x80-\xff]/g, '?');

function charsetOf(text: string, declared: string | undefined): string {
  if (isUtf8(Buffer.from(text, 'latin1'))) return 'utf-8';
  const isUsable =
    declared !== undefined && /^[\w.:+-]{1,40}$/.test(declared) && !/^(?:utf-?8|us-ascii)$/i.test(declared);
  return isUsable ? declared.toLowerCase() : 'unknown-8bit';
}

interface Token {
  readonly raw: string;
  readonly isBlank: boolean;
  /** The text to encode; undefined when the token stays as it is. */
  readonly text: string | undefined;
}

const tokensOf = (body: string, form: RegExp, textOf: (raw: string) => string): Token[] =>
  (body.match(form) ?? []).map((raw) => ({
    raw,
    isBlank: /^(?:\r\n)?[ \t]/.test(raw),
    text: EIGHT_BIT.test(raw) ? textOf(raw) : undefined,
  }));

const wordsOf = (body: string): Token[] => tokensOf(body, /(?:(?:\r\n)?[ \t]+)+|[^ \t\r]+|\r/g, (raw) => raw);

/** Returns undefined when an address has 8-bit octets. */
function phrasesOf(body: string): Token[] | undefined {
  const form = /"(?:[^"\\]|\\[\s\S])*"|<[^>]*>|(?:(?:\r\n)?[ \t]+)+|[^ \t\r"<>()[\],;:]+|[\s\S]/g;
  const tokens = tokensOf(body, form, (raw) =>
    raw.startsWith('"') ? raw.slice(1, -1).replace(/\\([\s\S])|\r\n/g, '$1') : raw,
  );
  return tokens.some(({ raw, text }) => text !== undefined && /^<|^[^"]*@/.test(raw)) ? undefined : tokens;
}

function withEncodedWords(tokens: readonly Token[] | undefined, charset: string): string | undefined {
  if (tokens === undefined) return undefined;
  let written = '';
  for (let at = 0; at < tokens.length; at++) {
    const { raw, text } = tokens[at]!;
    if (text === undefined) {
      written += raw;
      continue;
    }
    let run = text;
    // Readers do not display white space between two encoded words (RFC 2047 §6.2), so it is encoded with them.
    while (tokens[at + 1]?.isBlank && tokens[at + 2]?.text !== undefined) {
      run += `${tokens[at + 1]!.raw.replaceAll('\r\n', '')}${tokens[at + 2]!.text}`;
      at += 2;
    }
    const next = tokens[at + 1];
    const before = written === '' || /[ \t(]$/.test(written) ? '' : ' ';
    const after = next === undefined || next.isBlank || /^[),;]/.test(next.raw) ? '' : ' ';
    written += `${before}${encodedWords(run, charset)}${after}`;
  }
  return written;
}

/** Writes one encoded word per line. */
function encodedWords(text: string, charset: string): string {
  const octets = Buffer.from(text, 'latin1');
  const most = Math.floor((LONGEST_WORD - `=?${charset}?B??=`.length) / 4) * 3;
  const words: string[] = [];
  for (let at = 0; at < octets.length; ) {
    let end = Math.min(at + most, octets.length);
    // A character is not divided between two words.
    if (charset === 'utf-8') while (end < octets.length && (octets[end]! & 0xc0) === 0x80) end--;
    words.push(`=?${charset}?B?${octets.toString('base64', at, end)}?=`);
    at = end;
  }
  return words.join('\r\n ');
}

/** Returns undefined when a boundary would change, because the body repeats it. */
function withExtendedParameters(body: string, charset: string): string | undefined {
  let hasBoundary = false;
  const form = /;([ \t\r\n]*)([^\s=;"]+)[ \t]*=[ \t]*("(?:[^"\\]|\\[\s\S])*"|[^\s;"]*)/g;
  const written = body.replace(form, (parameter, blank: string, name: string, value: string) => {
    if (!EIGHT_BIT.test(value)) return parameter;
    hasBoundary ||= /^boundary\b/i.test(name);
    const text = value.startsWith('"') ? value.slice(1, -1).replace(/\\([\s\S])|\r\n/g, '$1') : value;
    if (name.endsWith('*')) return `;${blank}${name}=${percentEncoded(text, /[\x80-\xff]/g)}`;
    const label = /\*[1-9]\d*$/.test(name) ? '' : `${charset}''`;
    return `;${blank}${name}*=${label}${percentEncoded(text, /[^\w.~-]/g)}`;
  });
  return hasBoundary ? undefined : withoutEightBit(written);
}

const percentEncoded = (text: string, octets: RegExp): string =>
  text.replace(octets, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
