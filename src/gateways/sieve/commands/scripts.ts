// The commands on scripts (RFC 5804 §2.5–2.12). A script that does not compile is refused, with the line and column of each fault.
import { compileSieve } from '../../../mail-format/sieve/index.js';
import { isSieveScriptName } from '../../../mail-format/sieve-script-name.js';
import { octetsOf } from '../../sessions/output.js';
import type { ManageSieveCommand } from '../command.js';
import { refused } from '../faults.js';
import { literalOf, no, ok, type SieveReply, stringOf } from '../replies.js';
import type { SieveSession } from '../session.js';

const BAD_NAME = no('A name has 1 to 512 octets, and no control characters');
const DONE = ok('Done');

type Run = (session: SieveSession, args: readonly string[]) => Promise<SieveReply>;

const forScripts = (name: string, takes: ManageSieveCommand['takes'], run: Run): ManageSieveCommand => ({
  name,
  states: ['authenticated'],
  takes,
  run,
});

const mailboxOf = ({ context, accountId }: SieveSession) => context.mailboxes.of(accountId);
const orRefused = ({ refusal }: { readonly refusal?: Parameters<typeof refused>[0] }): SieveReply =>
  refusal === undefined ? DONE : refused(refusal);

export const scriptCommands: readonly ManageSieveCommand[] = [
  forScripts('HAVESPACE', ['string', 'number'], async (session, [name, size]) => {
    if (!isSieveScriptName(name!)) return BAD_NAME;
    return orRefused(await mailboxOf(session).ask('sieveRoom', { name: name!, size: Number(size) }));
  }),
  forScripts('PUTSCRIPT', ['string', 'string'], async (session, [name, content]) => {
    if (!isSieveScriptName(name!)) return BAD_NAME;
    const faults = faultsOf(content!);
    if (faults !== undefined) return faults;
    const script = { name: name!, content: content!, isActive: null };
    return orRefused(await mailboxOf(session).ask('putSieveScript', script));
  }),
  forScripts('CHECKSCRIPT', ['string'], async (_, [content]) => faultsOf(content!) ?? DONE),
  forScripts('LISTSCRIPTS', [], async (session) => {
    const { reply } = await mailboxOf(session).ask('sieveScripts', {});
    const lines = (reply?.scripts ?? []).map(
      ({ name, isActive }) => `${stringOf(name)}${isActive ? ' ACTIVE' : ''}\r\n`,
    );
    return { ...DONE, lines: lines.join('') };
  }),
  forScripts('SETACTIVE', ['string'], async (session, [name]) =>
    orRefused(await mailboxOf(session).ask('activateSieveScript', { name: name === '' ? null : name! })),
  ),
  forScripts('GETSCRIPT', ['string'], async (session, [name]) => {
    const { reply, refusal } = await mailboxOf(session).ask('sieveScript', { name: name! });
    if (refusal !== undefined) return refused(refusal);
    return { ...DONE, lines: `${literalOf(octetsOf(reply.content))}\r\n` };
  }),
  forScripts('DELETESCRIPT', ['string'], async (session, [name]) =>
    orRefused(await mailboxOf(session).ask('deleteSieveScript', { name: name! })),
  ),
  forScripts('RENAMESCRIPT', ['string', 'string'], async (session, [name, newName]) => {
    if (!isSieveScriptName(newName!)) return BAD_NAME;
    return orRefused(await mailboxOf(session).ask('renameSieveScript', { name: name!, newName: newName! }));
  }),
];

/** Undefined when the script compiles. */
function faultsOf(content: string): SieveReply | undefined {
  const compiled = compileSieve(content);
  if (!('faults' in compiled)) return undefined;
  return no(
    compiled.faults.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`).join('\r\n'),
  );
}
