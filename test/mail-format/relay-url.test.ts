// Tests which URLs name a smart host, and that none of them is ever shown with its password.
import { parseRelayUrl, shownRelayUrl } from '../../src/mail-format/relay-url.js';
import test from '../support/test.js';

test('a URL names host, port, TLS and credentials', (t) => {
  const credentials = { user: 'joe', password: 'secret' };
  t.deepEqual(parseRelayUrl('smtps://joe:secret@SMTP.example.net'), {
    host: 'smtp.example.net',
    port: 465,
    isImplicitTls: true,
    credentials,
  });
  t.deepEqual(parseRelayUrl('smtp://joe:secret@bücher.example:2525/'), {
    host: 'xn--bcher-kva.example',
    port: 2525,
    isImplicitTls: false,
    credentials,
  });
  t.deepEqual(parseRelayUrl('smtp://192.0.2.1'), {
    host: '192.0.2.1',
    port: 587,
    isImplicitTls: false,
    credentials: undefined,
  });
  t.like(parseRelayUrl('smtps://[2001:DB8::1]:4650'), { host: '2001:db8::1', port: 4650 });
  t.deepEqual(parseRelayUrl('smtp://joe%40example.net:p%3A%2F%23%25@h.example')?.credentials, {
    user: 'joe@example.net',
    password: 'p:/#%',
  });
  // The last @ ends the credentials.
  t.is(parseRelayUrl('smtp://joe:p@ss@h.example')?.credentials?.password, 'p@ss');
});

const WRONG = [
  'h.example',
  'http://h.example',
  'smtp:h.example',
  'smtp://',
  'smtp://joe@h.example',
  'smtp://:secret@h.example',
  'smtp://joe:@h.example',
  'smtp://joe:sec/ret@h.example',
  'smtp://joe:sec#ret@h.example',
  'smtp://joe:1?ret@h.example',
  'smtp://joe:%ZZ@h.example',
  'smtp://joe:a%00b@h.example',
  'smtp://h.example:0',
  'smtp://h.example:65536',
  'smtp://h.example/path',
  'smtp://h.example?tls=no',
  'smtp://-h.example',
  'smtp://300.1.1.1',
  'smtp://[::g]',
  `smtp://joe:${'x'.repeat(256)}@h.example`,
];

test('other text is refused', (t) => {
  for (const text of WRONG) t.is(parseRelayUrl(text), undefined, text);
});

test('the password is never shown', (t) => {
  t.is(shownRelayUrl('smtps://joe:secret@h.example'), 'smtps://joe:[hidden]@h.example:465');
  t.is(shownRelayUrl('smtp://joe%40x:secret@[::1]:25'), 'smtp://joe%40x:[hidden]@[::1]:25');
  t.is(shownRelayUrl('smtp://h.example'), 'smtp://h.example:587');
  for (const text of WRONG) t.is(shownRelayUrl(text), '[hidden]', text);
});
