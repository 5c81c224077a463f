// Tests at which hosts passkeys work.
import { relyingPartyOf } from '../../../src/auth/passkeys/relying-party.js';
import test from '../../support/test.js';

const at = (host: string, isSecure: boolean, publicUrl?: string) =>
  relyingPartyOf({ isSecure, header: (name) => (name === 'host' ? host : '') }, publicUrl);

test('localhost and the host of the public URL have passkeys, others have none', (t) => {
  t.deepEqual(at('localhost:8080', false), { id: 'localhost', origin: 'http://localhost:8080' });
  t.deepEqual(at('localhost', true, 'https://mail.example.test'), { id: 'localhost', origin: 'https://localhost' });
  const mail = { id: 'mail.example.test', origin: 'https://mail.example.test' };
  t.deepEqual(at('Mail.Example.test', true, 'https://mail.example.test/app/'), mail);
  t.deepEqual(at('mail.example.test:8443', true, 'https://mail.example.test:8443'), {
    ...mail,
    origin: `${mail.origin}:8443`,
  });
  const refused: readonly (readonly [string, boolean, string?])[] = [
    ['mail.example.test', false, 'https://mail.example.test'],
    ['evil.test', true, 'https://mail.example.test'],
    ['mail.example.test:8443', true, 'https://mail.example.test'],
    ['mail.example.test', true, 'https://mail.example.test:8443'],
    ['mail.example.test', true],
    ['127.0.0.1:8080', false],
    ['127.0.0.1', true, 'https://127.0.0.1'],
    ['[::1]', true, 'https://[::1]'],
    ['a.localhost', false],
    ['', true, 'https://mail.example.test'],
    ['mail.example.test', true, 'nonsense'],
  ];
  for (const of of refused) t.true('refusal' in at(...of), of.join(' '));
});
