// Registers the service worker, with which the page opens without a network and shows notifications (web/worker), and opens what it asks
// for. The one policy of Trusted Types for it is here.
import { isOpenMessage } from './open-message.js';
import { parseRoute } from './route.js';
import { go } from './router.js';

/** The part of Trusted Types that is used; a browser without them takes the text. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

const WORKER = '/service-worker.js';
const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };

/** A version that could not be kept as a whole is tried again. ms */
const RETRY_MS = 60_000;

/** A browser that has no workers, or refuses this one, shows the page all the same while there is a network. */
export function startWorker(): void {
  if (!('serviceWorker' in navigator)) return;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (isOpenMessage(data)) go(parseRoute(new URL(data.path, location.origin)));
  });
  navigator.serviceWorker.startMessages();
  const policy = trustedTypes?.createPolicy('mansio-worker', { createScriptURL: () => WORKER });
  const url = (policy?.createScriptURL(WORKER) ?? WORKER) as string;
  const register = () => {
    navigator.serviceWorker.register(url).then(
      (registration) => onFailure(registration, () => setTimeout(register, RETRY_MS)),
      () => undefined,
    );
  };
  // What the page needs comes first.
  if (document.readyState === 'complete') register();
  else addEventListener('load', register, { once: true });
}

/** Calls `failed` when the worker could not be installed, and there is no earlier one. */
function onFailure(registration: ServiceWorkerRegistration, failed: () => void): void {
  const { installing } = registration;
  installing?.addEventListener('statechange', () => {
    if (installing.state === 'redundant' && registration.active === null) failed();
  });
}
