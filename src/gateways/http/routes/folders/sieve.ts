// The Sieve scripts of an account (RFC 5228), which ManageSieve serves too. A script that does not compile is refused.

import { optional } from 'superstruct';
import type { Mailboxes, MailboxProtocol } from '../../../../actors/mailbox/protocol.js';
import type { Refusal } from '../../../../actors/runtime/protocol.js';
import { compileSieve } from '../../../../mail-format/sieve/index.js';
import { MOST_SCRIPT_OCTETS } from '../../../../mail-format/sieve/limits.js';
import { isSieveScriptName } from '../../../../mail-format/sieve-script-name.js';
import { flag, leaf, list, record, text } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { invalid, type Problem, refused } from '../../problem.js';
import { defineRoute, EMPTY, READ, type Route, WRITE } from '../../route.js';

const PATH = '/api/sieve';
const TAGS = ['Sieve'];
const EXAMPLE = {
  content: 'require "fileinto";\nif header :contains "list-id" "news" { fileinto "News"; }\n',
  isActive: true,
};

const listed = named('ListedSieveScript', record({ name: text(), isActive: flag() }));
const content = () =>
  leaf<string>('string', (value) => {
    if (typeof value !== 'string') return 'must be a string';
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    return /[\0\p{Cs}]/u.test(value) ? 'must be text without NUL and lone surrogates' : true;
  });
const script = named('SieveScript', record({ content: content(), isActive: flag() }));
const changed = named('ChangedSieveScript', record({ name: optional(text()), isActive: optional(flag()) }));
const BAD_NAME = { name: ['must have 1 to 512 bytes and no control characters'] };
const NEITHER = ['send name or isActive'];
const NO_CHANGE = { name: NEITHER, isActive: NEITHER };
const written = named('WrittenSieveScript', record({ content: content(), isActive: optional(flag()) }));

/** Why a script was not stored. */
function notPut(refusal: Refusal<MailboxProtocol, 'putSieveScript'>): Problem {
  switch (refusal) {
    case 'tooManyScripts':
      return invalid({ name: ['there are as many scripts as an account may have'] });
    case 'scriptTooLarge':
      return invalid({ content: ['has more than 64 kB, or with the other scripts of the account more than 512 kB'] });
  }
}

export function sieveRoutes(mailboxes: Mailboxes): readonly Route[] {
  const path = `${PATH}/{name}`;
  const params = { name: text() };
  return [
    defineRoute({
      method: 'GET',
      path: PATH,
      summary: 'Sieve scripts, by name',
      tags: TAGS,
      access: READ,
      replies: { 200: list(listed) },
      handler: async ({ principal }) => {
        const { reply, refusal } = await mailboxes.of(principal.accountId).ask('sieveScripts', {});
        if (refusal !== undefined) return refused(refusal);
        return { status: 200, json: reply.scripts.map(({ name, isActive }) => ({ name, isActive })) };
      },
    }),
    defineRoute({
      method: 'GET',
      path,
      summary: 'A Sieve script',
      tags: TAGS,
      access: READ,
      params,
      replies: { 200: script },
      handler: async ({ principal, params: { name } }) => {
        const { reply, refusal } = await mailboxes.of(principal.accountId).ask('sieveScript', { name });
        return refusal === undefined ? { status: 200, json: reply } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'PUT',
      path,
      summary: 'Store a Sieve script',
      description:
        'Makes the script, or replaces it. `isActive`: it is the active script from now on, in place of another one; false: it is not; absent: which script is active stays as it is. A script that does not compile is 400 with a line for each fault in `errors.content`, such as `line 3, column 5: there is no command foo`. A name has 1 to 512 bytes of UTF-8 without control characters.',
      tags: TAGS,
      access: WRITE,
      params,
      body: written,
      example: EXAMPLE,
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { name }, body }) => {
        if (!isSieveScriptName(name)) return invalid(BAD_NAME);
        const { content, isActive = null } = body;
        if (Buffer.byteLength(content) > MOST_SCRIPT_OCTETS) return notPut('scriptTooLarge');
        const compiled = compileSieve(content);
        if ('faults' in compiled) {
          return invalid({
            content: compiled.faults.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`),
          });
        }
        const { refusal } = await mailboxes.of(principal.accountId).ask('putSieveScript', { name, content, isActive });
        return refusal === undefined ? { status: 204 } : notPut(refusal);
      },
    }),
    defineRoute({
      method: 'PATCH',
      path,
      summary: 'Rename a Sieve script, use it, or use it no longer',
      description:
        'Changes what the body has, in one commit: `name` is the new name, `isActive` makes the script the active one in place of another one, or no longer. The content stays. A script that is active stays active under its new name.',
      tags: TAGS,
      access: WRITE,
      params,
      body: changed,
      example: { name: 'weekend', isActive: true },
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { name }, body }) => {
        const { name: newName = null, isActive = null } = body;
        if (newName !== null && !isSieveScriptName(newName)) return invalid(BAD_NAME);
        if (newName === null && isActive === null) return invalid(NO_CHANGE);
        const change = { name, newName, isActive };
        const { refusal } = await mailboxes.of(principal.accountId).ask('changeSieveScript', change);
        if (refusal === 'scriptExists') return invalid({ name: ['is the name of another script'] });
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
    defineRoute({
      method: 'DELETE',
      path,
      summary: 'Delete a Sieve script',
      description: 'When it is the active script, no script is active afterwards. ManageSieve refuses that (RFC 5804).',
      tags: TAGS,
      access: WRITE,
      params,
      replies: { 204: EMPTY },
      handler: async ({ principal, params: { name } }) => {
        const { refusal } = await mailboxes
          .of(principal.accountId)
          .ask('deleteSieveScript', { name, mayBeActive: true });
        return refusal === undefined ? { status: 204 } : refused(refusal);
      },
    }),
  ];
}
