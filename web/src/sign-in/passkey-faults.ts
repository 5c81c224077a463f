// Why a passkey could not be used or made, in the words of people: what happened, and what to do next.
import type { TextKey } from '../i18n/t.js';

type Ceremony = 'signIn' | 'add';
type FaultText = Extract<TextKey, `passkeys.fault.${string}`>;

/** WebAuthn knows names of hosts, no addresses. */
export function isNamedHost(hostname: string): boolean {
  return !/^\[|^[\d.]+$/.test(hostname);
}

/** Undefined for a fault that has its own words, such as a refusal of the server. */
export function passkeyFault(error: unknown, ceremony: Ceremony): FaultText | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = 'status' in error ? error.status : undefined;
  if (status === 401 && ceremony === 'signIn') return 'passkeys.fault.unknown';
  if (status === 400 && ceremony === 'add') return 'passkeys.fault.late';
  const name = nameOf(error);
  // The reader has closed the browser's question, or its time has passed: browsers tell no difference.
  if (name === 'NotAllowedError' || name === 'AbortError')
    return ceremony === 'signIn' ? 'passkeys.fault.cancelled' : 'passkeys.fault.notAdded';
  if (name === 'InvalidStateError') return 'passkeys.fault.known';
  if (name === 'NotSupportedError' || name === 'ConstraintError') return 'passkeys.fault.unable';
  return name === 'SecurityError' ? 'passkeys.fault.elsewhere' : undefined;
}

/** The library's errors have the browser's as their cause. */
function nameOf({ name, cause }: Error): string {
  return cause instanceof Error ? cause.name : name;
}
