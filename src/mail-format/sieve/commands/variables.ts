// `set` of the variables extension (RFC 5229 §4). Modifiers apply by precedence, the highest first.
import { Arguments, type Tags } from '../arguments.js';
import { nameOf } from '../variable-names.js';
import type { Commands } from './command.js';

type Modifier = (text: string) => string;

/** The highest precedence comes first (RFC 5229 §4.1). */
const MODIFIERS: readonly (readonly [tag: string, precedence: number, modify: Modifier])[] = [
  ['lower', 40, (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())],
  ['upper', 40, (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())],
  ['lowerfirst', 30, (text) => text.replace(/^[A-Z]/, (letter) => letter.toLowerCase())],
  ['upperfirst', 30, (text) => text.replace(/^[a-z]/, (letter) => letter.toUpperCase())],
  ['quotewildcard', 20, (text) => text.replace(/[*?\\]/g, '\\$&')],
  ['length', 10, (text) => String(Array.from(text).length)],
];

const TAGS: Tags = Object.fromEntries(
  MODIFIERS.map(([tag, precedence]) => [tag, { group: `modifier of precedence ${precedence}` }]),
);

export const VARIABLE_COMMANDS: Commands = {
  set: {
    needs: ['variables'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, TAGS, ['string', 'string']);
      const variable = nameOf(given.nodes(0)[0]!, compilation);
      const value = given.text(1);
      const modifiers = MODIFIERS.filter(([tag]) => given.has(tag)).map(([, , modify]) => modify);
      return (run) => {
        let text = run.text(value);
        for (const modify of modifiers) {
          run.spend(text.length);
          text = modify(text);
        }
        run.setVariable(variable, text);
        return undefined;
      };
    },
  },
};
