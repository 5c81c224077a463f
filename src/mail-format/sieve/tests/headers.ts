// The tests of header and envelope (RFC 5228 §5): `header`, `exists`, `address`, `envelope`.
import { Arguments } from '../arguments.js';
import type { Compilation } from '../compilation.js';
import { isMatch, MATCH_TAGS, matchOf, type SieveMatch } from '../matching.js';
import type { SieveField } from '../message.js';
import type { Run } from '../run.js';
import { SieveError } from '../syntax.js';
import type { Text } from '../text.js';
import { ADDRESS_TAGS, type AddressPart, addressPartOf, partOfAddress } from './address-parts.js';
import { checkFieldNames, chosen, INDEX_TAGS, type Index, indexOf } from './index-tags.js';
import type { SieveTests } from './sieve-test.js';

/** The fields that contain addresses (RFC 5228 §5.1). */
const ADDRESS_FIELDS = new Set([
  'from',
  'to',
  'cc',
  'bcc',
  'sender',
  'reply-to',
  'resent-from',
  'resent-sender',
  'resent-to',
  'resent-cc',
  'resent-bcc',
  'resent-reply-to',
  'delivered-to',
  'x-original-to',
  'return-path',
  'errors-to',
  'disposition-notification-to',
  'envelope-to',
  'x-envelope-to',
]);

export const HEADER_TESTS: SieveTests = {
  header: {
    compile(call, compilation) {
      const given = new Arguments(call, compilation, { ...MATCH_TAGS, ...INDEX_TAGS }, ['strings', 'strings']);
      checkFieldNames(given, 0, compilation);
      const [match, index] = [matchOf(given, compilation), indexOf(given)];
      const [names, keys] = [given.texts(0), given.texts(1)];
      return (run) => isMatch(run, match, decodedOf(run, fieldsOf(run, names, index)), keys);
    },
  },
  exists: {
    compile(call, compilation) {
      const given = new Arguments(call, compilation, {}, ['strings']);
      checkFieldNames(given, 0, compilation);
      const names = given.texts(0);
      return (run) => run.texts(names).every((name) => run.header.named(name).length > 0);
    },
  },
  address: {
    compile(call, compilation) {
      const tags = { ...MATCH_TAGS, ...INDEX_TAGS, ...ADDRESS_TAGS };
      const given = new Arguments(call, compilation, tags, ['strings', 'strings']);
      checkAddressFields(given, compilation);
      const [match, index, part] = [matchOf(given, compilation), indexOf(given), addressPartOf(given)];
      const [names, keys] = [given.texts(0), given.texts(1)];
      return (run) => {
        const found = fieldsOf(run, names, index).flatMap((field) => run.header.addresses(field));
        const addresses = found.flatMap(({ address }) => (address === '' ? [] : address));
        return isMatch(run, match, partsOf(addresses, match, part), keys);
      };
    },
  },
  envelope: {
    needs: ['envelope'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, { ...MATCH_TAGS, ...ADDRESS_TAGS }, ['strings', 'strings']);
      for (const node of given.nodes(0)) {
        if (typeof compilation.text(node) === 'string' && !/^(?:from|to)$/i.test(node.text)) {
          throw new SieveError(node.at, `the envelope part "${node.text.slice(0, 40)}" is not supported`);
        }
      }
      const [match, part] = [matchOf(given, compilation), addressPartOf(given)];
      const [names, keys] = [given.texts(0), given.texts(1)];
      return (run) => {
        const addresses = run.texts(names).flatMap((name) => envelopeOf(run, name) ?? []);
        return isMatch(run, match, partsOf(addresses, match, part), keys);
      };
    },
  },
};

/** The fields with these names: those of the first name come first. */
export function fieldsOf(run: Run, names: readonly Text[], index: Index | undefined): readonly SieveField[] {
  const fields: SieveField[] = [];
  for (const name of new Set(run.texts(names).map((one) => one.toLowerCase()))) {
    const named = run.header.named(name);
    for (const field of named) {
      run.spend();
      fields.push(field);
    }
  }
  return chosen(fields, index);
}

/** `:count` counts addresses, whatever their parts are (RFC 5231 §4.2). The null sender has the part '' only. */
function partsOf(addresses: readonly string[], { type }: SieveMatch, part: AddressPart): readonly string[] {
  if (type === 'count') return addresses;
  return addresses.flatMap((address) => (address === '' ? '' : (partOfAddress(address, part) ?? [])));
}

function* decodedOf(run: Run, fields: readonly SieveField[]): Generator<string> {
  for (const field of fields) yield run.header.decoded(field);
}

/** @throws SieveError */
function envelopeOf({ environment }: Run, name: string): string | undefined {
  const lower = name.toLowerCase();
  return lower === 'from' ? environment.sender : lower === 'to' ? environment.recipient : undefined;
}

/** @throws SieveError for a constant that names a field without addresses */
function checkAddressFields(given: Arguments, compilation: Compilation): void {
  checkFieldNames(given, 0, compilation);
  for (const node of given.nodes(0)) {
    if (typeof compilation.text(node) === 'string' && !ADDRESS_FIELDS.has(node.text.toLowerCase())) {
      throw new SieveError(node.at, `the field "${node.text.slice(0, 80)}" has no addresses`);
    }
  }
}
