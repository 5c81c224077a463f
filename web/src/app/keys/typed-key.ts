// Which key of the page a press means. Keyboards differ: `#` needs Option on a British or Spanish Mac and AltGr on other keyboards, and a
// layout of another script has no Latin letters.

/** What is read of a `KeyboardEvent`. */
export interface Press {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  getModifierState(modifier: 'AltGraph'): boolean;
}

/** A character of ASCII that is no letter. */
const SIGN = /^[!-@[-`{-~]$/;
const NOT_ASCII = /^\P{ASCII}+$/u;
const LATIN = /\p{Script=Latin}/u;
/** What an American keyboard has at the places that keys of the page need besides letters: alone, and with Shift. */
const SIGNS: Readonly<Record<string, readonly [alone: string, shifted: string]>> = {
  Comma: [',', '<'],
  Slash: ['/', '?'],
};

/**
 * Returns the key as `Shortcut.keys` has it, or undefined when the press belongs to the browser or the system. `isApple`: Option types
 * characters there, whereas Alt elsewhere makes shortcuts of them.
 */
export function typedKey(press: Press, isApple: boolean): string | undefined {
  const { key, code, ctrlKey, altKey, metaKey, shiftKey } = press;
  const hasAltGraph = press.getModifierState('AltGraph');
  if (metaKey) return undefined;
  if (ctrlKey || altKey) {
    // Windows tells of AltGr as Ctrl with Alt.
    const types = (hasAltGraph && ctrlKey && altKey) || (isApple && altKey && !ctrlKey);
    return types && SIGN.test(key) ? key : undefined;
  }
  // With AltGr, `€` is at the place of `e`.
  if (hasAltGraph || !NOT_ASCII.test(key) || LATIN.test(key)) return key;
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  const places = letter === undefined ? SIGNS[code] : [letter.toLowerCase(), letter];
  return places?.[shiftKey ? 1 : 0] ?? key;
}
