// Which declarations of a `style` attribute stay in text that is quoted or pasted into the editor: those of a text's look. What moves
// elements, loads something or computes goes, so that a quoted mail can neither cover the page nor contact anybody.

const LOOKS =
  /^(?:color|background-color|direction|text-(?:align|decoration(?:-line)?|indent|transform)|font(?:-(?:family|size|style|weight|variant))?|line-height|letter-spacing|white-space|vertical-align|list-style-type|(?:min-|max-)?(?:width|height)|(?:margin|padding)(?:-(?:top|right|bottom|left))?|border(?:-(?:top|right|bottom|left))?(?:-(?:width|style|color))?|border-(?:radius|collapse|spacing)|unicode-bidi)$/;
/** Matches functions that are not colours, escapes and comments. */
const UNSAFE = /(?:^|[^a-z-])(?!(?:rgba?|hsla?|oklch|oklab|lab|lch|hwb|color)\()[a-z-]+\(|[\\@{}<>]|\/\*/i;
/** With a negative length these put text over what stands beside it. */
const MOVING = /^(?:margin|text-indent|letter-spacing|vertical-align)/;
const NEGATIVE = /(?:^|\s)-/;
const LONGEST_VALUE = 200;

export function safeDeclarations(style: string): readonly (readonly [name: string, value: string])[] {
  return style.split(';').flatMap((declaration) => {
    const colon = declaration.indexOf(':');
    const name = declaration.slice(0, colon).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .replace(/!\s*important\s*$/i, '')
      .trim();
    const isSafe =
      colon > 0 && LOOKS.test(name) && value !== '' && value.length <= LONGEST_VALUE && !UNSAFE.test(value);
    return isSafe && !(MOVING.test(name) && NEGATIVE.test(value)) ? [[name, value] as const] : [];
  });
}
