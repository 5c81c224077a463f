// The tests of variables and flags: `string` (RFC 5229 §5) and `hasflag` (RFC 5232 §4).
import { Arguments } from '../arguments.js';
import { flagsIn } from '../flag-lists.js';
import { isMatch, MATCH_TAGS, matchOf } from '../matching.js';
import { nameOf } from '../variable-names.js';
import type { SieveTests } from './sieve-test.js';

export const VALUE_TESTS: SieveTests = {
  string: {
    needs: ['variables'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, MATCH_TAGS, ['strings', 'strings']);
      const match = matchOf(given, compilation);
      const [sources, keys] = [given.texts(0), given.texts(1)];
      return (run) => {
        const values = run.texts(sources);
        // `:count` counts the strings that are not empty (RFC 5229 §5).
        return isMatch(run, match, match.type === 'count' ? values.filter((value) => value !== '') : values, keys);
      };
    },
  },
  hasflag: {
    needs: ['imap4flags'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, MATCH_TAGS, ['strings', 'strings'], 'first');
      const match = matchOf(given, compilation);
      const isInternal = given.count === 1;
      if (!isInternal) compilation.needs(['variables'], call.at, 'hasflag with variables');
      const variables = isInternal ? [] : given.nodes(0).map((node) => nameOf(node, compilation));
      const keys = given.texts(isInternal ? 0 : 1);
      return (run) => {
        const flags = isInternal ? run.flags : variables.flatMap((variable) => flagsIn([run.variable(variable)]));
        return isMatch(run, match, flags, isSubstring(match.type) ? keys : run.texts(keys).flatMap(namesIn));
      };
    },
  },
};

const isSubstring = (type: string): boolean => type !== 'is';

/** The names in a list of flags. */
const namesIn = (text: string): string[] => text.split(/\s+/).filter((name) => name !== '');
