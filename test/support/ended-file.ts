// Loaded before every test file: tells the run when the file has ended, or all files of its group.
import { appendFileSync } from 'node:fs';
import { declaredFiles } from './declaring-file.js';

/** Names the file that gets an octet for each test file that has ended. */
export const ENDED_FILES = 'TEST_ENDED_FILES';

const ended = process.env[ENDED_FILES];
if (ended !== undefined) process.once('exit', () => appendFileSync(ended, '.'.repeat(declaredFiles())));
