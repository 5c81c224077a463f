// Notifications of new mail in this browser: a subscription of the browser (Web Push), which the server has for the session. It is made
// by a click alone, for the account that is signed in, and ends with the session. The service worker shows the messages.
import { signal } from '@preact/signals';
import type { MansioClient } from '../../../src/client/index.js';
import { pushAccount } from './push-account.js';

/** `blocked`: the reader has told the browser so; `unsupported`: it cannot. */
export type PushState = 'unknown' | 'unsupported' | 'blocked' | 'off' | 'on';

type Requests = Pick<MansioClient, 'request'>;

const PATH = '/api/push-subscriptions';

export const pushState = signal<PushState>('unknown');

/** Looks what the browser has. The server is told again, because the session may be another one; a subscription of somebody else ends. */
export async function lookAtPush(client: Requests, account: string): Promise<void> {
  const registration = await registered();
  const isWanted = pushAccount.get() === account;
  if (registration === undefined) pushState.value = 'unsupported';
  else if (Notification.permission === 'denied') pushState.value = 'blocked';
  else if (!isWanted || Notification.permission !== 'granted') await endPush();
  else await subscribe(client, registration);
}

/** Called by a click: the browser asks the reader first. @throws Refusal, NetworkFault, Error of the browser */
export async function turnPushOn(client: Requests, account: string): Promise<void> {
  const registration = await registered();
  if (registration === undefined) return;
  const permission = await Notification.requestPermission();
  if (permission !== 'granted') {
    pushState.value = permission === 'denied' ? 'blocked' : 'off';
    return;
  }
  // One of an earlier key of the server would be in the way.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  try {
    await subscribe(client, registration);
    pushAccount.set(account);
  } catch (error) {
    await endPush();
    throw error;
  }
}

/** @throws Refusal, NetworkFault */
export async function turnPushOff(client: Requests): Promise<void> {
  const subscription = await (await registered())?.pushManager.getSubscription();
  if (subscription) await client.request('DELETE', PATH, { body: { endpoint: subscription.endpoint } });
  await endPush();
}

/** Nothing arrives here any more, and what is shown goes. The server ends a subscription with its session. */
export async function endPush(): Promise<void> {
  const registration = await registered();
  pushState.value = registration === undefined ? 'unsupported' : 'off';
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  pushAccount.forget();
}

async function subscribe(client: Requests, { pushManager }: ServiceWorkerRegistration): Promise<void> {
  const found = await pushManager.getSubscription();
  if (found !== null) pushState.value = 'on';
  const subscription = found ?? (await subscribeBrowser(client, pushManager));
  const { endpoint, keys = {} } = subscription.toJSON();
  const { p256dh, auth } = keys;
  await client.request('POST', PATH, { body: { endpoint: endpoint!, p256dh: p256dh!, auth: auth! } });
  pushState.value = 'on';
}

async function subscribeBrowser(client: Requests, pushManager: PushManager): Promise<PushSubscription> {
  const { publicKey } = await client.request('GET', `${PATH}/vapid-public-key`);
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

/** Undefined where the browser has no push, or no worker of the page. */
async function registered(): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis) || !('Notification' in globalThis))
    return undefined;
  return navigator.serviceWorker.getRegistration();
}
