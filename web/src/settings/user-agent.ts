// Browsers and systems in words, from the User-Agent field. The field has the names of many browsers at once, so the order counts.

export interface Agent {
  /** A product's name, which no language translates; undefined when the field names none. */
  readonly browser?: string;
  readonly system?: string;
}

const BROWSERS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOPT\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChromium\//, 'Chromium'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b|\biPod\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Programs that call themselves by `name/version` and nothing else. */
const PROGRAM = /^([\w.-]{1,40})(?:\/|$)/;

export function agentOf(userAgent: string): Agent {
  const system = named(SYSTEMS, userAgent);
  const browser = named(BROWSERS, userAgent) ?? programOf(userAgent);
  return { ...(browser !== undefined && { browser }), ...(system !== undefined && { system }) };
}

function named(names: readonly (readonly [mark: RegExp, name: string])[], userAgent: string): string | undefined {
  return names.find(([mark]) => mark.test(userAgent))?.[1];
}

function programOf(userAgent: string): string | undefined {
  const name = PROGRAM.exec(userAgent.trim())?.[1];
  return name === 'Mozilla' ? undefined : name;
}
