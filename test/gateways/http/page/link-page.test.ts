// Tests that the page of a link looks as the page does.
import { readFileSync } from 'node:fs';
import { STYLE } from '../../../../src/gateways/http/page/link-page.js';
import test from '../../../support/test.js';

test('its colours and sizes are those of the page', (t) => {
  const tokens = readFileSync('web/src/design/tokens.css', 'utf8');
  const own = [...STYLE.matchAll(/^ {2}--[\w-]+: [^;]+;$/gm)].map(([line]) => line);
  t.true(own.length > 10);
  for (const line of own) t.true(tokens.includes(`${line}\n`), line);
});
