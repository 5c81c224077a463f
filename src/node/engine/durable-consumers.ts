// Starts the durable consumers of the node's accounts: Web Push and webhooks. They use the engine, and clients for URLs that users have
// set.
import type { Logger } from 'pino';
import { pushConsumers } from '../../gateways/push/push-consumers.js';
import { vapidKeys } from '../../gateways/push/vapid-keys.js';
import { acceptNotice, writeDisablingNotice } from '../../gateways/webhooks/disabling-notice.js';
import { WebhookConsumers } from '../../gateways/webhooks/webhook-consumers.js';
import type { Dns } from '../../net/dns/resolver.js';
import { createHttpClient } from '../../net/http-client/http-client.js';
import { clock } from '../../store/clock.js';
import { newId } from '../../store/ids/new-id.js';
import type { Config } from '../config/config.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Engine } from './engine.js';

/** A delivery that has not ended after this time is repeated later. */
const STOP_MS = 1_500;
const RESERVE_MS = 100;

export async function startDurableConsumers(
  config: Config,
  log: Logger,
  lifecycle: Lifecycle,
  engine: Engine,
  dns: Dns,
): Promise<void> {
  const { consumers, accountStores, accountApi, settings } = engine;
  const pushClient = createHttpClient({ dns, allowPrivate: config.pushAllowPrivate });
  const webhookClient = createHttpClient({ dns, allowPrivate: config.webhookAllowPrivate });
  const keys = await vapidKeys(config.vapid, settings);
  const push = pushConsumers({
    subscriptions: accountStores.subscriptions,
    preferences: accountApi.preferences,
    client: pushClient,
    vapid: { ...keys, subject: vapidSubject(config) },
    publicUrl: config.publicUrl,
    log,
  });
  const webhooks = new WebhookConsumers({
    client: webhookClient,
    store: accountStores.webhooks,
    deliveries: accountStores.webhookDeliveries,
    log,
    disabled: (...what) => giveNotice(engine, config.hostname, ...what),
  });
  consumers.start([push, webhooks]);
  lifecycle.add(
    'durable consumers',
    async (boundMs) => {
      await consumers.stop(Math.min(boundMs, STOP_MS));
      pushClient.close();
      webhookClient.close();
    },
    RESERVE_MS,
    STOP_MS + RESERVE_MS,
  );
}

async function giveNotice(
  { accountApi, inbound }: Engine,
  hostname: string,
  accountId: string,
  webhookId: string,
  url: string,
  reason: string,
): Promise<void> {
  const profile = await accountApi.profiles.read(accountId);
  if (profile === undefined) return;
  const [id, now] = [newId(), clock.now()];
  const notice = { address: profile.email, webhookId, url, reason };
  const message = writeDisablingNotice(notice, { hostname, id, now });
  await acceptNotice(inbound, accountId, { message, id, now });
}

/** RFC 8292 §2.1: a mailto or https URL, at which push services reach the operator. */
function vapidSubject({ vapidSubject: subject, publicUrl, hostname }: Config): string {
  if (subject !== undefined) return subject;
  return publicUrl?.startsWith('https:') === true ? publicUrl : `mailto:postmaster@${hostname}`;
}
