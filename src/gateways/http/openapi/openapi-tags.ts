// The sections of the OpenAPI document in their order, and the description of the whole API.

export const TAGS: Readonly<Record<string, string>> = {
  Emails: 'Received and sent mail of the account: lists, search, threads, attachments, exports.',
  'External emails': 'The same endpoints for integrations: read with `api:read`, change with `api:write`.',
  Outbound:
    'Mail that leaves: drafts, sending, replying and forwarding, and what became of each recipient. An email is Draft, Queued, Sending, Sent or Failed.',
  Folders:
    'Folders of the account, labels among them: inbox, sent, drafts, archive, trash and junk, which every account has, and those of its own.',
  Labels: 'Labels and the emails that carry them. An email may carry several.',
  Filters:
    'Rules for new mail, evaluated in the order of `priority`, lower first. Conditions are joined with AND; every action of a filter that matches is applied.',
  Sieve: 'Scripts of the account (RFC 5228), at most one of which is active. ManageSieve serves them too.',
  Events: 'What happens in the account, as it happens.',
  Profile: 'The account and its additional addresses.',
  Preferences: 'How clients show mail to the account.',
  Forwarding: 'Where the mail of an account is sent on.',
  Senders: 'The senders whose mail goes to Junk, and those whose mail does not.',
  Vacation: 'What the account answers by itself while its owner is away.',
  Suppressions: 'Addresses to which nothing is sent for a time, because mail to them bounced for good.',
  Quota: 'What the mailbox uses and may use.',
  'API keys': 'Keys for programs and devices, and where the mail protocols are.',
  Sessions: 'Browsers that are signed in to the page.',
  'Push subscriptions': 'Browsers that get new mail by Web Push.',
  Webhooks: 'URLs that get the events of the account, one per request, in order and signed.',
  Internal: 'For mail servers that run apart from this one.',
  'Mail programs':
    'Settings for mail programs, by the address of their user. There is no authentication, and no reply says whether the account exists.',
  Service: 'What a client asks before it has a credential.',
};

export const ABOUT = `Mail over REST: mailboxes, messages, attachments, sending, labels, filters.

**Credentials.** \`Authorization: Bearer\` with an access token of the OpenID provider or with an API key, or
\`Authorization: ApiKey\` with an API key. A token may do what the scope \`app\` may: everything of its own account.

**Errors** are problem details (RFC 9457), \`application/problem+json\`. Beside those that stand at each operation, any may
reply 405 with \`Allow\` for a method that a path does not take, 408, 414 or 431 for a request that is too slow or too long,
and 500.

**Fields** may be added to replies, never renamed or removed. Fields of requests that are not known are passed over.
Ids are UUIDs, times ISO 8601 in UTC. Every reply carries \`X-Request-Id\`.`;
