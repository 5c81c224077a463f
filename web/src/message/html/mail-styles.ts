// The styles of a mail as rules for one style element. The browser parses them, in a sheet that no document uses, and allowed-styles.ts
// says which of them stay: media rules and rules of selectors, without imports, fonts and whatever else loads something.
import { embeddedCss, isColoring, isConditionAllowed, isDeclarationAllowed } from './allowed-styles.js';

const MOST_CHARACTERS = 512 * 1024;
const MOST_RULES = 4000;
const LONGEST_SELECTOR = 1000;
/** A browser ignores imports in such a sheet, and reports them. Nobody writes the name of a rule with escapes in good faith. */
const IMPORT = /@(?:import\b|[^\s;{}"'()]*\\)[^;{}]*;?/gi;

export class MailStyles {
  readonly rules: string;
  hasColors = false;
  readonly #scratch = styleOfRule();
  readonly #classes = new Map<string, string>();
  #ruleCount = 0;

  constructor(texts: readonly string[]) {
    const sheet = new CSSStyleSheet();
    let room = MOST_CHARACTERS;
    this.rules = texts
      .map((text) => {
        const css = text
          .slice(0, room)
          .replace(/<!--|-->/g, '')
          .replace(IMPORT, '');
        room -= css.length;
        sheet.replaceSync(css);
        return this.#rulesOf(sheet.cssRules);
      })
      .join('\n');
  }

  /** Returns the class of the rule that stands for an inline style; undefined when nothing of the style is allowed. */
  classOf(inlineStyle: string): string | undefined {
    if (inlineStyle.length > MOST_CHARACTERS) return undefined;
    this.#scratch.cssText = inlineStyle;
    const declarations = this.#allowed(this.#scratch);
    if (declarations === '') return undefined;
    const known = this.#classes.get(declarations);
    if (known !== undefined) return known;
    if (this.#classes.size === MOST_RULES) return undefined;
    const name = `mansio-s${this.#classes.size}`;
    this.#classes.set(declarations, name);
    return name;
  }

  /** The rules of all inline styles that were asked for. */
  get inlineRules(): string {
    return [...this.#classes].map(([declarations, name]) => `.${name} { ${embeddedCss(declarations)} }`).join('\n');
  }

  #rulesOf(rules: CSSRuleList): string {
    return [...rules]
      .map((rule) => {
        if (++this.#ruleCount > MOST_RULES) return '';
        if (rule instanceof CSSStyleRule) return this.#styleRule(rule);
        if (!(rule instanceof CSSMediaRule) || !isConditionAllowed(rule.media.mediaText)) return '';
        return `@media ${rule.media.mediaText} { ${this.#rulesOf(rule.cssRules)} }`;
      })
      .join('\n');
  }

  #styleRule({ selectorText, style }: CSSStyleRule): string {
    const declarations = selectorText.length > LONGEST_SELECTOR ? '' : this.#allowed(style);
    return declarations === '' ? '' : `${embeddedCss(selectorText)} { ${embeddedCss(declarations)} }`;
  }

  #allowed(style: CSSStyleDeclaration): string {
    const result = styleOfRule();
    for (const name of style) {
      const value = style.getPropertyValue(name);
      // A shorthand sets all that it does not name.
      if (value === 'initial' || !isDeclarationAllowed(name, value)) continue;
      result.setProperty(name, value, style.getPropertyPriority(name));
      if (isColoring(name, value)) this.hasColors = true;
    }
    return result.cssText;
  }
}

function styleOfRule(): CSSStyleDeclaration {
  const sheet = new CSSStyleSheet();
  sheet.insertRule('a {}');
  return (sheet.cssRules[0] as CSSStyleRule).style;
}
