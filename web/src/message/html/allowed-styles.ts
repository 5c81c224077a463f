// The properties, values and conditions of CSS that a mail may use. They lay out and color its own text: nothing loads, moves, floats
// above the rest or names a variable.

const PROPERTIES: ReadonlySet<string> = new Set(
  (
    'align-content align-items align-self background-clip background-color background-image background-origin background-position-x ' +
    'background-position-y background-repeat background-size border-bottom-color border-bottom-left-radius border-bottom-right-radius ' +
    'border-bottom-style border-bottom-width border-collapse border-left-color border-left-style border-left-width border-right-color ' +
    'border-right-style border-right-width border-spacing border-top-color border-top-left-radius border-top-right-radius border-top-style ' +
    'border-top-width box-shadow box-sizing caption-side clear color column-gap direction display empty-cells flex-basis flex-direction ' +
    'flex-grow flex-shrink flex-wrap float font-family font-size font-stretch font-style font-variant-caps font-weight ' +
    'grid-template-columns grid-template-rows height hyphens justify-content justify-items letter-spacing line-height list-style-position ' +
    'list-style-type margin-bottom margin-left margin-right margin-top max-height max-width min-height min-width opacity order outline-color ' +
    'outline-style outline-width overflow-wrap overflow-x overflow-y padding-bottom padding-left padding-right padding-top row-gap ' +
    'table-layout text-align text-decoration-color text-decoration-line text-decoration-style text-indent text-overflow text-shadow ' +
    'text-transform unicode-bidi vertical-align visibility white-space white-space-collapse text-wrap-mode width word-break word-spacing'
  ).split(' '),
);

const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'calc clamp color color-mix conic-gradient fit-content hsl hsla hwb lab lch linear-gradient max min minmax oklab oklch radial-gradient ' +
    'repeat repeating-linear-gradient repeating-radial-gradient rgb rgba'
  ).split(' '),
);

const LONGEST_VALUE = 1000;
const STRING = /"[^"\\\n]*"|'[^'\\\n]*'/g;

/** `name`, `value`: as a browser writes them, without escapes. */
export function isDeclarationAllowed(name: string, value: string): boolean {
  if (!PROPERTIES.has(name) || value.length > LONGEST_VALUE) return false;
  const plain = name === 'font-family' ? value.replace(STRING, '') : value;
  if (!/^[\w\s#%(),./*+-]*$/.test(plain)) return false;
  return [...plain.matchAll(/([\w-]*)\(/g)].every(
    ([, called]) => called === '' || FUNCTIONS.has(called!.toLowerCase()),
  );
}

const COLORS = /^(?:color|background-(?:color|image)|border-(?:top|right|bottom|left)-color)$/;

/** Says if a declaration needs the paper for which its mail was made: text and background that it knows. */
export function isColoring(name: string, value: string): boolean {
  return (
    COLORS.test(name) && !/^(?:inherit|unset|revert|currentcolor|transparent|none|rgba\(0, 0, 0, 0\))$/i.test(value)
  );
}

/** Says if the condition of a media rule may be used. */
export function isConditionAllowed(condition: string): boolean {
  return condition.length <= 200 && /^[\w\s:(),./-]+$/.test(condition);
}

/** Makes CSS that can stand in a style element. */
export function embeddedCss(css: string): string {
  return css.replaceAll('<', '\\3c ');
}
