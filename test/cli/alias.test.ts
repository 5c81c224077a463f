// Tests `mansio alias` and `mansio domain alias` as an operator types them.
import { mansioJson as json, mansio } from '../support/command-line.js';
import test from '../support/test.js';
import { programDatabase } from './program-database.js';

let close: () => Promise<void>;

test.before(async () => {
  ({ close } = await programDatabase());
});

test.after.always(() => close?.());

test.serial('alias add, list and remove', async (t) => {
  const sales = { address: 'sales@example.test', targets: ['taken@example.test', 'new@example.test'], sendAs: true };
  const to = ['--to', 'Taken+x@example.test', 'new@example.test', 'taken@example.test', '--send-as'];
  t.deepEqual(await json('alias', 'add', 'Sales@example.test', ...to), sales);
  const all = { address: '*@sub.example.test', targets: ['taken@example.test'], sendAs: false };
  t.deepEqual(await json('alias', 'add', '*@sub.example.test', '--to', 'taken@example.test'), all);
  t.deepEqual(await json('alias', 'list'), [all, sales]);
  t.deepEqual(await json('alias', 'list', '--domain', 'Example.test'), [sales]);
  t.regex(
    (await mansio('trace', 'any@sub.example.test')).err,
    /^error: any@sub\.example\.test has the alias \*@sub\.example\.test, whose mail goes to taken@example\.test: trace /,
  );
  t.deepEqual(await json('alias', 'remove', 'SALES@example.test'), sales);
  t.deepEqual(await json('alias', 'list', '--domain', 'example.test'), []);
});

test.serial('what cannot be an alias is refused with one line', async (t) => {
  const refusals: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['taken@example.test', '--to', 'x@example.test'], /^error: taken@example\.test is an address of an account\n$/],
    [['a@example.test', '--to', 'a@example.test'], /^error: a@example\.test then leads back to itself\n$/],
    [['a@nowhere.test', '--to', 'a@example.test'], /^error: not a hosted domain: nowhere\.test/],
    [
      ['a@example.test', '--to', 'a@gmail.test'],
      /^error: no account has postmaster@example\.test, to which mail for a@gmail\.test/,
    ],
    [['a@example.test', '--to', '*@example.test'], /is no single address/],
    [['a+b@example.test', '--to', 'a@example.test'], /an alias has no \+tag/],
    [['nonsense', '--to', 'a@example.test'], /^error: not an e-mail address: nonsense\n$/],
  ];
  for (const [args, line] of refusals) {
    const { code, err } = await mansio('alias', 'add', ...args);
    t.is(code, 1);
    t.regex(err, line);
  }
  t.regex(
    (await mansio('alias', 'list', '--domain', 'nowhere.test')).err,
    /^error: not a hosted domain: nowhere\.test/,
  );
  t.regex((await mansio('alias', 'remove', 'none@example.test')).err, /^error: no such alias: none@example\.test/);
  t.deepEqual(await json('alias', 'list', '--domain', 'example.test'), []);
});

test.serial('domain alias hosts a domain with keys of its own, as another name of one', async (t) => {
  const made = await json('domain', 'alias', 'New.test', 'example.test');
  t.like(made, { name: 'new.test', aliasOf: 'example.test', added: true, dkimKeys: 'made' });
  t.like(await json('domain', 'alias', 'new.test', 'example.test'), { added: false, dkimKeys: 'present' });
  const domains = (await json('domain', 'list')) as { name: string; aliasOf: string | null }[];
  t.deepEqual(
    domains.map(({ name, aliasOf }) => [name, aliasOf]),
    [
      ['example.test', null],
      ['new.test', 'example.test'],
    ],
  );
  t.regex((await mansio('domain', 'remove', 'example.test', '--yes')).err, /remove them first \(new\.test\)\n$/);
  t.regex((await mansio('domain', 'alias', 'other.test', 'nowhere.test')).err, /^error: not a hosted domain: nowhere/);
  t.is((await json('domain', 'list')).length, 2, 'a refusal hosts nothing');
  t.deepEqual(await json('domain', 'remove', 'new.test'), { name: 'new.test', removed: true });
});
