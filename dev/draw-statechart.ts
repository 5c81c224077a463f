// Writes the page of the statechart: `npm run statechart`.
import { writeFileSync } from 'node:fs';
import { STATECHART_PAGE, statechartPage } from './statechart.js';

writeFileSync(STATECHART_PAGE, statechartPage());
