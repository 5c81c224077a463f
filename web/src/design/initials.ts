// What an avatar shows of a person: two letters and a colour, which is the same wherever the address occurs.

/** Hues that can be told apart, and on whose tone white letters have 4.5 : 1. */
const HUES = [155, 262, 50, 195, 18, 115, 300, 340, 235, 75] as const;

export function initials(displayName: string, address: string): string {
  const words = (displayName.trim() || address.split('@')[0] || '').split(/[\s._-]+/).flatMap((word) => {
    const [letter] = word.replace(/^[^\p{L}\p{N}]+/u, '');
    return letter === undefined ? [] : [letter];
  });
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  return chosen.join('').toLocaleUpperCase() || '?';
}

export function avatarHue(address: string): number {
  let hash = 0;
  for (const letter of address.toLowerCase()) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  return HUES[hash % HUES.length]!;
}
