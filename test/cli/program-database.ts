// Gives tests of the admin commands a database of their own, which the environment of the process names, with one domain and one account.
import { connect, type Sql } from '../../src/store/postgres/driver/client.js';
import { mansio } from '../support/command-line.js';
import { testDatabase } from '../support/database/embedded-database.js';

export interface ProgramDatabase {
  readonly sql: Sql;
  close(): Promise<void>;
}

export async function programDatabase(): Promise<ProgramDatabase> {
  const database = await testDatabase();
  const { host, port, user, database: name } = database.address;
  // The driver reads the directory of a socket only from PGHOST, not from a URL.
  Object.assign(process.env, { PGHOST: host, PGPORT: port, PGUSER: user, DATABASE_URL: `postgres:///${name}` });
  process.env['MANSIO_HOSTNAME'] = 'mail.example.test';
  const sql = connect(database.address, { max: 2, applicationName: 'test' });
  await mansio('domain', 'add', 'example.test');
  await mansio('account', 'create', '--email', 'taken@example.test', '--name', 'T');
  return {
    sql,
    close: async () => {
      await sql.end();
      await database.drop();
    },
  };
}
