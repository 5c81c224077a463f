// Every route of the API in one list, and what main provides for them.

import type { AccountApi } from '../../actors/account/protocol.js';
import type { AccountQuotas } from '../../actors/quotas/protocol.js';
import type { SendingStatus } from '../../actors/sending/protocol.js';
import type { OpenEventStreams } from '../events/open-event-streams.js';
import type { Log } from './exchange.js';
import { createHealth, type HealthCheck } from './health.js';
import { asyncApiRoute } from './openapi/async-api.js';
import { openApi, openApiRoute } from './openapi/openapi.js';
import type { Route } from './route.js';
import { addressVerificationRoutes } from './routes/account/address-verification.js';
import { credentialRoutes } from './routes/account/credentials.js';
import { forwardingRoutes } from './routes/account/forwarding.js';
import { internalNotificationRoute } from './routes/account/internal-notifications.js';
import { type OidcSources, oidcRoutes } from './routes/account/oidc.js';
import { type PasskeySources, passkeyRoutes } from './routes/account/passkeys.js';
import { preferenceRoutes } from './routes/account/preferences.js';
import { profileRoutes } from './routes/account/profile.js';
import { type PushSources, pushRoutes } from './routes/account/push-subscriptions.js';
import { namingFullDomain, quotaRoute } from './routes/account/quota.js';
import { senderRoutes } from './routes/account/senders.js';
import { sessionLinkRoutes } from './routes/account/session-links.js';
import { sessionRoutes } from './routes/account/sessions.js';
import { signInLinkRoutes } from './routes/account/sign-in-links.js';
import { vacationRoutes } from './routes/account/vacation.js';
import { type WebhookSources, webhookRoutes } from './routes/account/webhooks.js';
import { configRoutes, type WebConfig } from './routes/config.js';
import { discoveryRoute } from './routes/discovery.js';
import { docsRoutes } from './routes/docs.js';
import { contactsRoute } from './routes/emails/contacts.js';
import { type EmailSources, emailRoutes } from './routes/emails/emails.js';
import { bulkRoutes } from './routes/emails/emails-bulk.js';
import { contentRoutes } from './routes/emails/emails-content.js';
import { type ExportSources, exportRoute } from './routes/emails/emails-export.js';
import { emailImagesRoute } from './routes/emails/emails-images.js';
import { searchRoutes } from './routes/emails/emails-search.js';
import { sentRoutes } from './routes/emails/emails-sent.js';
import { EncodedContents } from './routes/emails/encoded-contents.js';
import { threadRoute } from './routes/emails/threads.js';
import { eventRoute } from './routes/events.js';
import { filterRunRoutes } from './routes/folders/filter-runs.js';
import { filterRoutes } from './routes/folders/filters.js';
import { folderRoutes } from './routes/folders/folders.js';
import { labelRoutes } from './routes/folders/labels.js';
import { sieveRoutes } from './routes/folders/sieve.js';
import { healthRoute } from './routes/health.js';
import { type ImageProxySources, imageProxyRoute } from './routes/image-proxy.js';
import { appleProfileRoutes } from './routes/mail-programs/apple-profile.js';
import { autoconfigRoutes, type MailProgramSources } from './routes/mail-programs/autoconfig.js';
import { autodiscoverRoutes } from './routes/mail-programs/autodiscover.js';
import { mtaStsRoute, type StsSources } from './routes/mail-programs/mta-sts.js';
import { outboundRoutes } from './routes/outbound/outbound.js';
import { draftRoutes } from './routes/outbound/outbound-drafts.js';
import { replyRoutes } from './routes/outbound/outbound-replies.js';
import type { OutboundSources } from './routes/outbound/outbound-sending.js';
import { suppressionRoutes } from './routes/outbound/suppressions.js';

export interface RouteSources
  extends Omit<EmailSources, 'contents'>,
    MailProgramSources,
    StsSources,
    Omit<OidcSources, 'sessions'> {
  readonly exports: ExportSources['exports'];
  readonly accountApi: AccountApi;
  readonly quotas: AccountQuotas;
  readonly sending: SendingStatus;
  readonly push: Omit<PushSources, 'subscriptions'>;
  readonly images: ImageProxySources;
  readonly ceremonies: PasskeySources['ceremonies'];
  readonly eventStreams: Pick<OpenEventStreams, 'admit'>;
  readonly webhooks: Omit<WebhookSources, 'webhooks'>;
  /** The parts that compose messages. */
  readonly composing: Pick<
    OutboundSources,
    'inlineMessages' | 'spool' | 'contentChecks' | 'hostname' | 'maxMessageSize'
  >;
  readonly config: WebConfig;
  readonly checks: readonly HealthCheck[];
  /** The version of the program, for the OpenAPI document. */
  readonly version: string;
  /** The URL of the API as clients reach it; undefined when it is unknown. */
  readonly publicUrl: string | undefined;
  readonly log: Log;
}

