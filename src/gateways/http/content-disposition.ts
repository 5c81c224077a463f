// `Content-Disposition: attachment` with a file name (RFC 6266, RFC 8187). The name comes from a stranger's mail, so it is reduced to one
// plain line without path separators before it enters a header field.

const LONGEST = 150;
// Control characters, and characters that change the direction of the text after them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches them
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

export function attachmentDisposition(fileName: string): string {
  const name = safe(fileName);
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const quoted = `attachment; filename="${ascii}"`;
  return ascii === name ? quoted : `${quoted}; filename*=UTF-8''${extended(name)}`;
}

function safe(fileName: string): string {
  const line = Buffer.from(fileName).toString().replace(UNPRINTABLE, ' ').replace(/[/\\]/g, '_').trim();
  const name = Array.from(line).slice(-LONGEST).join('').trim();
  return name === '' || name === '.' || name === '..' ? 'attachment' : name;
}

/** Keeps the value-chars of RFC 8187 §3.2.1 and percent-encodes the rest as UTF-8. */
function extended(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
