// Values that the cluster agrees on once: the first writer wins, and all others read its value. Of a report the last writer wins.
import type { SettingStore, StoredReports } from '../settings.js';
import { guarded, type Sql, storeFault } from './driver/client.js';

export function postgresSettings(sql: Sql): SettingStore {
  return {
    async getOrCreate(key, initial) {
      try {
        const stored = await readSetting(sql, key);
        if (stored !== undefined) return stored;
        await insertSetting(sql, key, initial());
        return (await readSetting(sql, key))!;
      } catch (error) {
        throw storeFault(error);
      }
    },
  };
}

export function postgresReports(sql: Sql): StoredReports {
  return {
    read: (key) => guarded(() => readSetting(sql, key)),
    write: (key, text) =>
      guarded(async () => {
        await sql`
          insert into settings (key, value) values (${key}, ${text})
          on conflict (key) do update set value = excluded.value`;
      }),
  };
}

async function readSetting(sql: Sql, key: string): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from settings where key = ${key}`;
  return row?.value;
}

async function insertSetting(sql: Sql, key: string, value: string): Promise<void> {
  await sql`insert into settings (key, value) values (${key}, ${value}) on conflict (key) do nothing`;
}
