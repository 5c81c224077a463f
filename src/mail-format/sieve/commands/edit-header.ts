// `addheader` and `deleteheader` (RFC 5293): they edit the header that later tests and actions see. Fields that show the way of a message,
// or that it is automatic, are never deleted (RFC 5293 §6), and no trace field is added.
import { Arguments, type Tags } from '../arguments.js';
import { isDeletable, isTraceField } from '../header-edit.js';
import { isMatch, MATCH_TAGS, matchOf, type SieveMatch } from '../matching.js';
import type { Run } from '../run.js';
import { type Position, SieveError } from '../syntax.js';
import { checkFieldNames, chosen, FIELD_NAME, indexOf } from '../tests/index-tags.js';
import type { Text } from '../text.js';
import type { Commands } from './command.js';

const LONGEST_NAME = 100;
/** In octets. */
const LONGEST_VALUE = 2_048;
const CONTROL = /\p{Cc}/u;

/** The extension has `:index` and `:last` of its own. */
const DELETE_TAGS: Tags = { ...MATCH_TAGS, index: { value: 'number' }, last: {} };

export const EDIT_COMMANDS: Commands = {
  addheader: {
    needs: ['editheader'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, { last: {} }, ['string', 'string']);
      const [name, value] = [given.text(0), given.text(1)];
      const isLast = given.has('last');
      if (typeof name === 'string') checkName(name, given.nodes(0)[0]!.at);
      if (typeof value === 'string') checkValue(value, given.nodes(1)[0]!.at);
      return (run) => {
        const field = { name: run.text(name), value: run.text(value).trim() };
        checkName(field.name, run.at);
        checkValue(field.value, run.at);
        countEdit(run);
        run.header.add(field, isLast);
        if (run.header.addedOctets > run.bounds.addedOctets) run.fail('the script adds too much to the header');
        return undefined;
      };
    },
  },
  deleteheader: {
    needs: ['editheader'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, DELETE_TAGS, ['string', 'strings'], 'last');
      checkFieldNames(given, 0, compilation);
      const [match, index, name] = [matchOf(given, compilation), indexOf(given), given.text(0)];
      const patterns = given.count > 1 ? given.texts(1) : undefined;
      return (run) => {
        const fieldName = run.text(name);
        if (!isDeletable(fieldName)) return undefined;
        const fields = chosen(run.header.named(fieldName), index);
        const deleted = patterns === undefined ? fields : matching(run, fields, match, patterns);
        countEdit(run);
        run.header.delete(new Set(deleted));
        return undefined;
      };
    },
  },
};

/** The fields whose value matches a pattern; with `:count`, all or none. */
function matching<Field extends { value: string; name: string }>(
  run: Run,
  fields: readonly Field[],
  match: SieveMatch,
  patterns: readonly Text[],
): readonly Field[] {
  const value = (field: Field) => run.header.decoded(field);
  if (match.type === 'count') return isMatch(run, match, fields.map(value), patterns) ? fields : [];
  return fields.filter((field) => isMatch(run, { ...match, isKept: false }, [value(field)], patterns));
}

/** @throws SieveError */
function countEdit(run: Run): void {
  if (run.header.edits >= run.bounds.edits) run.fail('the script edits the header too often');
  if (!run.message.isHeaderWhole) run.fail('the header is too long to be edited');
}

/** @throws SieveError */
function checkName(name: string, at: Position): void {
  if (!FIELD_NAME.test(name) || name.length > LONGEST_NAME) {
    throw new SieveError(at, `"${name.slice(0, 80)}" is no name of a header field`);
  }
  if (isTraceField(name)) throw new SieveError(at, `the server alone adds ${name}`);
}

/** @throws SieveError */
function checkValue(value: string, at: Position): void {
  if (CONTROL.test(value.trim())) throw new SieveError(at, 'the value of a header field has no control characters');
  if (Buffer.byteLength(value) > LONGEST_VALUE)
    throw new SieveError(at, `the value of a header field has at most ${LONGEST_VALUE} octets`);
}
