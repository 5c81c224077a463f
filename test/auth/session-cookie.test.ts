// Tests when the cookie of a session counts: a table of schemes, hosts and origins, and the forms of the cookie.
import {
  type BrowserRequest,
  cookieCredential,
  isOwnSignIn,
  removedCookie,
  sessionCookieOf,
  sessionToken,
  setCookie,
} from '../../src/auth/session-cookie.js';
import test from '../support/test.js';

function request(isSecure: boolean, fields: Readonly<Record<string, string>>): BrowserRequest {
  return { isSecure, header: (name) => fields[name] ?? '' };
}

const BOTH = '__Host-mansio=secure; mansio=plain';

test('https has the cookie with the prefix, http under a loopback name the plain one, other http none', (t) => {
  const names = (isSecure: boolean, hosts: readonly string[]) =>
    hosts.map((host) => sessionCookieOf(request(isSecure, { host }))?.name);
  const loopback = ['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.8.9.1:1', '[::1]', '[::1]:8080'];
  const other = [
    ...['mail.example.test', '192.168.1.5:8080', '0.0.0.0', '[::]', 'localhost.evil.example', 'evil-localhost'],
    ...['127.0.0.1.evil.example', '2130706433', '0x7f.1', 'localhost@evil.example', 'localhost/', ''],
  ];
  t.deepEqual(new Set(names(false, loopback)), new Set(['mansio']));
  t.deepEqual(new Set(names(false, other)), new Set([undefined]));
  t.deepEqual(names(true, ['mail.example.test', 'localhost', '192.168.1.5']), Array(3).fill('__Host-mansio'));
  t.is(sessionCookieOf(request(true, {})), undefined, 'no host');
});

test('each scheme reads its own cookie alone; other http is refused', (t) => {
  const kept = (isSecure: boolean, host: string, cookie = BOTH) =>
    cookieCredential(request(isSecure, { host, cookie }), false);
  t.deepEqual(kept(true, 'mail.example.test'), { kind: 'session', token: 'secure' });
  t.deepEqual(kept(false, 'localhost:8080'), { kind: 'session', token: 'plain' });
  t.is(kept(true, 'mail.example.test', 'mansio=plain').kind, 'none');
  t.is(kept(false, 'localhost', '__Host-mansio=secure').kind, 'none');
  t.is(kept(false, 'mail.example.test').kind, 'refused');
  t.is(kept(false, 'mail.example.test', 'theme=dark').kind, 'none');
  t.is(kept(false, '').kind, 'refused');
});

/** Our own origin is https://mail.example.test. */
const ORIGINS: readonly (readonly [origin: string, site: string, reads: boolean, writes: boolean])[] = [
  ['', '', true, false],
  ['', 'same-origin', true, false],
  ['', 'none', true, false],
  ['', 'same-site', false, false],
  ['', 'cross-site', false, false],
  ['https://mail.example.test', '', true, true],
  ['https://mail.example.test', 'same-origin', true, true],
  ['https://mail.example.test:443', '', false, false],
  ['https://mail.example.test:8443', '', false, false],
  ['http://mail.example.test', '', false, false],
  ['https://example.test', 'same-site', false, false],
  ['https://evil.mail.example.test', 'same-site', false, false],
  ['https://evil.example', 'cross-site', false, false],
  ['https://mail.example.test.evil.example', '', false, false],
  ['null', 'same-origin', false, false],
  ['null', '', false, false],
];

test('a cookie counts for requests of the own page: a table of origins', (t) => {
  for (const host of ['mail.example.test', 'mail.example.test:443', 'MAIL.example.test']) {
    for (const [origin, site, reads, writes] of ORIGINS) {
      const from = request(true, { host, cookie: BOTH, origin, 'sec-fetch-site': site });
      const counts = (takesEffect: boolean) => cookieCredential(from, takesEffect).kind === 'session';
      t.is(counts(false), reads, `read of ${host} from ${origin} ${site}`);
      t.is(counts(true), writes, `write to ${host} from ${origin} ${site}`);
    }
  }
});

test('the own origin has the scheme and the port of the request', (t) => {
  const counts = (isSecure: boolean, host: string, origin: string) =>
    cookieCredential(request(isSecure, { host, cookie: BOTH, origin }), true).kind === 'session';
  t.true(counts(false, 'localhost:8080', 'http://localhost:8080'));
  t.false(counts(false, 'localhost:8080', 'http://localhost:3000'));
  t.false(counts(false, 'localhost:8080', 'https://localhost:8080'));
  t.false(counts(false, 'localhost:8080', 'http://127.0.0.1:8080'));
  t.true(counts(false, 'localhost', 'http://localhost'));
  t.true(counts(true, 'mail.example.test:8443', 'https://mail.example.test:8443'));
});

test('a sign-in is our own page’s, or a program’s; forms without a referrer prove it otherwise', (t) => {
  const signsIn = (origin: string, site: string) =>
    isOwnSignIn(request(true, { host: 'mail.example.test', origin, 'sec-fetch-site': site }));
  t.true(signsIn('', ''), 'a program');
  t.true(signsIn('https://mail.example.test', 'same-origin'));
  t.true(signsIn('https://mail.example.test', ''));
  t.true(signsIn('null', 'same-origin'), 'a form of a page with the policy no-referrer');
  t.false(signsIn('null', ''));
  t.false(signsIn('null', 'cross-site'));
  t.false(signsIn('null', 'same-site'));
  t.false(signsIn('null', 'none'));
  t.false(signsIn('', 'cross-site'));
  t.false(signsIn('https://evil.example', 'same-origin'));
  t.false(signsIn('http://mail.example.test', ''));
});

test('cookies are found among others, whoever divided the fields', (t) => {
  const token = (cookie: string) => sessionToken(request(false, { host: 'localhost', cookie }));
  t.is(token('a=b; mansio=x; c=d'), 'x');
  t.is(token('a=b;\t mansio=x \t;c=d'), 'x');
  t.is(token('a=b,mansio=x'), undefined);
  t.is(token('a=b,mansio=x; mansio=y'), 'y');
  for (const space of ['\u00a0', '\u2000', '\u3000', '\ufeff', '\v', '\f']) {
    t.is(token(`${space}mansio=x; mansio=y`), 'y');
    t.is(token(`mansio${space}=x`), undefined);
  }
  t.is(token('mansio=x; mansio=y'), undefined);
  t.is(token('mansio=; a=b'), undefined);
  t.is(token('nomansio=x; mansio2=y; mansio'), undefined);
  t.is(token(''), undefined);
});

test('scripts cannot read the cookie, other sites do not send it, and https alone carries that of https', (t) => {
  const secure = { name: '__Host-mansio', isSecure: true } as const;
  const plain = { name: 'mansio', isSecure: false } as const;
  t.is(setCookie(secure, 'K'), '__Host-mansio=K; Max-Age=15552000; Path=/; Secure; HttpOnly; SameSite=Strict');
  t.is(setCookie(plain, 'K'), 'mansio=K; Max-Age=15552000; Path=/; HttpOnly; SameSite=Strict');
  t.is(removedCookie(secure), '__Host-mansio=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict');
  t.is(removedCookie(plain), 'mansio=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict');
});
