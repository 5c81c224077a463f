// Tests which requests without a credential act for the anonymous account: those for our own names, in the form of browsers.

import { anonymousGuard } from '../../src/auth/origin.js';
import test from '../support/test.js';

const guard = anonymousGuard({ hostname: 'mail.example.test', publicUrl: 'https://app.example.test/mail-format' });
const refused = (host: string) => guard({ host, origin: '', takesEffect: true }) !== undefined;

test('our names, and addresses of loopback as URLs write them', (t) => {
  for (const host of [
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.8.9.1:1',
    '[::1]',
    '[::1]:8080',
    'mail.example.test',
    'Mail.Example.test:443',
    'app.example.test',
  ])
    t.false(refused(host), host);
});

test('no other form of an address is a name of loopback', (t) => {
  for (const host of [
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '2130706433:8080',
    '017700000001',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '127.0.0.01',
    '127.0.0.1.',
    '0',
    '[::ffff:127.0.0.1]',
    '%6cocalhost',
    'ｌocalhost',
    '①27.0.0.1',
    'localhost.',
    'evil.test',
    '',
    ':80',
    'localhost:99999',
    'localhost@evil.test',
  ])
    t.true(refused(host), host);
});
