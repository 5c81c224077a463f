// The actions of RFC 5228 §4 with `:copy` (RFC 3894), `:flags` (RFC 5232), `:create` (RFC 5490) and `:specialuse` (RFC 8579).
import { parseAddress } from '../../address.js';
import { addressList } from '../../mime-index/address-list.js';
import { WordDecoder } from '../../mime-index/header-text.js';
import { Arguments, type Tags } from '../arguments.js';
import { flagsIn } from '../flag-lists.js';
import type { Run } from '../run.js';
import { SieveError } from '../syntax.js';
import type { Text } from '../text.js';
import type { Commands } from './command.js';

const FLAGS: Tags = { flags: { value: 'strings', needs: ['imap4flags'] } };
const COPY: Tags = { copy: { needs: ['copy'] } };

/** RFC 6154, as a flag. */
const ATTRIBUTE = /^\\[a-z]+$/i;

export const ACTION_COMMANDS: Commands = {
  keep: {
    compile(call, compilation) {
      const given = new Arguments(call, compilation, FLAGS, []);
      const flags = given.textsOf('flags');
      return (run) => {
        refuseAfterReject(run);
        run.isImplicitKeep = false;
        run.store({ type: 'keep', isImplicit: false, flags: flagsOf(run, flags), edit: run.header.edit });
        return undefined;
      };
    },
  },
  discard: {
    compile(call, compilation) {
      new Arguments(call, compilation, {}, []);
      return (run) => {
        run.isImplicitKeep = false;
        return undefined;
      };
    },
  },
  fileinto: {
    needs: ['fileinto'],
    compile(call, compilation) {
      const tags: Tags = {
        ...FLAGS,
        ...COPY,
        create: { needs: ['mailbox'] },
        specialuse: { value: 'string', needs: ['special-use'] },
      };
      const given = new Arguments(call, compilation, tags, ['string']);
      const [folder, flags, use] = [given.text(0), given.textsOf('flags'), given.textOf('specialuse')];
      const [isCopy, create] = [given.has('copy'), given.has('create')];
      if (typeof use === 'string' && !ATTRIBUTE.test(use)) {
        throw new SieveError(given.positionOf('specialuse'), `"${use}" is no special-use attribute`);
      }
      return (run) => {
        refuseAfterReject(run);
        if (!isCopy) run.isImplicitKeep = false;
        const target = { folder: run.text(folder), specialUse: use === undefined ? undefined : run.text(use) };
        if (target.folder === '') run.fail('the name of the folder is empty');
        run.store({ type: 'fileinto', ...target, create, flags: flagsOf(run, flags), edit: run.header.edit });
        return undefined;
      };
    },
  },
  redirect: {
    compile(call, compilation) {
      const given = new Arguments(call, compilation, COPY, ['string']);
      const address = given.text(0);
      const isCopy = given.has('copy');
      if (typeof address === 'string' && addressOf(address) === undefined) {
        throw new SieveError(given.nodes(0)[0]!.at, 'redirect takes one mail address');
      }
      return (run) => {
        refuseAfterReject(run);
        if (!isCopy) run.isImplicitKeep = false;
        redirect(run, run.text(address));
        return undefined;
      };
    },
  },
};

/** The flags of an action: those that it names, or the internal variable (RFC 5232 §5). */
function flagsOf(run: Run, flags: readonly Text[] | undefined): readonly string[] {
  return flags === undefined ? run.flags : flagsIn(run.texts(flags));
}

function redirect(run: Run, text: string): void {
  const address = addressOf(text) ?? run.fail('redirect takes one mail address');
  const isKnown = run.actions.some(
    (action) => action.type === 'redirect' && action.address.toLowerCase() === address.toLowerCase(),
  );
  if (!isKnown) run.add({ type: 'redirect', address, edit: run.header.edit });
}

/** Reads `a@b` or `Name <a@b>`; undefined when it is not one address. */
function addressOf(text: string): string | undefined {
  const { addresses } = addressList(text.trim(), 2, new WordDecoder());
  const address = addresses.length === 1 ? parseAddress(addresses[0]!.address) : undefined;
  return address === undefined ? undefined : `${address.localPart}@${address.domain}`;
}

/** A message that is refused is not kept, filed or redirected (RFC 5429 §2.4). @throws SieveError */
function refuseAfterReject(run: Run): void {
  if (run.actions.some(({ type }) => type === 'reject'))
    run.fail('the message is rejected: no other action can follow');
}
