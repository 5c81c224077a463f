// Makes the index in docs/decisions/README.md: the decisions by subject, one line each, from the heads of their pages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listItem } from './markdown.js';

const FOLDER = 'docs/decisions';
export const DECISIONS_PAGE = `${FOLDER}/README.md`;

/** The subjects in the order of the page. */
const SUBJECTS: readonly string[] = [
  'Principles',
  'Actors and nodes',
  'Store',
  'Mailbox',
  'Search and bodies',
  'Mail in',
  'Mail out',
  'HTTP and IMAP',
  'Hub, events and webhooks',
  'Web mail',
  'Logins and rates',
];

interface Decision {
  readonly file: string;
  readonly number: string;
  readonly title: string;
  readonly subject: string;
  readonly status: string;
}

/** @throws Error for a page without title, subject or status, and for a number that is not the file's or is used twice */
export function decisionsIndex(): string {
  const decisions = readdirSync(FOLDER)
    .filter((file) => /^\d{4}-[a-z0-9-]+\.md$/.test(file))
    .sort()
    .map(decisionOf);
  for (const [i, { file, number }] of decisions.entries())
    if (number === decisions[i - 1]?.number) throw new Error(`${file} has the number of another decision`);
  return SUBJECTS.map((subject) => {
    const lines = decisions.filter((decision) => decision.subject === subject).map(lineOf);
    return `## ${subject}\n\n${lines.join('\n')}\n`;
  }).join('\n');
}

function decisionOf(file: string): Decision {
  const page = readFileSync(join(FOLDER, file), 'utf8');
  const [, number, title] = /^# (\d{4}) (.+)$/m.exec(page) ?? [];
  const [, subject] = /^Subject: (.+)$/m.exec(page) ?? [];
  const [, status] = /^Status: (.+)$/m.exec(page) ?? [];
  if (number === undefined || title === undefined || status === undefined)
    throw new Error(`${file} has no title or no status`);
  if (subject === undefined || !SUBJECTS.includes(subject))
    throw new Error(`${file} needs a line "Subject: …" with one of: ${SUBJECTS.join('; ')}`);
  if (!file.startsWith(`${number}-`)) throw new Error(`${file} has another number in its title`);
  return { file, number, title, subject, status };
}

/** Strikes out a decision that is superseded as a whole. */
function lineOf({ file, number, title, status }: Decision): string {
  const link = `[${number}](${file})`;
  const successors = status.match(/\[\d{4}\]\([^)]+\)/g) ?? [];
  if (successors.length === 0) return listItem(`${link} ${title}`);
  const isWhole = status.startsWith('superseded');
  const shown = isWhole ? `~~${title}~~` : title;
  return listItem(`${link} ${shown} (${isWhole ? '' : 'partly '}superseded by ${successors.join(', ')})`);
}
