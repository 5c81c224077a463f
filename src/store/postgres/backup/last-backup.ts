// The time of the last complete backup, a report among the settings: health, metrics and `mansio doctor` tell its age.
import type { LastBackup } from '../../backup/store-snapshot.js';
import type { Sql } from '../driver/client.js';
import { postgresReports } from '../settings.js';
import { LAST_BACKUP } from './saved-tables.js';

export function noteBackup(sql: Sql, backup: LastBackup): Promise<void> {
  return postgresReports(sql).write(LAST_BACKUP, JSON.stringify(backup));
}

/** Undefined when `mansio backup` has never completed one of this store. */
export async function lastBackup(sql: Sql): Promise<LastBackup | undefined> {
  const text = await postgresReports(sql).read(LAST_BACKUP);
  return text === undefined ? undefined : JSON.parse(text);
}
