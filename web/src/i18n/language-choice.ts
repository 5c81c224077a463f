// The language that the reader has chosen in this browser; without a choice it is the browser's.
import { LANGUAGES, type Language } from './t.js';

const CHOICE = 'mansio.language';

export function chosenLanguage(): Language | undefined {
  return LANGUAGES.find((language) => language === localStorage.getItem(CHOICE));
}

/** The page is loaded again with the texts of the language; an empty choice takes the browser's. */
export function chooseLanguage(language: string): void {
  if (language === '') localStorage.removeItem(CHOICE);
  else localStorage.setItem(CHOICE, language);
  location.reload();
}
