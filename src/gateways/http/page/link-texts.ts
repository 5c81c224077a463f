// The texts of the page of a link for one sign-in, in the languages of the page, and the choice between them by Accept-Language.

export interface LinkTexts {
  readonly language: 'en' | 'de' | 'ar';
  readonly signIn: string;
  /** `name`: of the account. */
  invitation(name: string): string;
  readonly another: string;
  /** `signedIn`: the address of whoever is signed in. */
  question(signedIn: string, name: string): string;
  readonly stay: string;
  signInAs(email: string): string;
  readonly gone: string;
  readonly goneText: string;
  readonly refused: string;
  /** The scheme and the host may have no session. */
  readonly insecure: string;
  /** Another page has posted the form. */
  readonly foreign: string;
}

/** Names run from left to right or the other way, whatever is around them (UAX #9: FSI, PDI). */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

const EN: LinkTexts = {
  language: 'en',
  signIn: 'Sign in',
  invitation: (name) => `This link signs this browser in to the mail of ${name}. It works once.`,
  another: 'Somebody else is signed in',
  question: (signedIn, name) =>
    `${signedIn} is signed in in this browser. If you go on, that session ends and the browser is signed in to the mail of ${name}.`,
  stay: 'To stay signed in as before, close this page: nothing has changed.',
  signInAs: (email) => `Sign in as ${email}`,
  gone: 'This link no longer works',
  goneText:
    'It was used, or its time is over. Make another one in a browser that is signed in (Settings, Devices), or ask the operator of this server, who makes one with this command:',
  refused: 'This browser cannot be signed in here',
  insecure:
    'Sessions need https; over http they work under localhost only. Open the link with https, or ask the operator of this server.',
  foreign: 'Another page has sent this form. Open the link itself, and press its button.',
};

const DE: LinkTexts = {
  language: 'de',
  signIn: 'Anmelden',
  invitation: (name) => `Dieser Link meldet diesen Browser bei der Mail von ${name} an. Er gilt einmal.`,
  another: 'Jemand anders ist angemeldet',
  question: (signedIn, name) =>
    `${signedIn} ist in diesem Browser angemeldet. Wenn Sie fortfahren, endet diese Sitzung, und der Browser wird bei der Mail von ${name} angemeldet.`,
  stay: 'Wenn alles bleiben soll, wie es ist, schließen Sie diese Seite: Es hat sich nichts geändert.',
  signInAs: (email) => `Als ${email} anmelden`,
  gone: 'Dieser Link gilt nicht mehr',
  goneText:
    'Er wurde benutzt, oder seine Zeit ist um. Erstellen Sie einen neuen in einem angemeldeten Browser (Einstellungen, Geräte), oder fragen Sie den Betreiber dieses Servers, der mit diesem Befehl einen erstellt:',
  refused: 'Dieser Browser kann hier nicht angemeldet werden',
  insecure:
    'Sitzungen brauchen https; über http gehen sie nur unter localhost. Öffnen Sie den Link mit https, oder fragen Sie den Betreiber dieses Servers.',
  foreign:
    'Eine andere Seite hat dieses Formular geschickt. Öffnen Sie den Link selbst, und drücken Sie dort den Knopf.',
};

const AR: LinkTexts = {
  language: 'ar',
  signIn: 'تسجيل الدخول',
  invitation: (name) => `يسجّل هذا الرابط دخول هذا المتصفح إلى بريد ${isolated(name)}. وهو صالح مرة واحدة.`,
  another: 'شخص آخر مسجّل الدخول',
  question: (signedIn, name) =>
    `${isolated(signedIn)} مسجّل الدخول في هذا المتصفح. إذا تابعت فستنتهي تلك الجلسة ويُسجَّل دخول المتصفح إلى بريد ${isolated(name)}.`,
  stay: 'ليبقى كل شيء كما كان، أغلق هذه الصفحة: لم يتغير شيء.',
  signInAs: (email) => `تسجيل الدخول باسم ${isolated(email)}`,
  gone: 'لم يعد هذا الرابط صالحًا',
  goneText:
    'استُخدم من قبل أو انتهى وقته. أنشئ رابطًا آخر في متصفح مسجّل الدخول (الإعدادات، الأجهزة)، أو اسأل مشغّل هذا الخادم الذي ينشئ رابطًا بهذا الأمر:',
  refused: 'لا يمكن تسجيل دخول هذا المتصفح هنا',
  insecure:
    'تحتاج الجلسات إلى https؛ وعبر http تعمل تحت localhost وحده. افتح الرابط عبر https أو اسأل مشغّل هذا الخادم.',
  foreign: 'أرسلت صفحة أخرى هذا النموذج. افتح الرابط نفسه واضغط زره.',
};

const ALL: Readonly<Record<LinkTexts['language'], LinkTexts>> = { en: EN, de: DE, ar: AR };
/** A longer list of languages is cut: no browser sends one. */
const LONGEST_LIST = 1_000;

export function linkTextsFor(accepted: string): LinkTexts {
  return ALL[languageFor(accepted)];
}

/** `accepted`: the value of Accept-Language (RFC 9110 §12.5.4). The languages that are wanted most come first; English is the last resort. */
export function languageFor(accepted: string): LinkTexts['language'] {
  const wanted = accepted
    .slice(0, LONGEST_LIST)
    .split(',')
    .map((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
      return { language: range.split('-')[0]!, weight: /^[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight) : 0 };
    });
  const known = wanted.filter(({ language, weight }) => weight > 0 && Object.hasOwn(ALL, language));
  const [best] = known.sort((a, b) => b.weight - a.weight);
  return (best?.language ?? 'en') as LinkTexts['language'];
}
