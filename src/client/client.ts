// Creates a client and puts its parts together. It needs no page: it works in browsers and in Node.js.
import { defer, type Observable, of, switchMap } from 'rxjs';
import type { Action, Actions, ClientOptions, ListView, MansioClient, Session } from './client-types.js';
import { draftsOver } from './drafts.js';
import type { EmailPage } from './generated/rest.js';
import { pageOrigin } from './hub/environment.js';
import { type ClientEvent, HubLink } from './hub/hub-link.js';
import { restPathOf } from './lists/list-query.js';
import { outboundState } from './outbound.js';
import { type RefreshedOptions, refreshed } from './refreshed.js';
import { refusalOf } from './refusal.js';
import { filled, Rest, tokenOf } from './rest.js';

const PAGE_SIZE = 100;

export function createClient(options: ClientOptions = {}): MansioClient {
  const { credential } = options;
  const baseUrl = (options.baseUrl ?? pageOrigin())?.replace(/\/+$/, '');
  if (baseUrl === undefined) throw new Error('Outside of a page the client needs a baseUrl.');
  const link = new HubLink({
    url: `${baseUrl}/hubs/email`,
    token: credential && (() => tokenOf(credential)),
  });
  const rest = new Rest({
    baseUrl,
    credential,
    fetch: options.fetch ?? ((...request) => fetch(...request)),
    signedOut: () => link.signedOut(),
  });
  const opened = <T>(stream$: Observable<T>): Observable<T> =>
    defer(() => {
      link.open();
      return stream$;
    });
  return {
    connection$: opened(link.state$),
    events$: opened(link.events$),
    resync$: opened(link.resync$),
    list: (query, range$ = of({ start: 0, end: PAGE_SIZE })) =>
      range$.pipe(
        switchMap(({ start }) => {
          const page = Math.floor(start / PAGE_SIZE);
          return refreshed<ListView>(link, {
            async read() {
              const { path, query: parameters } = restPathOf(query);
              const paged = { ...parameters, page: page + 1, pageSize: PAGE_SIZE };
              const response = await rest.send({ method: 'GET', path, query: paged });
              const { items, totalCount: total, unreadCount: unread } = (await response.json()) as EmailPage;
              return { total, unread, start: page * PAGE_SIZE, items, isLoading: false };
            },
            touch: ({ type }) => (/^(New)?Email|^FolderDeleted|^Label/.test(type) ? 'read' : undefined),
          });
        }),
      ),
    ...followedOver(rest, link),
    outbound: (id) => outboundState(id, rest, link),
    drafts: draftsOver(rest),
    send: (body) => rest.request('POST', '/api/outbound/send', { body }),
    cancel: (id) => rest.request('POST', '/api/outbound/{id}/cancel', { params: { id } }),
    retry: (id) => rest.request('POST', '/api/outbound/{id}/retry', { params: { id } }),
    act: actionsOver(rest),
    request: (method, path, ...input) => rest.request(method, path, ...input),
    attachmentUrl: (id, attachmentId) =>
      rest.url(filled('/api/emails/{id}/attachments/{attachmentId}', { id, attachmentId })),
    emlUrl: (id) => rest.url(filled('/api/emails/{id}/export/eml', { id })),
    blob: async (path) => (await rest.send({ method: 'GET', path: path.replace(baseUrl, '') })).blob(),
    ...sessionsOver(rest, link),
    close: () => link.close(),
  };
}

type FollowedPart = Pick<MansioClient, 'folders$' | 'labels$' | 'preferences$' | 'email' | 'thread'>;

function followedOver(rest: Rest, link: HubLink): FollowedPart {
  const shared = <T>(followed: RefreshedOptions<T>) => refreshed(link, followed);
  return {
    folders$: shared({
      read: () => rest.request('GET', '/api/folders'),
      touch: ({ type }) => (/^(New)?Email|^Unread|^Folder|^Label|^Draft/.test(type) ? 'read' : undefined),
    }),
    labels$: shared({
      read: () => rest.request('GET', '/api/labels'),
      touch: ({ type }) => (/^Label|^Email(Placed|Unplaced|Deleted)/.test(type) ? 'read' : undefined),
    }),
    preferences$: shared({
      read: () => rest.request('GET', '/api/preferences'),
      touch: (event, newest) =>
        event.type === 'PreferencesChanged' ? { ...newest, ...chosen(event.payload) } : undefined,
    }),
    email: (id) =>
      shared({
        read: () => rest.request('GET', '/api/emails/{id}', { params: { id } }),
        touch: (event) => (idOf(event) === id ? 'read' : undefined),
      }),
    thread: (threadId) =>
      shared({
        read: () => rest.request('GET', '/api/emails/threads/{threadId}', { params: { threadId } }),
        touch: (event, newest) =>
          event.type === 'NewEmail' || newest.some(({ id }) => id === idOf(event)) ? 'read' : undefined,
      }),
  };
}

