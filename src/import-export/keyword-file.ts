// The file in which Dovecot names the keywords of a Maildir folder. Imports and exports read it.
import { keywordsOf } from './maildir-names.js';
import type { VerifiedDirectory } from './verified-directory.js';

export const KEYWORD_FILE = 'dovecot-keywords';
const MOST_OCTETS = 64 * 1024;

/** Keywords by the number of their letter; none when there is no such file, or when it cannot be a keyword file. */
export async function readKeywords(directory: VerifiedDirectory): Promise<(string | undefined)[]> {
  try {
    const file = await directory.open(KEYWORD_FILE);
    try {
      const status = await file.stat();
      return status.isFile() && status.size <= MOST_OCTETS ? keywordsOf(await file.readFile('utf8')) : [];
    } finally {
      await file.close();
    }
  } catch {
    return [];
  }
}
