// Tests the catalogues: all languages have the placeholders of English, and the forms of their plurals.
import { en } from '../../../web/src/i18n/en.js';
import { LANGUAGES, languageOf, loadTexts, t as text } from '../../../web/src/i18n/t.js';
import test from '../../support/test.js';

type Texts = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

function placeholders(entry: Texts[string]): string[] {
  const forms = typeof entry === 'string' ? [entry] : Object.values(entry);
  return [...new Set(forms.flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();
}

for (const language of LANGUAGES) {
  test(`${language} says everything, with the placeholders of English and the forms of its plural`, async (t) => {
    const texts = (await loadTexts(language)) as Texts;
    t.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort());
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [key, entry] of Object.entries(texts)) {
      t.deepEqual(placeholders(entry), placeholders((en as Texts)[key]!), key);
      if (typeof entry === 'string') t.not(entry.trim(), '', key);
      // A form that a language does not name is its `other`.
      else
        for (const [form, text] of Object.entries(entry))
          t.true(forms.includes(form as 'other') && text !== '', `${key}: ${form}`);
    }
  });
}

test('the language is the first that there is, with the locale of the reader', (t) => {
  t.deepEqual(languageOf(['fr-CH', 'de-CH', 'en']), { language: 'de', locale: 'de-CH' });
  t.deepEqual(languageOf(['AR-eg']), { language: 'ar', locale: 'AR-eg' });
  t.deepEqual(languageOf(['fr']), { language: 'en', locale: 'en' });
});

test('values take the place of their names', (t) => {
  t.is(text('app.failed', { reason: 'the disk is {full}' }), 'That did not work: the disk is {full}');
});