type SessionPart = Pick<MansioClient, 'signIn' | 'signOut' | 'sessions' | 'endSession'>;

function sessionsOver(rest: Rest, link: HubLink): SessionPart {
  const sessions = async (): Promise<readonly Session[]> =>
    (await (await rest.send({ method: 'GET', path: '/api/sessions' })).json()) as readonly Session[];
  const endSession = async (id: string): Promise<void> => {
    await rest.send({ method: 'DELETE', path: filled('/api/sessions/{id}', { id }) });
  };
  return {
    sessions,
    endSession,
    async signIn(proof) {
      const request = { method: 'POST', path: '/api/sessions' };
      const key = 'apiKey' in proof ? proof.apiKey : 'token' in proof ? proof.token : undefined;
      const response = await rest.fetch(
        'link' in proof ? { ...request, body: proof } : { ...request, headers: { Authorization: `Bearer ${key}` } },
      );
      if (!response.ok) throw await refusalOf(response);
      const session = (await response.json()) as Session;
      link.renew();
      return session;
    },
    async signOut() {
      const current = (await sessions()).find(({ isCurrent }) => isCurrent);
      if (current !== undefined) await endSession(current.id);
      link.signedOut();
    },
  };
}

function actionsOver(rest: Rest): Actions {
  const action = (carryOut: () => Promise<unknown>, takeBack: () => Promise<unknown>): Action => {
    const done = carryOut().then(() => {});
    return { done, undo: () => done.then(takeBack).then(() => {}) };
  };
  const mark = (emailIds: readonly string[], isRead: boolean) =>
    rest.request('POST', '/api/emails/bulk/mark-read', { body: { emailIds, isRead } });
  const flag = (ids: readonly string[], isFlagged: boolean) =>
    Promise.all(ids.map((id) => rest.request('PATCH', '/api/emails/{id}', { params: { id }, body: { isFlagged } })));
  const move = (emailIds: readonly string[], folderId: string, fromFolderId: string | undefined) =>
    rest.request('POST', '/api/emails/bulk/move', {
      body: { emailIds, folderId, ...(fromFolderId !== undefined && { fromFolderId }) },
    });
  const label = (ids: readonly string[], labelId: string) =>
    Promise.all(
      ids.map((emailId) =>
        rest.request('POST', '/api/labels/emails/{emailId}', { params: { emailId }, body: { labelId } }),
      ),
    );
  const unlabel = (ids: readonly string[], labelId: string) =>
    Promise.all(
      ids.map((emailId) =>
        rest.request('DELETE', '/api/labels/emails/{emailId}/{labelId}', { params: { emailId, labelId } }),
      ),
    );
  return {
    markRead: (ids, isRead) =>
      action(
        () => mark(ids, isRead),
        () => mark(ids, !isRead),
      ),
    flag: (ids, isFlagged) =>
      action(
        () => flag(ids, isFlagged),
        () => flag(ids, !isFlagged),
      ),
    move: (ids, { to, from }) =>
      action(
        () => move(ids, to, from),
        () => move(ids, from ?? 'inbox', to),
      ),
    delete: (emailIds) =>
      action(
        () => rest.request('POST', '/api/emails/bulk/delete', { body: { emailIds } }),
        () => Promise.reject(new Error('Emails that were deleted for good do not come back.')),
      ),
    label: (ids, labelId) =>
      action(
        () => label(ids, labelId),
        () => unlabel(ids, labelId),
      ),
    unlabel: (ids, labelId) =>
      action(
        () => unlabel(ids, labelId),
        () => label(ids, labelId),
      ),
  };
}

function idOf({ payload }: ClientEvent): string | undefined {
  if (typeof payload === 'string') return payload;
  return typeof payload === 'object' && 'id' in payload ? payload.id : undefined;
}

/** The preferences that were chosen, without those that the payload does not have. */
function chosen<T extends object>(payload: T): { [K in keyof T]-?: NonNullable<T[K]> } {
  return payload as { [K in keyof T]-?: NonNullable<T[K]> };
}
