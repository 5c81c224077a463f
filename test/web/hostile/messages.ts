// Makes the messages of the corpus. Each has a number, a host of its own that nobody may contact, and a first line that says its number.
import { HTML_VECTORS } from './html-vectors.js';
import { MESSAGE_VECTORS } from './message-vectors.js';
import { STYLE_VECTORS } from './style-vectors.js';
import type { HostileAttachment, Vector } from './vectors.js';

export interface HostileMessage {
  readonly number: number;
  readonly family: string;
  /** The beginning of its text. */
  readonly mark: string;
  readonly eml: string;
}

/** What a script that runs leaves behind: a global, a title, a line on the console, and a request. */
const script = (host: string) =>
  `console.log('pwned');top.pwned=1;window.pwned=1;document.title='pwned';alert('pwned');fetch('//${host}/script')`;

/** The domain of the hosts that nobody may contact. */
export const HOSTILE_DOMAIN = 'hostile.test';

/** `recipient`: whom they are for. */
export function hostileMessages(recipient: string): HostileMessage[] {
  return [...HTML_VECTORS, ...STYLE_VECTORS, ...MESSAGE_VECTORS].map((vector, index) => {
    const number = index + 1;
    const mark = `Number ${number}.`;
    return { number, family: vector.family, mark, eml: eml(vector, number, mark, recipient) };
  });
}

function eml(vector: Vector, number: number, mark: string, recipient: string): string {
  const host = `m${number}.${HOSTILE_DOMAIN}`;
  const filled = (text: string) =>
    text.replaceAll('$JS', script(host)).replaceAll('$U', `http://${host}/u`).replaceAll('$H', host);
  const { text, fromName = 'Mallory', subject = vector.family, attachments = [] } = vector;
  const header = [
    `From: ${word(filled(fromName))} <mallory@sender.test>`,
    `To: <${recipient}>`,
    `Subject: ${word(`${number} ${filled(subject)}`)}`,
    `Message-ID: <${number}@sender.test>`,
    'Date: Sat, 28 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
  ];
  const body =
    text === undefined ? htmlPart(vector, mark, filled) : part('text/plain; charset=utf-8', `${mark}\n${filled(text)}`);
  if (attachments.length === 0) return [...header, body].join('\r\n');
  const parts = [body, ...attachments.map((attachment) => attachmentPart(attachment, filled))];
  return [
    ...header,
    'Content-Type: multipart/related; boundary="b"',
    '',
    ...parts.map((one) => `--b\r\n${one}`),
    '--b--',
    '',
  ].join('\r\n');
}

function htmlPart(
  { html = '', octets, charset = 'utf-8' }: Vector,
  mark: string,
  filled: (text: string) => string,
): string {
  const type = `text/html; charset="${filled(charset).replaceAll('"', '\\"')}"`;
  const start = `<p>${mark}</p>`;
  if (octets === undefined) return part(type, start + filled(html));
  const before = Buffer.from(start, charset === 'utf-16le' ? 'utf16le' : 'latin1');
  return part(type, Buffer.concat([before, Buffer.from(octets, 'base64')]));
}

function attachmentPart(
  { type, name, contentId, content }: HostileAttachment,
  filled: (text: string) => string,
): string {
  const identified = contentId === undefined ? '' : `\r\nContent-ID: <${contentId}>`;
  return part(
    `${type}${identified}\r\nContent-Disposition: attachment; filename*=utf-8''${encodeURIComponent(filled(name))}`,
    filled(content),
  );
}

function part(type: string, content: string | Buffer): string {
  const lines =
    Buffer.from(content as string)
      .toString('base64')
      .match(/.{1,76}/g) ?? [];
  return [`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', '', ...lines, ''].join('\r\n');
}

/** RFC 2047 words. */
function word(text: string): string {
  const words: string[] = [];
  for (const characters of text.match(/.{1,12}/gsu) ?? []) {
    words.push(`=?utf-8?B?${Buffer.from(characters).toString('base64')}?=`);
  }
  return words.join('\r\n ');
}
