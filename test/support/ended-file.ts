// Loaded before every test file: tells the run when the file has ended.
import { appendFileSync } from 'node:fs';

/** Names the file that gets an octet for each test file that has ended. */
export const ENDED_FILES = 'TEST_ENDED_FILES';

const ended = process.env[ENDED_FILES];
if (ended !== undefined) process.once('exit', () => appendFileSync(ended, '.'));
