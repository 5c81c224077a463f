// Checks that the hand-written pages of docs/interface agree with the code where both list the same things.
import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { bareRoutes } from '../../dev/docs/openapi-document.js';
import { assemble } from '../../src/cli/program.js';
import { VARIABLES } from '../../src/node/config/variables.js';
import { SCOPES } from '../../src/store/directory.js';
import test from '../support/test.js';

const page = (name: string): string => readFileSync(`docs/interface/${name}.md`, 'utf8');

function section(name: string, heading: string): string {
  const found = page(name).split(`\n## ${heading}\n`)[1];
  if (found === undefined) throw new Error(`docs/interface/${name}.md has no heading ${heading}`);
  return found.split('\n## ')[0]!;
}

const codes = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, code]) => code!);

test('credentials: public endpoints are those of the route table', (t) => {
  const listed = codes(section('credentials', 'Scopes').split('Public, without a credential:')[1]!);
  const routes = bareRoutes().filter(({ access, inDocument }) => access === 'public' && inDocument);
  const paths = new Set(routes.map(({ path }) => path));
  t.deepEqual(listed.filter((path) => path !== '/api/docs').sort(), [...paths].sort());
});

test('credentials: the table of scopes has each scope', (t) => {
  const rows = section('credentials', 'Scopes').match(/^\| `.*$/gm) ?? [];
  t.deepEqual(rows.flatMap((row) => codes(row.split('|')[1]!)).sort(), [...SCOPES].sort());
});

test('operator: the table of commands has each command', async (t) => {
  const program = await assemble(new Command('mansio'), []);
  const names = (group: Command, path: string): string[] =>
    group.commands.length === 0
      ? [path]
      : group.commands.flatMap((each) => names(each, `${path} ${each.name()}`.trim()));
  const rows = section('operator', 'Commands').match(/^\| `mansio .*$/gm) ?? [];
  const listed = rows
    .flatMap((row) => codes(row.split('|')[1]!))
    .map((code) => /^(?:mansio )?([a-z]+(?: [a-z]+)?)/.exec(code)![1]!);
  t.deepEqual(listed.sort(), names(program, '').sort());
});

test('index: default ports are those of the settings', (t) => {
  const ports = (section('README', 'Protocols').match(/^\| (?:SMTP|Sub|REST|IMAP|POP3).*$/gm) ?? []).flatMap((row) =>
    row.split('|')[3]!.split(',').map(Number),
  );
  const { mxPort, submissionPort, submissionsPort, httpPort, imapPort, imapsPort, pop3Port, pop3sPort } = VARIABLES;
  const settings = [mxPort, submissionPort, submissionsPort, httpPort, imapPort, imapsPort, pop3Port, pop3sPort];
  t.deepEqual(
    ports,
    settings.map(({ initial }) => initial),
  );
});

test('hub: every event of docs/hub.md is sent by the hub', (t) => {
  const tables = readFileSync('docs/hub.md', 'utf8').split('## Resuming')[0]!;
  const names = (tables.match(/^\| `[A-Z].*$/gm) ?? []).flatMap((row) => codes(row.split('|')[1]!));
  const folders = ['src/gateways/hub', 'src/gateways/events'];
  const source = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8')),
  );
  t.true(names.length >= 14);
  t.deepEqual(
    names.filter((name) => !source.some((text) => text.includes(`'${name}'`))),
    [],
  );
});
