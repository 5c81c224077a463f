// Names of Sieve scripts (RFC 5804 §1.6).

const MOST_OCTETS = 512;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what a name must not have
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Cs}/u;

/** Whether a script may have this name: 1 to 512 octets of UTF-8 without control characters. */
export function isSieveScriptName(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MOST_OCTETS && !FORBIDDEN.test(name);
}
