// Makes the file names that senders give to attachments safe to save under.

/** In characters. */
const LONGEST_NAME = 200;

/** Returns the name without separators, control characters and the marks that change the reading direction, which can hide an extension. */
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
