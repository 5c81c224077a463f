// The tests of folders: `mailboxexists` (RFC 5490 §3.1) and `specialuse_exists` (RFC 8579 §3).
import { Arguments } from '../arguments.js';
import type { SieveTests } from './sieve-test.js';

export const MAILBOX_TESTS: SieveTests = {
  mailboxexists: {
    needs: ['mailbox'],
    compile(call, compilation) {
      const names = new Arguments(call, compilation, {}, ['strings']).texts(0);
      return (run) => run.texts(names).every((name) => run.environment.hasFolder(name));
    },
  },
  specialuse_exists: {
    needs: ['special-use'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, {}, ['string', 'strings'], 'first');
      const folder = given.count > 1 ? given.text(0) : undefined;
      const uses = given.texts(given.count - 1);
      return (run) => {
        const path = folder === undefined ? undefined : run.text(folder);
        if (path !== undefined && !run.environment.hasFolder(path)) return false;
        return run.texts(uses).every((use) => {
          const found = run.environment.specialUse(use);
          return path === undefined ? found !== undefined : found === path;
        });
      };
    },
  },
};
