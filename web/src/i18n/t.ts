// The texts of the page: `t('list.new', { count: 3 })`. English has the keys; the other catalogues have the same type, so that a missing text
// does not compile. A text with `count` has the plural forms of its language. `format.ts` writes dates and sizes.
import { en } from './en.js';

type Plural = { readonly [form in Intl.LDMLPluralRule]?: string } & { readonly other: string };
type Texts = Readonly<Record<string, string | Plural>>;
export type TextKey = keyof typeof en;

/** What a language other than English has: the keys of English, and a plural where English has one. */
export type Translation<English extends Texts = typeof en> = {
  readonly [key in keyof English]: English[key] extends string ? string : Plural;
};

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type ParameterNames<Key extends TextKey> = (typeof en)[Key] extends string
  ? Names<(typeof en)[Key]>
  : 'count' | Names<(typeof en)[Key][keyof (typeof en)[Key]]>;
type Parameters<Key extends TextKey> = [ParameterNames<Key>] extends [never]
  ? []
  : [parameters: { readonly [name in ParameterNames<Key>]: name extends 'count' ? number : string | number }];

/** The texts without parameters: what tables of texts hold. */
export type PlainKey = { readonly [key in TextKey]: Parameters<key> extends [] ? key : never }[TextKey];

export const LANGUAGES = ['en', 'de', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

interface Current {
  readonly language: Language;
  /** The locale of dates and numbers: the browser's own, where it is of this language. */
  readonly locale: string;
  readonly texts: Texts;
}

let current: Current = { language: 'en', locale: 'en', texts: en };

export function t<Key extends TextKey>(key: Key, ...[parameters]: Parameters<Key>): string {
  const text = current.texts[key] ?? en[key];
  const values: Readonly<Record<string, string | number>> = parameters ?? {};
  const form = typeof text === 'string' ? text : pluralForm(text, Number(values['count']));
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === 'number' ? formatNumber(value) : value;
  });
}

/** Returns the texts of a language; those besides English are loaded when they are needed. */
export async function loadTexts(language: Language): Promise<Texts> {
  if (language === 'de') return (await import('./de.js')).de;
  if (language === 'ar') return (await import('./ar.js')).ar;
  return en;
}

/** `wanted`: languages in order of preference, such as `navigator.languages`. */
export async function setLanguage(wanted: readonly string[]): Promise<void> {
  const { language, locale } = languageOf(wanted);
  current = { language, locale, texts: await loadTexts(language) };
}

export function languageOf(wanted: readonly string[]): { readonly language: Language; readonly locale: string } {
  for (const locale of wanted) {
    const language = LANGUAGES.find((one) => locale.toLowerCase().split('-')[0] === one);
    if (language !== undefined) return { language, locale };
  }
  return { language: 'en', locale: 'en' };
}

export function currentLanguage(): Language {
  return current.language;
}

export function currentLocale(): string {
  return current.locale;
}

export function direction(): 'ltr' | 'rtl' {
  return current.language === 'ar' ? 'rtl' : 'ltr';
}

export function formatNumber(value: number): string {
  return new Intl.NumberFormat(current.locale).format(value);
}

function pluralForm(text: Plural, count: number): string {
  return text[new Intl.PluralRules(current.locale).select(count)] ?? text.other;
}
