// Tests what a key can be made for.
import { purposesWith } from '../../../../web/src/settings/keys/purposes.js';
import test from '../../../support/test.js';

const protocol = (enabled: boolean) => ({ enabled, serverName: 'mail.example.test', port: 1, securePort: 2 });

test('keys are offered for the protocols that are served', (t) => {
  const [on, off] = [protocol(true), protocol(false)];
  for (const [imap, pop3, smtp, expected] of [
    [on, on, on, ['imap', 'pop3', 'apple', 'smtp', 'read', 'write']],
    [on, off, on, ['imap', 'apple', 'smtp', 'read', 'write']],
    [off, on, on, ['pop3', 'apple', 'smtp', 'read', 'write']],
    [off, off, on, ['smtp', 'read', 'write']],
    [on, on, off, ['read', 'write']],
  ] as const) {
    t.deepEqual([...purposesWith({ imap, pop3, smtp })], [...expected]);
  }
});
