// Links with which a browser that is signed in signs another device in (docs/interface/sessions.md, "Links").
import type { Sessions } from '../../../../actors/account/protocol.js';
import { idParameter, record, text, timestamp, uuid, whole } from '../../fields.js';
import { named } from '../../openapi/json-schema.js';
import { notFound, Problem, unauthenticated } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const PATH = '/api/sessions/links';
const TAGS = ['Sessions'];

const sessionLink = named(
  'SessionLink',
  record({
    sessionId: uuid({ description: 'The session that begins when the link is used' }),
    token: text({ description: 'Shown once: the link is `/link/` with this token, at the origin of the page' }),
    expiresAt: timestamp(),
    expiresInSeconds: whole({ description: 'For clients whose clock may be wrong' }),
  }),
);

export function sessionLinkRoutes(sessions: Pick<Sessions, 'makeLink' | 'withdrawLink'>): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: PATH,
      summary: 'Make a link that signs another device in',
      description:
        'Only with a session: 403 for an API key and an access token, which make a session themselves. The link is good for ten minutes and ' +
        'for one sign-in, while the session that made it lasts. It takes the place of the one that the session made before.',
      tags: TAGS,
      access: OWNER,
      replies: { 201: sessionLink },
      handler: async ({ principal: { accountId, keyId, sessionEnd } }) => {
        if (keyId === null || sessionEnd === undefined)
          return new Problem(403, {
            detail: 'Only a session makes a link: POST /api/sessions makes a session with this credential.',
          });
        const link = await sessions.makeLink(accountId, keyId);
        if (link === undefined) return unauthenticated('invalid_token');
        return { status: 201, json: { ...link, expiresAt: link.expiresAt.toISOString() } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${PATH}/{id}`,
      summary: 'Withdraw a link that was not used; `id` is its `sessionId`',
      tags: TAGS,
      access: OWNER,
      params: { id: idParameter() },
      replies: { 204: EMPTY },
      handler: async ({ principal, params }) =>
        (await sessions.withdrawLink(principal.accountId, params.id)) ? { status: 204 } : notFound(),
    }),
  ];
}
