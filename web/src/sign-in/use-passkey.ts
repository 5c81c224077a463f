// Signing in with a passkey: the browser offers it in the field of the key while the view is shown, and the button asks for it.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Refusal } from '../../../src/client/index.js';
import type { Store } from '../app/store.js';
import { canHavePasskeys, canOfferInField, endCeremony, passkeyProof, passkeyProofInField } from './passkey.js';

/** The server takes an answer for five minutes. */
const RENEWAL_MS = 4 * 60_000;

interface PasskeySignIn {
  /** False where passkeys cannot work. */
  readonly isOffered: ReadonlySignal<boolean>;
  /** @throws Refusal, NetworkFault, Error of the browser */
  ask(): Promise<void>;
}

/** `onFault`: told when a passkey that was chosen in the field does not sign in. */
export function usePasskey(store: Store, onFault: (error: unknown) => void): PasskeySignIn {
  const isOffered = useSignal(canHavePasskeys());
  const isGone = useRef(false);
  const isAsking = useRef(false);
  // The question of the button stands until it is answered.
  const isWanted = () => !isGone.current && !isAsking.current;
  const offer = async (): Promise<void> => {
    const passkey = await chosenInField();
    if (passkey === undefined) return;
    try {
      await store.signIn({ passkey });
    } catch (error) {
      onFault(error);
      if (error instanceof Refusal && error.status === 401) void offer();
    }
  };
  /** Nobody has asked for the offer, so its faults are told to nobody: the button says them. */
  const chosenInField = async () => {
    try {
      return (await canOfferInField()) && isWanted() ? await passkeyProofInField(store.client, isWanted) : undefined;
    } catch (error) {
      // The host has no passkeys.
      if (error instanceof Refusal && error.status === 400) isOffered.value = false;
      return undefined;
    }
  };
  useEffect(() => {
    if (!isOffered.peek()) return;
    void offer();
    const renewal = setInterval(() => void offer(), RENEWAL_MS);
    return () => {
      isGone.current = true;
      clearInterval(renewal);
      void endCeremony();
    };
  }, []);
  return {
    isOffered,
    async ask() {
      isAsking.current = true;
      try {
        await store.signIn({ passkey: await passkeyProof(store.client) });
      } catch (error) {
        isAsking.current = false;
        void offer();
        throw error;
      }
    },
  };
}
