// Loaded before every test file: it tells the run when the file, or all files of its group, have ended.
import { appendFileSync } from 'node:fs';
import { declaredFiles } from './declaring-file.js';

/** The environment variable with the name of a file, which gets an octet for each test file that has ended. */
export const ENDED_FILES = 'TEST_ENDED_FILES';

const ended = process.env[ENDED_FILES];
if (ended !== undefined) process.once('exit', () => appendFileSync(ended, '.'.repeat(declaredFiles())));
