// File names that senders give attachments, made safe to save under.

/** Characters. */
const LONGEST_NAME = 200;

/** Without separators, controls and the marks that turn reading direction, which hide an extension. */
export function safeName(name: string): string {
  const safe = name
    .replace(/[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/[/\\]/g, '_')
    .trim();
  if (/^\.*$/.test(safe)) return '';
  if (safe.length <= LONGEST_NAME) return safe;
  const extension = /\.[\w-]{1,16}$/.exec(safe.slice(-20))?.[0] ?? '';
  return safe.slice(0, LONGEST_NAME - extension.length).replace(/\p{Cs}/gu, '') + extension;
}
