// Tests the line that a newcomer pastes.
import { sendingLine } from '../../../web/src/list/sending-line.js';
import test from '../../support/test.js';

test('the line sends to the server that accepts mail; on the machine itself by the name of the page', (t) => {
  t.is(
    sendingLine('mx.example.org:25', 'zoe@example.org', 'mail.example.org'),
    "printf 'From: you@example.org\\r\\nTo: zoe@example.org\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n' | curl -sS smtp://mx.example.org:25 --mail-from you@example.org --mail-rcpt zoe@example.org -T -",
  );
  t.regex(sendingLine('zoes-laptop:2525', 'demo@example.test', 'localhost')!, / smtp:\/\/localhost:2525 /);
  t.regex(sendingLine('zoes-laptop:2525', 'demo@example.test', '127.0.0.1')!, / smtp:\/\/127\.0\.0\.1:2525 /);
});

test('there is no line without such a server, and no address leaves its place in the line', (t) => {
  t.is(sendingLine(undefined, 'zoe@example.org', 'localhost'), undefined);
  const line = sendingLine('a:25', "o'hara;50%@example.org", 'example.org')!;
  t.true(line.startsWith("printf 'From: you@example.org\\r\\nTo: o'\\''hara;50%%@example.org\\r\\n"), line);
  t.true(line.endsWith(" --mail-rcpt 'o'\\''hara;50%@example.org' -T -"), line);
});
