// Makes the program of a made-up later version from the built one: another version, one more migration, which only adds, and a member more in
// each request to a mailbox. So a test upgrades nodes to a neighbouring version and back (decision 0082).
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PROGRAM } from '../../../../dev/node-process.js';
import { temporaryDirectory } from '../../../../dev/temporary-directory.js';

export interface LaterVersion {
  readonly version: string;
  /** Its bin/mansio. */
  readonly program: string;
  /** The name of its migration. */
  readonly migration: string;
}

const CLONE = resolve(dirname(PROGRAM), '..');
const BUNDLE = 'dist/program';
const REQUEST = /\{\s*v:\s*PACKET_VERSION\d*,\s*id(?:\d+|:\s*\w+)?,\s*accountId/;

/** A column with a default and one without, and a table with a row for each account, which goes with the account. */
export const ADDS_A_TABLE = `
alter table emails add column weight integer not null default 7;
create table later_notes (account_id uuid not null references accounts (id) on delete cascade, note text, primary key (account_id));
insert into later_notes select id, 'made' from accounts;
`;

/** Every table has a column that the present version does not know. */
export const ADDS_TO_ALL_TABLES = `
do $$
declare name text;
begin
  for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations' loop
    execute format('alter table %I add column later text, add column weight integer not null default 7', name);
  end loop;
end $$;
`;

export function laterVersion(change: string): LaterVersion {
  const folder = temporaryDirectory('mansio-later-');
  for (const part of ['bin', BUNDLE]) cpSync(join(CLONE, part), join(folder, part), { recursive: true });
  symlinkSync(join(CLONE, 'node_modules'), join(folder, 'node_modules'));
  const manifest = JSON.parse(readFileSync(join(CLONE, 'package.json'), 'utf8'));
  const version = `${manifest.version.replace(/\d+$/, (patch: string) => String(Number(patch) + 1))}-later`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  const migrations = join(folder, BUNDLE, 'migrations');
  const newest = Math.max(...readdirSync(migrations).map((name) => Number.parseInt(name, 10)));
  const migration = `${String(newest + 1).padStart(4, '0')}_later`;
  writeFileSync(join(migrations, `${migration}.sql`), change);
  addMember(join(folder, BUNDLE));
  return { version, program: join(folder, 'bin/mansio'), migration };
}

function addMember(bundle: string): void {
  let changed = 0;
  for (const name of readdirSync(bundle).filter((name) => name.endsWith('.js'))) {
    const code = readFileSync(join(bundle, name), 'utf8');
    if (!REQUEST.test(code)) continue;
    writeFileSync(
      join(bundle, name),
      code.replace(REQUEST, (start) => start.replace('{', '{ weight: 7,')),
    );
    changed++;
  }
  if (changed !== 1) throw new Error(`requests are made at ${changed} places of the bundle`);
}
