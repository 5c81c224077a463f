// Which folder of an account a foreign folder becomes: folders with a role are recognized by the names that mail programs give
// them; others keep their path, adapted to the rules for paths.

import {
  isPathWithinBounds,
  isSystemName,
  LONGEST_LEVEL,
  levelName,
  levelsOf,
  MOST_LEVELS,
  shownName,
} from '../mail-format/folder-name.js';
import { caseFolded } from '../mail-format/words/case-fold.js';

/** Names of system folders, as the store has them. */
export type SpecialFolder = 'INBOX' | 'Sent' | 'Drafts' | 'Archive' | 'Trash' | 'Junk';

const NAMES: Readonly<Record<SpecialFolder, readonly string[]>> = {
  INBOX: ['inbox'],
  Sent: ['sent', 'sent items', 'sent messages', 'sent mail', 'sent-mail', 'gesendet', 'envoyés', 'enviados'],
  Drafts: ['drafts', 'draft', 'entwürfe', 'brouillons', 'borradores'],
  Archive: ['archive', 'archives', 'archived', 'all mail'],
  Trash: ['trash', 'deleted items', 'deleted messages', 'deleted', 'bin', 'papierkorb', 'corbeille', 'papelera'],
  Junk: ['junk', 'spam', 'junk e-mail', 'junk email', 'junk mail', 'bulk mail'],
};
const SPECIAL = new Map(
  (Object.entries(NAMES) as [SpecialFolder, readonly string[]][]).flatMap(([folder, names]) =>
    names.map((name) => [caseFolded(name), folder] as const),
  ),
);
/** Folders that only group the system folders. */
const GROUPS = new Set(['inbox', '[gmail]', '[google mail]']);

/** A folder of another mail system. */
interface ForeignFolder {
  /** Names from the top down. */
  readonly levels: readonly string[];
  /** The role that the server states. */
  readonly special?: SpecialFolder | undefined;
}

/** The paths that these folders get here. A name that only suggests a role counts when no other folder has the role. */
export function placesOf(folders: readonly ForeignFolder[]): string[] {
  const certain = folders.map(({ levels, special }) => special ?? systemFolder(levels));
  const taken = new Set(certain);
  return folders.map(({ levels }, i) => {
    const suggested = suggestedFolder(levels);
    return certain[i] ?? (suggested === undefined || taken.has(suggested) ? fitPath(levels) : suggested);
  });
}

/** The system folder with exactly this name. */
function systemFolder([name = '', ...below]: readonly string[]): SpecialFolder | undefined {
  if (below.length > 0) return undefined;
  return (Object.keys(NAMES) as SpecialFolder[]).find((folder) => caseFolded(folder) === caseFolded(name));
}

function suggestedFolder([first = '', second = '', ...below]: readonly string[]): SpecialFolder | undefined {
  if (below.length > 0) return undefined;
  if (second === '') return SPECIAL.get(caseFolded(first));
  return GROUPS.has(caseFolded(first)) ? SPECIAL.get(caseFolded(second)) : undefined;
}

/** The levels as a path that a folder may have. */
function fitPath(levels: readonly string[]): string {
  const fit = levels.map(fitLevel);
  const kept = fit.length <= MOST_LEVELS ? fit : [...fit.slice(0, MOST_LEVELS - 1), fit.at(-1)!];
  if (isSystemName(kept.join('/'))) return `${kept.join('/')} (imported)`;
  while (!isPathWithinBounds(kept.join('/'))) kept.splice(Math.max(0, kept.length - 2), 1);
  return kept.join('/');
}

function fitLevel(level: string): string {
  const clean = level
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '\u{fffd}')
    .replaceAll('/', '-')
    .trim();
  const short = Array.from(clean).slice(0, LONGEST_LEVEL).join('').trim();
  return 'name' in levelName(short) ? short : '_';
}

/** The path of a folder that an operator names, or a text about what is wrong with it. */
export function namedFolder(text: string): { readonly path: string } | { readonly problem: string } {
  const read = shownName(text);
  if ('problem' in read) return read;
  if (!isPathWithinBounds(read.name)) return { problem: 'is too long' };
  const levels = levelsOf(read.name);
  return { path: systemFolder(levels) ?? fitPath(levels) };
}
