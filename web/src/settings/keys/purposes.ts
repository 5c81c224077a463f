// What a key is for, in the words of people, and the scopes that this takes.
import type { ApiKey, ConnectionInfo } from '../../../../src/client/index.js';

export type Scope = ApiKey['scopes'][number];
export type Purpose = 'imap' | 'pop3' | 'smtp' | 'apple' | 'read' | 'write';

/** For `apple` the server chooses them. */
export const SCOPES_FOR: Readonly<Record<Exclude<Purpose, 'apple'>, readonly Scope[]>> = {
  imap: ['imap', 'smtp'],
  pop3: ['pop3', 'smtp'],
  smtp: ['smtp'],
  read: ['api:read'],
  write: ['api:read', 'api:write'],
};

/** What a key can be made for: programs need the protocols that are served. */
export function purposesWith({ imap, pop3, smtp }: Pick<ConnectionInfo, 'imap' | 'pop3' | 'smtp'>): readonly Purpose[] {
  const can: readonly [isServed: boolean, purpose: Purpose][] = [
    [imap.enabled && smtp.enabled, 'imap'],
    [pop3.enabled && smtp.enabled, 'pop3'],
    [(imap.enabled || pop3.enabled) && smtp.enabled, 'apple'],
    [smtp.enabled, 'smtp'],
    [true, 'read'],
    [true, 'write'],
  ];
  return can.filter(([isServed]) => isServed).map(([, purpose]) => purpose);
}