/** What an account is and chooses, apart from its mail. */
function accountRoutes(sources: RouteSources): readonly Route[] {
  const { accountApi, connectionInfo } = sources;
  return [
    ...credentialRoutes({ keys: accountApi.keys, connectionInfo }),
    ...sessionRoutes(accountApi.sessions),
    ...sessionLinkRoutes(accountApi.sessions),
    ...signInLinkRoutes(accountApi.sessions),
    ...passkeyRoutes({ ...accountApi, ceremonies: sources.ceremonies, publicUrl: sources.publicUrl }),
    ...oidcRoutes({ ...sources, sessions: accountApi.sessions }),
    ...appleProfileRoutes({ ...accountApi, connectionInfo }),
    ...profileRoutes({ ...accountApi, sending: sources.sending }),
    ...addressVerificationRoutes(accountApi.profiles),
    ...preferenceRoutes(accountApi.preferences),
    ...senderRoutes(accountApi.senders),
    ...vacationRoutes(accountApi.vacation),
    ...forwardingRoutes(accountApi.forwarding),
    quotaRoute(sources.quotas),
  ];
}

export function routeTable(sources: RouteSources): readonly Route[] {
  const { mailboxes, accountApi, connectionInfo, log } = sources;
  const shown: EmailSources = { ...sources, contents: new EncodedContents() };
  const emails = (base: string, tags: readonly string[]): readonly Route[] => [
    ...emailRoutes(base, tags, shown),
    ...bulkRoutes(base, tags, mailboxes),
    ...sentRoutes(base, tags, mailboxes),
    ...contentRoutes(base, tags, sources),
    emailImagesRoute(base, tags, { ...sources, imageUrls: sources.images.urls }),
    threadRoute(base, tags, shown),
    ...searchRoutes(base, tags, mailboxes),
    exportRoute(base, tags, sources),
  ];
  const outbound: OutboundSources = {
    ...sources,
    ...sources.composing,
    profiles: accountApi.profiles,
    preferences: accountApi.preferences,
  };
  const routes: readonly Route[] = [
    ...emails('/api/emails', ['Emails']),
    ...emails('/api/external/emails', ['External emails']),
    imageProxyRoute(sources.images),
    contactsRoute(mailboxes),
    ...[
      ...outboundRoutes('/api/outbound', ['Outbound'], outbound),
      ...draftRoutes('/api/outbound', ['Outbound'], outbound),
      ...replyRoutes('/api/outbound', ['Outbound'], outbound),
    ].map((route) => namingFullDomain(route, sources.quotas)),
    ...accountRoutes(sources),
    ...pushRoutes({ ...sources.push, subscriptions: accountApi.push }),
    ...webhookRoutes({ ...sources.webhooks, webhooks: accountApi.webhooks }),
    internalNotificationRoute(mailboxes),
    discoveryRoute(
      () => ({
        ...connectionInfo(),
        features: { oidc: sources.config.oidc.enabled, pushNotifications: true },
        version: sources.version,
      }),
      sources.composing.maxMessageSize,
    ),
    ...folderRoutes('/api/folders', ['Folders'], mailboxes),
    ...labelRoutes('/api/labels', ['Labels'], mailboxes),
    ...filterRoutes('/api/filters', ['Filters'], mailboxes, accountApi.forwarding),
    ...filterRunRoutes('/api/filters', ['Filters'], mailboxes),
    ...suppressionRoutes(mailboxes),
    ...sieveRoutes(mailboxes),
    eventRoute(sources.eventStreams),
    ...configRoutes(sources.config, sources.publicUrl),
    ...autoconfigRoutes(sources),
    ...autodiscoverRoutes(sources),
    mtaStsRoute(sources),
    healthRoute(createHealth({ checks: sources.checks, now: () => performance.now(), log })),
  ];
  const { version, publicUrl = '/' } = sources;
  const described = [...routes, asyncApiRoute(() => openApi(routes, version, publicUrl), version, publicUrl)];
  return [...described, openApiRoute(described, version, publicUrl), ...docsRoutes()];
}
