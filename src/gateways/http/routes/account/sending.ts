// The user lifts a suspension that the server has made (docs/interface/sending-limits.md, "Suspension").
import type { Sessions } from '../../../../actors/account/protocol.js';
import type { SendingStatus } from '../../../../actors/sending/protocol.js';
import { Problem } from '../../problem.js';
import { defineRoute, EMPTY, OWNER, type Route } from '../../route.js';

const UNPROVEN =
  'Sign in again with a passkey, with the login provider or with a link from the operator, and resume sending within 15 minutes.';
const OPERATOR = 'The operator has suspended sending, and resumes it.';

export interface ResumeSources {
  readonly sessions: Pick<Sessions, 'isFreshlyProven'>;
  readonly sending: Pick<SendingStatus, 'suspensionOf' | 'resume'>;
}

export function resumeRoute({ sessions, sending }: ResumeSources): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/profile/sending/resume',
    summary: 'Resume sending after a suspension by the server',
    description:
      'Only with a session that began at most 15 minutes ago with a passkey, a login or a link from the operator: an API key, which a stranger may have, is not enough. 409 when sending is not suspended, or the operator has suspended it.',
    tags: ['Profile'],
    access: OWNER,
    replies: { 204: EMPTY },
    problems: [409],
    handler: async ({ principal: { accountId, keyId, sessionEnd } }) => {
      const suspension = await sending.suspensionOf(accountId);
      if (suspension?.by === 'operator') return new Problem(409, { detail: OPERATOR });
      const isProven = keyId !== null && sessionEnd !== undefined && (await sessions.isFreshlyProven(accountId, keyId));
      if (!isProven) return new Problem(403, { detail: UNPROVEN });
      if (!(await sending.resume(accountId))) return new Problem(409, { detail: 'Sending is not suspended.' });
      return { status: 204 };
    },
  });
}
