// The pages of docs/ that are made from the code and from other pages: as a whole, below a marker, or in blocks that show a file. The types
// of the client are made likewise. `npm run docs` writes them; a test compares each with the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { CONFIGURATION_PAGE, configurationTables } from './configuration-page.js';
import { DECISIONS_PAGE, decisionsIndex } from './decisions-page.js';
import { EVENT_TYPES, eventTypes } from './event-types.js';
import { METRICS_PAGE, metricsTables } from './metrics-page.js';
import { REST_PAGE, restReference } from './rest-page.js';
import { REST_TYPES, restTypes } from './rest-types.js';
import { STATECHART_PAGE, statechartPage } from './statechart.js';

const MARKER = '<!-- From here on `npm run docs` writes this page from the code. -->\n';

export interface Page {
  readonly path: string;
  readonly made: () => string;
}

const below = (path: string, made: () => string): Page => ({
  path,
  made: () => {
    const [prose, ...rest] = readFileSync(path, 'utf8').split(MARKER);
    if (rest.length === 0) throw new Error(`${path} has no marker: ${MARKER}`);
    return `${prose}${MARKER}\n${made()}`;
  },
});

/** A page whose blocks of code after a comment with a path show that file. */
const showing = (path: string): Page => ({
  path,
  made: () =>
    readFileSync(path, 'utf8').replaceAll(
      /(<!-- `npm run docs` copies (\S+) -->\n```ts\n)[\s\S]*?(```\n)/g,
      (_, head: string, file: string, foot: string) => head + asImported(readFileSync(file, 'utf8')) + foot,
    ),
});

/** The client by the name under which other people import it. */
const asImported = (text: string): string => text.replaceAll(/'[./]+\/src\/client\/index\.js'/g, "'mansio/client'");

export const PAGES: readonly Page[] = [
  { path: STATECHART_PAGE, made: statechartPage },
  below(CONFIGURATION_PAGE, configurationTables),
  below(METRICS_PAGE, metricsTables),
  below(DECISIONS_PAGE, decisionsIndex),
  below(REST_PAGE, restReference),
  showing('docs/client.md'),
  showing('docs/example-actor.md'),
  { path: REST_TYPES, made: restTypes },
  { path: EVENT_TYPES, made: eventTypes },
];

export function writePages(): void {
  for (const { path, made } of PAGES) writeFileSync(path, made());
}
