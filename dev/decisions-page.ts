// The table of docs/decisions/README.md, made from the titles and the states of the pages beside it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './markdown.js';

const FOLDER = 'docs/decisions';
export const DECISIONS_PAGE = `${FOLDER}/README.md`;

/** @throws Error for a page without title or status, and for a number that is missing or given twice */
export function decisionsTable(): string {
  const files = readdirSync(FOLDER)
    .filter((file) => /^\d{4}-[a-z0-9-]+\.md$/.test(file))
    .sort();
  const rows = files.map((file, index) => {
    const page = readFileSync(join(FOLDER, file), 'utf8');
    const [, number, title] = /^# (\d{4}) (.+)$/m.exec(page) ?? [];
    const [, status] = /^Status: (.+)$/m.exec(page) ?? [];
    if (title === undefined || status === undefined) throw new Error(`${file} has no title or no status`);
    if (Number(number) !== index + 1 || !file.startsWith(`${number}-`)) throw new Error(`${file} is out of order`);
    return [`[${number}](${file})`, title, status];
  });
  return table(['Number', 'Decision', 'Status'], rows);
}
