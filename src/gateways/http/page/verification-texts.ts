// The texts of the page that verifies an address elsewhere, in the languages of the page; `link-texts.ts` chooses by Accept-Language.
import type { LinkPage } from './link-page.js';
import { isolated, languageFor } from './link-texts.js';

interface VerificationTexts {
  readonly confirm: string;
  readonly question: string;
  /** `name`: of the account that asks. */
  asks(name: string, address: string): string;
  readonly otherwise: string;
  readonly done: string;
  doneText(address: string): string;
  readonly taken: string;
  takenText(address: string): string;
  readonly gone: string;
  readonly goneText: string;
}

const EN: VerificationTexts = {
  confirm: 'Confirm',
  question: 'Confirm your address',
  asks: (name, address) => `${name} asks that mail may be forwarded to ${address}.`,
  otherwise: 'If you do not know about this, close this page: nothing is forwarded to you then.',
  done: 'Your address is confirmed',
  doneText: (address) => `Mail may be forwarded to ${address} now. You can close this page.`,
  taken: 'The address belongs to another account',
  takenText: (address) =>
    `Another account of this server has confirmed ${address}. It has to give the address up first.`,
  gone: 'This link no longer works',
  goneText:
    'It was used, a newer mail has replaced it, or its 48 hours are over. Whoever asked can have another mail sent.',
};

const DE: VerificationTexts = {
  confirm: 'Bestätigen',
  question: 'Bestätigen Sie Ihre Adresse',
  asks: (name, address) => `${name} bittet darum, dass E-Mails an ${address} weitergeleitet werden dürfen.`,
  otherwise: 'Wenn Sie davon nichts wissen, schließen Sie diese Seite: Dann wird nichts an Sie weitergeleitet.',
  done: 'Ihre Adresse ist bestätigt',
  doneText: (address) => `E-Mails dürfen jetzt an ${address} weitergeleitet werden. Sie können diese Seite schließen.`,
  taken: 'Die Adresse gehört zu einem anderen Konto',
  takenText: (address) =>
    `Ein anderes Konto dieses Servers hat ${address} bestätigt. Es muss die Adresse erst aufgeben.`,
  gone: 'Dieser Link gilt nicht mehr',
  goneText:
    'Er wurde benutzt, eine neuere E-Mail hat ihn ersetzt, oder seine 48 Stunden sind um. Wer gefragt hat, kann eine weitere E-Mail senden lassen.',
};

const AR: VerificationTexts = {
  confirm: 'تأكيد',
  question: 'أكّد عنوانك',
  asks: (name, address) => `يطلب ${isolated(name)} السماح بإعادة توجيه البريد إلى ${isolated(address)}.`,
  otherwise: 'إذا كنت لا تعرف شيئًا عن هذا فأغلق هذه الصفحة: لن يُعاد توجيه شيء إليك.',
  done: 'تم تأكيد عنوانك',
  doneText: (address) => `يمكن الآن إعادة توجيه البريد إلى ${isolated(address)}. يمكنك إغلاق هذه الصفحة.`,
  taken: 'العنوان تابع لحساب آخر',
  takenText: (address) => `أكّد حساب آخر على هذا الخادم ${isolated(address)}. يجب أن يتخلى عن العنوان أولًا.`,
  gone: 'لم يعد هذا الرابط صالحًا',
  goneText: 'استُخدم من قبل، أو حلّت محله رسالة أحدث، أو انتهت ساعاته الـ48. يمكن لمن طلب أن يرسل رسالة أخرى.',
};

const ALL = { en: EN, de: DE, ar: AR } as const;

/** The statements of the page in the language that the browser wants (`accepted`: the value of Accept-Language). */
export function verificationPages(accepted: string) {
  const language = languageFor(accepted);
  const texts = ALL[language];
  const page = (title: string, text: readonly string[]): LinkPage => ({ language, title, text });
  return {
    /** `name`: of the account that asks. */
    question: (name: string, address: string): LinkPage => ({
      ...page(texts.question, [texts.asks(name, address), texts.otherwise]),
      button: { label: texts.confirm, isConfirmed: false },
    }),
    done: (address: string) => page(texts.done, [texts.doneText(address)]),
    taken: (address: string) => page(texts.taken, [texts.takenText(address)]),
    gone: () => page(texts.gone, [texts.goneText]),
  };
}
