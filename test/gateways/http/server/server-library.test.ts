// Tests which build of uWebSockets.js is loaded, and the message for the operator when there is none.
import { readFileSync } from 'node:fs';
import {
  loadNewest,
  loadServerLibrary,
  missing,
  ServerLibraryFault,
} from '../../../../src/gateways/http/server/server-library.js';
import test from '../../../support/test.js';

const debian12 = { system: 'linux', processor: 'x64', glibc: '2.36' };
const debian13 = { system: 'linux', processor: 'x64', glibc: '2.41' };

test('exactly one build is in the process', async (t) => {
  const library = await loadServerLibrary();
  t.is(await loadServerLibrary(), library);
  t.is(typeof library.App, 'function');
  if (process.platform !== 'linux') return;
  const mapped = readFileSync('/proc/self/maps', 'latin1').match(/\S*uws\.node$/gm) ?? [];
  t.is(new Set(mapped).size, 1, mapped.join());
});

test('the first build that loads is taken, and none is loaded after it', async (t) => {
  const library = await loadServerLibrary();
  const broken = { load: () => Promise.reject(new Error("version `GLIBC_2.38' not found")), nodes: [22] };
  const good = { load: async () => library, nodes: [20, 22] };
  const unwanted = { load: async () => t.fail() as never, nodes: [22] };
  const platform = { ...debian12, node: '22.20.0' };
  t.is(await loadNewest([good, unwanted], platform), library);
  t.is(await loadNewest([broken, good, unwanted], platform), library);
  t.is(await loadNewest([unwanted, good], { ...platform, node: '20.19.0' }), library);
  const fault = await t.throwsAsync(loadNewest([broken, broken], platform), { instanceOf: ServerLibraryFault });
  t.deepEqual(
    (fault.cause as AggregateError).errors.map(({ message }) => message),
    ["version `GLIBC_2.38' not found", "version `GLIBC_2.38' not found"],
  );
});

test('one sentence says what is missing and what to do', (t) => {
  const cases = [
    [
      { ...debian12, node: '24.12.0' },
      /Node\.js 24\.12\.0 on linux x64 with glibc 2\.36.*needs glibc 2\.38.*Debian 13.*or Node\.js 20 or 22 here$/,
    ],
    [
      { ...debian12, node: '26.0.0', glibc: '2.26' },
      /needs glibc 2\.38 or later; use a newer system, such as Debian 13 or Ubuntu 24\.04$/,
    ],
    [{ ...debian12, node: '20.19.0', glibc: '2.17' }, /needs glibc 2\.27 or later; use a newer system/],
    [{ ...debian12, node: '24.12.0', glibc: undefined }, /without glibc: use a system that has glibc.*Alpine/],
    [{ ...debian13, node: '21.7.0' }, /no build for Node\.js 21\.7\.0.*: use Node\.js 24 /],
    [{ ...debian13, node: '24.12.0' }, /@uwsjs\/linux-x64-24 .* is not installed: run "npm ci" .*--omit=optional$/],
    [{ ...debian12, node: '22.20.0' }, /@uwsjs\/linux-x64-22 .* is not installed/],
    [{ system: 'darwin', processor: 'arm64', node: '24.12.0', glibc: undefined }, /@uwsjs\/darwin-arm64-24 /],
    [{ system: 'win32', processor: 'x64', node: '24.12.0', glibc: undefined }, /use Linux or macOS/],
    [{ ...debian13, processor: 'riscv64', node: '24.12.0' }, /linux riscv64.*use Linux or macOS on x64 or arm64/],
  ] as const;
  for (const [platform, sentence] of cases) {
    t.regex(missing(platform), sentence);
    t.notRegex(missing(platform), /\n/);
  }
});
