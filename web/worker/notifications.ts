// The notification that a push message shows, and the path that a click on it opens. Pure; `service-worker.ts` shows and opens.

export interface ShownNotification {
  readonly title: string;
  readonly options: {
    readonly body?: string;
    readonly icon?: string;
    readonly badge?: string;
    /** A later message of the same email takes the place of the earlier one. */
    readonly tag?: string;
    readonly data: { readonly path: string };
  };
}

const INBOX = '/inbox';

/** `message`: as the node has sent it. A browser takes push away from pages that show nothing, so any other message shows something, too. */
export function notificationOf(message: string | undefined, origin: string): ShownNotification {
  const { title, body, icon, badge, data } = parsed(message);
  const { emailId, url } = (data ?? {}) as Readonly<Record<string, unknown>>;
  return {
    title: text(title) ?? 'Mansio',
    options: {
      ...withText('body', body),
      ...withText('icon', icon),
      ...withText('badge', badge),
      ...withText('tag', emailId),
      data: { path: pathOf(text(url), origin) },
    },
  };
}

/** The public URL of the node may be another name for the origin of the page: the path is what counts. */
function pathOf(url: string | undefined, origin: string): string {
  if (url === undefined || !URL.canParse(url, origin)) return INBOX;
  const { protocol, pathname } = new URL(url, origin);
  return /^https?:$/.test(protocol) ? pathname : INBOX;
}

function parsed(message: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(message ?? '{}'));
  } catch {
    return {};
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function withText<K extends string>(name: K, value: unknown): { readonly [P in K]?: string } {
  const found = text(value);
  return (found === undefined ? {} : { [name]: found }) as { readonly [P in K]?: string };
}
