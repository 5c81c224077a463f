// Creates a client and puts its parts together. It needs no page: it works in browsers and in Node.js.
import { BehaviorSubject, defer, type Observable, Subject, switchMap, takeUntil } from 'rxjs';
import { ActionQueue } from './actions/action-queue.js';
import { actionsOf, restoreActions } from './actions/actions.js';
import { Overlays } from './actions/overlays.js';
import type { ClientOptions, LateRefusal, MansioClient, Passkeys, SignInProof } from './client-types.js';
import { draftsOver } from './drafts.js';
import { Emails } from './emails.js';
import { FollowedAccount } from './followed-account.js';
import type { Session } from './generated/rest.js';
import { pageOrigin } from './hub/environment.js';
import { HubLink } from './hub/hub-link.js';
import { foundEmails } from './lists/found-emails.js';
import { Lists } from './lists/lists.js';
import { ListSubscriptions } from './lists/subscriptions.js';
import { KeptAccount } from './offline/kept-account.js';
import { outboundState } from './outbound.js';
import { Refusal, refusalOf } from './refusal.js';
import { type BareRequest, filled, Rest, tokenOf } from './rest.js';

export function createClient(options: ClientOptions = {}): MansioClient {
  const { credential } = options;
  const baseUrl = (options.baseUrl ?? pageOrigin())?.replace(/\/+$/, '');
  if (baseUrl === undefined) throw new Error('Outside of a page the client needs a baseUrl.');
  const storage = new KeptAccount(options.storage);
  const link = new HubLink({
    url: `${baseUrl}/hubs/email`,
    token: credential && (() => tokenOf(credential)),
    check: () =>
      rest.request('GET', '/api/profile').then(
        () => undefined,
        () => undefined,
      ),
  });
  const rest = new Rest({
    baseUrl,
    credential,
    // Pages of other origins have no cookie.
    ...(baseUrl === pageOrigin() && { accountId: () => storage.accountId }),
    fetch: options.fetch ?? ((...request) => fetch(...request)),
    signedOut: () => link.signedOut(),
  });
  // Requests and the connection to the hub both find out.
  link.state$.subscribe((state) => {
    if (state === 'signedOut') void storage.clear();
  });
  const mail = mailOver(rest, link, storage);
  const opened = <T>(stream$: Observable<T>): Observable<T> =>
    defer(() => {
      link.open();
      return stream$;
    });
  return {
    connection$: opened(link.state$),
    events$: opened(link.events$),
    resync$: opened(link.resync$),
    ...mail.part,
    drafts: draftsOver(rest),
    send: (body) => rest.request('POST', '/api/outbound/send', { body }),
    cancel: (id) => rest.request('POST', '/api/outbound/{id}/cancel', { params: { id } }),
    retry: (id) => rest.request('POST', '/api/outbound/{id}/retry', { params: { id } }),
    request: (method, path, ...input) => rest.request(method, path, ...input),
    attachmentUrl: (id, attachmentId) =>
      rest.url(filled('/api/emails/{id}/attachments/{attachmentId}', { id, attachmentId })),
    emlUrl: (id) => rest.url(filled('/api/emails/{id}/export/eml', { id })),
    blob: async (path) => (await rest.send({ method: 'GET', path: path.replace(baseUrl, '') })).blob(),
    ...sessionsOver(rest, link, mail.forget),
    passkeys: passkeysOver(rest),
    close: () => {
      mail.close();
      link.close();
    },
  };
}

type MailPart = Pick<
  MansioClient,
  | 'list'
  | 'found'
  | 'account$'
  | 'folders$'
  | 'labels$'
  | 'preferences$'
  | 'sessions$'
  | 'setting'
  | 'email'
  | 'thread'
  | 'outbound'
  | 'act'
  | 'lateRefusals$'
>;

interface Mail {
  readonly part: MailPart;
  /** Somebody else signs in, or the session has ended. Resolves when nothing is kept any more. */
  forget(): Promise<unknown>;
  close(): void;
}

