// Tests browsers and systems in words, with the User-Agent fields that browsers send.
import { agentOf } from '../../../web/src/settings/user-agent.js';
import test from '../../support/test.js';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const IOS = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

test('browsers and systems have their names', (t) => {
  for (const [userAgent, browser, system] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox', 'Linux'],
    ['Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0', 'Firefox', 'Android'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36`, 'Chrome', 'Windows'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/130.0.0.0 Safari/537.36`, 'Chrome', 'Linux'],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36`, 'Chrome', 'ChromeOS'],
    [`Mozilla/5.0 (Windows NT 10.0) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`, 'Edge', 'Windows'],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/129.0.0.0 Safari/537.36 OPR/115.0`,
      'Opera',
      'macOS',
    ],
    [
      `Mozilla/5.0 (Linux; Android 13; SM-S901B) ${WEBKIT} SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet',
      'Android',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
      'Safari',
      'macOS',
    ],
    [`${IOS} Version/17.5 Mobile/15E148 Safari/604.1`, 'Safari', 'iPhone'],
    [`${IOS} CriOS/130.0.0.0 Mobile/15E148 Safari/604.1`, 'Chrome', 'iPhone'],
    [`${IOS} FxiOS/130.0 Mobile/15E148 Safari/605.1.15`, 'Firefox', 'iPhone'],
  ] as const) {
    t.deepEqual(agentOf(userAgent), { browser, system }, userAgent);
  }
});

test('programs have their own name, and what names nothing has none', (t) => {
  t.deepEqual(agentOf('curl/8.10.1'), { browser: 'curl' });
  t.deepEqual(agentOf('node'), { browser: 'node' });
  t.deepEqual(agentOf(''), {});
  t.deepEqual(agentOf('Mozilla/5.0 (Haiku)'), {});
});
