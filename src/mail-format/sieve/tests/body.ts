// `body` (RFC 5173): tests of the body as it came (`:raw`), of parts by their type (`:content`), and of its text (`:text`, the default).
import { Arguments, type Tags } from '../arguments.js';
import { isMatch, MATCH_TAGS, matchOf } from '../matching.js';
import type { SieveBody } from '../message.js';
import type { Run } from '../run.js';
import type { SieveTests } from './sieve-test.js';

const TAGS: Tags = {
  ...MATCH_TAGS,
  raw: { group: 'transform' },
  text: { group: 'transform' },
  content: { group: 'transform', value: 'strings' },
};

export const BODY_TESTS: SieveTests = {
  body: {
    needs: ['body'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, TAGS, ['strings']);
      // A match of a body changes no match values (RFC 5173 §6).
      const match = { ...matchOf(given, compilation), isKept: false };
      const keys = given.texts(0);
      const types = given.textsOf('content');
      const isRaw = given.has('raw');
      compilation.readsBody = true;
      return (run) => {
        const { body } = run;
        const values = isRaw
          ? [body.raw()]
          : types === undefined
            ? [body.text()]
            : contents(run, body, run.texts(types));
        return isMatch(run, match, values, keys);
      };
    },
  },
};

function* contents(run: Run, { parts }: SieveBody, types: readonly string[]): Generator<string> {
  const wanted = types.map((type) => type.toLowerCase());
  for (const part of parts) {
    run.spend();
    if (wanted.some((type) => isOfType(part.type, type))) yield part.text();
  }
}

/** `wanted`: '' for all, a type, or a type with its subtype (RFC 5173 §5.2). */
function isOfType(type: string, wanted: string): boolean {
  if (wanted === '') return true;
  if (wanted.startsWith('/') || wanted.endsWith('/') || wanted.split('/').length > 2) return false;
  return type === wanted || type.startsWith(`${wanted}/`);
}
