// Checks that the hub clients in documents reconnect for ever: the library's own policy gives up after four attempts.
import { readFileSync } from 'node:fs';
import test from '../support/test.js';

interface Policy {
  nextRetryDelayInMilliseconds(retry: { readonly previousRetryCount: number }): number | null;
}

test('every client of the guide reconnects for ever, after 30 s at most, and not all clients at once', (t) => {
  const text = readFileSync('docs/guide.md', 'utf8');
  const policies = Array.from(
    text.matchAll(/^ {2}\.withAutomaticReconnect\((.*?)\)\n {2}\.build/gms),
    ([, given]) => given!,
  );
  t.is(policies.length, 2);
  t.is(policies.length, text.split('.withUrl(').length - 1);
  for (const given of policies) {
    const policy = new Function(`return ${given}`)() as Policy | undefined;
    for (const previousRetryCount of [0, 1, 4, 5, 100, 5_000]) {
      const delays = new Set(
        Array.from({ length: 20 }, () => policy?.nextRetryDelayInMilliseconds({ previousRetryCount })),
      );
      t.true(delays.size > 1, `${previousRetryCount}`);
      for (const delay of delays) t.true(typeof delay === 'number' && delay >= 0 && delay <= 30_000);
    }
  }
});

test('README says what Mansio does not do yet, and leads to the changelog and to how a vulnerability is reported', (t) => {
  const text = readFileSync('README.md', 'utf8');
  const section = /^## What it does not do yet\n(.*?)^## /ms.exec(text)?.[1] ?? '';
  for (const word of ['virus', 'shared mailboxes', 'DANE', 'JMAP'])
    t.true(section.toLowerCase().includes(word.toLowerCase()), word);
  for (const page of ['CHANGELOG.md', 'SECURITY.md']) t.true(text.includes(`(${page})`), page);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const titles = readFileSync('CHANGELOG.md', 'utf8').match(/^#{1,2} .*$/gm) ?? [];
  const [title, newest] = titles.filter((line) => line !== '## Unreleased');
  t.is(title, '# Changelog');
  const [, shown, date] = /^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$/.exec(newest ?? '') ?? [];
  t.is(shown, version);
  t.is(date === undefined, version.includes('-'), 'a release has its date');
  t.regex(readFileSync('SECURITY.md', 'utf8'), /^## Report a vulnerability$/m);
});
