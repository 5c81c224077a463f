// Values that the cluster agrees on once. The first writer wins; all others read its value.
import type { SettingStore } from '../settings.js';
import { type Sql, storeFault } from './driver/client.js';

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

async function readSetting(sql: Sql, key: string): Promise<string | undefined> {
  const [row] = await sql<{ value: string }[]>`select value from settings where key = ${key}`;
  return row?.value;
}

async function insertSetting(sql: Sql, key: string, value: string): Promise<void> {
  await sql`insert into settings (key, value) values (${key}, ${value}) on conflict (key) do nothing`;
}
