// Writes the pages of docs/ that are made from the code: `npm run docs`.
import { writePages } from './pages.js';

writePages();