/** What is read, followed and changed. */
function mailOver(rest: Rest, link: HubLink, storage: KeptAccount): Mail {
  const overlays = new Overlays((folder) => followed$.value.find(folder));
  const lists = new Lists(new ListSubscriptions(link, rest), overlays, storage, () =>
    followed$.value.folders.counted(),
  );
  const emails = new Emails(rest, link, lists, overlays, storage);
  const queue = new ActionQueue(rest, storage);
  const closed$ = new Subject<void>();
  const followed$ = new BehaviorSubject(new FollowedAccount(rest, link, lists, storage));
  const lateRefusals$ = new Subject<LateRefusal>();
  const actionParts = {
    queue,
    overlays,
    link,
    folder: (folder: string) => followed$.value.find(folder),
    find: (id: string) => lists.find(id) ?? emails.find(id),
    restored: new Map(),
  };
  const act = actionsOf(actionParts);
  storage.taken$.subscribe((values) => restoreActions(values, actionParts, (refusal) => lateRefusals$.next(refusal)));
  const open = <T>(stream: () => Observable<T>) => defer(stream).pipe(takeUntil(closed$));
  return {
    part: {
      list: (query, range$) =>
        open(() => {
          followed$.value.keepFolders();
          return lists.view(query, range$);
        }),
      account$: open(() => followed$.pipe(switchMap(({ account$ }) => account$))),
      found: (query, ...of) => foundEmails(rest, query, ...of),
      folders$: open(() => followed$.pipe(switchMap(({ folders }) => folders.folders$))),
      labels$: open(() => followed$.pipe(switchMap(({ labels$ }) => labels$))),
      preferences$: open(() => followed$.pipe(switchMap(({ preferences$ }) => preferences$))),
      sessions$: open(() => followed$.pipe(switchMap(({ sessions$ }) => sessions$))),
      setting: (path) => open(() => followed$.pipe(switchMap(({ settings }) => settings.of(path)))),
      email: (id) => open(() => emails.email(id)),
      thread: (threadId) => open(() => emails.thread(threadId)),
      outbound: (id) => open(() => outboundState(id, rest, link)),
      lateRefusals$,
      act: {
        ...act,
        move(ids, ...moved) {
          followed$.value.keepFolders();
          return act.move(ids, ...moved);
        },
      },
    },
    forget() {
      const before = followed$.value;
      const cleared = storage.clear();
      queue.drop(new Refusal(401, { title: 'The session has ended.' }));
      followed$.next(new FollowedAccount(rest, link, lists, storage));
      if (before.keepsFolders) followed$.value.keepFolders();
      before.end();
      lists.forget();
      emails.forget();
      return cleared;
    },
    close() {
      storage.close();
      closed$.next();
      followed$.value.end();
      lists.close();
      queue.close();
    },
  };
}

type SessionPart = Pick<MansioClient, 'signIn' | 'signOut' | 'sessions' | 'endSession'>;

function sessionsOver(rest: Rest, link: HubLink, forget: () => Promise<unknown>): SessionPart {
  const sessions = () => rest.request('GET', '/api/sessions');
  const endSession = (id: string): Promise<void> => rest.request('DELETE', '/api/sessions/{id}', { params: { id } });
  return {
    sessions,
    endSession,
    async signIn(proof) {
      const response = await rest.fetch(signInRequest(proof));
      if (!response.ok) throw await refusalOf(response);
      const session = (await response.json()) as Session;
      void forget();
      link.renew();
      return session;
    },
    async signOut() {
      const current = (await sessions()).find(({ isCurrent }) => isCurrent);
      if (current !== undefined) await endSession(current.id);
      const forgotten = forget();
      link.signedOut();
      await forgotten;
    },
  };
}

function signInRequest(proof: SignInProof): BareRequest {
  if ('passkey' in proof) return { method: 'POST', path: '/api/passkeys/login/verify', body: proof.passkey };
  if ('oidc' in proof) return { method: 'POST', path: '/api/oidc/sessions', body: proof.oidc };
  const request = { method: 'POST', path: '/api/sessions' };
  if ('link' in proof) return { ...request, body: proof };
  const key = 'apiKey' in proof ? proof.apiKey : proof.token;
  return { ...request, headers: { Authorization: `Bearer ${key}` } };
}

function passkeysOver(rest: Rest): Passkeys {
  return {
    list: () => rest.request('GET', '/api/passkeys'),
    registrationOptions: () => rest.request('POST', '/api/passkeys/registration'),
    register: (body) => rest.request('POST', '/api/passkeys/registration/verify', { body }),
    signInOptions: () => rest.request('POST', '/api/passkeys/login'),
    remove: (id) => rest.request('DELETE', '/api/passkeys/{id}', { params: { id } }),
  };
}
