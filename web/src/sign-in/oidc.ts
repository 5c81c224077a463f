// Signing in at an OpenID provider: the browser leaves the page for it and comes back. `oidc-answer.ts` reads what it comes back with.
import { signal } from '@preact/signals';
import { go } from '../app/router.js';
import type { Store } from '../app/store.js';
import { undo } from '../app/undo.js';
import { t } from '../i18n/t.js';
import {
  type BegunAtProvider,
  faultOf,
  faultOfAnswer,
  goesOnAt,
  type ProviderFault,
  type Returned,
  returnedWith,
} from './oidc-answer.js';

/** The tab keeps it while the browser is at the provider. */
const BEGUN = 'mansio.oidc';

/** Why the provider has signed nobody in, since the page was loaded. */
export const providerFault = signal<ProviderFault | undefined>(undefined);

/** The browser leaves the page. @throws Refusal, NetworkFault */
export async function goToProvider({ client }: Store): Promise<void> {
  const { url } = await client.request('POST', '/api/oidc/authorization');
  const state = new URL(url).searchParams.get('state') ?? '';
  const begun: BegunAtProvider = { state, from: location.pathname + location.search };
  sessionStorage.setItem(BEGUN, JSON.stringify(begun));
  location.assign(url);
}

/** What the browser has come back with. Takes it out of the address, so that neither a reload nor the history has it. */
export function takeReturned(): Returned | undefined {
  const kept = sessionStorage.getItem(BEGUN);
  const begun = kept === null ? undefined : (JSON.parse(kept) as BegunAtProvider);
  const returned = returnedWith(location, begun);
  if (returned === undefined) return undefined;
  sessionStorage.removeItem(BEGUN);
  go(goesOnAt(begun), { replace: true });
  return returned;
}

/** Starts the page, signed in by what the browser has come back with, or as it was. */
export async function startWith(store: Store, returned: Returned | undefined): Promise<void> {
  if (returned?.kind === 'answer') {
    try {
      return await store.signIn({ oidc: returned.answer });
    } catch (error) {
      providerFault.value = faultOfAnswer(error);
    }
  } else if (returned !== undefined) providerFault.value = faultOf(returned);
  await store.start();
  const fault = providerFault.peek();
  // Whoever was signed in stays so, and sees no sign-in.
  if (fault !== undefined && store.access.peek() === 'signedIn') undo.say(textOf(fault));
}

export function textOf(fault: ProviderFault): string {
  switch (fault.key) {
    case 'signIn.oidc.denied':
      return t(fault.key, fault.parameters);
    case 'signIn.oidc.refused':
      return t(fault.key, fault.parameters);
    case 'app.failed':
      return t(fault.key, fault.parameters);
    default:
      return t(fault.key);
  }
}
