// A push service for tests (RFC 8030) with its browsers: it accepts messages like the services of browser vendors, checks who sends them
// (VAPID, RFC 8292) and decrypts them with the keys of the subscription (RFC 8291). It refuses what a real service would refuse, and
// records it as a fault. http-receiver.ts has other answers, including broken and hostile ones.
import { createECDH, type ECDH, randomBytes } from 'node:crypto';
import { decrypt } from 'http_ece';
import { importJWK, jwtVerify } from 'jose';
import type { Teardown } from '../database/embedded-database.js';
import {
  type ArrivedRequest,
  type HttpReceiver,
  type ReceiverPlace,
  type Reply,
  startHttpReceiver,
} from './http-receiver.js';

/** The body of POST /api/push-subscriptions. */
export interface TestSubscription {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** The urgency of RFC 8030 §5.3. */
export type Urgency = 'very-low' | 'low' | 'normal' | 'high';

export interface PushMessage {
  readonly endpoint: string;
  /** The decrypted text. */
  readonly text: string;
  /** The octets of the request's body. */
  readonly octets: number;
  /** In seconds. */
  readonly ttl: number;
  readonly urgency: Urgency | undefined;
  readonly topic: string | undefined;
  /** The `sub` claim of the sender's token. */
  readonly sender: string;
  /** The key of the sender: 65 octets in base64url. */
  readonly vapidKey: string;
  /** True when the service answered 201. */
  readonly accepted: boolean;
  readonly at: number;
}

export interface PushService {
  /** Receives the requests: it decides the answers, stores the requests, and can be shut. */
  readonly receiver: HttpReceiver;
  /** The well-formed messages for subscriptions, in order, including those that were not accepted. */
  readonly messages: readonly PushMessage[];
  /** The refusals by the service's own rules, in words; empty after a good sender. */
  readonly faults: readonly string[];
  /** Subscribes a browser. `vapidKey`: messages of other senders are refused with 403 (RFC 8292 §4). */
  subscribe(vapidKey?: string): TestSubscription;
  /** Ends the subscription: its messages get 410 from now on. */
  unsubscribe(endpoint: string): void;
  /** Returns the JSON of the accepted messages, in order; of every subscription or of one. */
  payloads<T>(endpoint?: string): T[];
}

interface Subscribed {
  readonly ecdh: ECDH;
  readonly auth: string;
  readonly vapidKey: string | undefined;
}

/** The least that services must accept, and the most that most of them do (RFC 8030 §7.2). */
const MOST_OCTETS = 4096;
/**
 * RFC 8188 §2.1: the header is a salt of 16 octets, the size of records, the length of the key's id and that id, which is the sender's
 * point.
 */
const RECORD_SIZE_AT = 16;
const HEADER_OCTETS = RECORD_SIZE_AT + 4 + 1 + 65;
const LONGEST_TOKEN_SECONDS = 24 * 60 * 60;

class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The service ends with the test. */
export async function startPushService(t: Teardown, place: ReceiverPlace = {}): Promise<PushService> {
  const subscriptions = new Map<string, Subscribed>();
  const gone = new Set<string>();
  /** Keyed by the body of the request. */
  const judged = new Map<Buffer, Omit<PushMessage, 'accepted'>>();
  const faults: string[] = [];

  async function working(request: ArrivedRequest): Promise<Reply> {
    try {
      if (gone.has(request.path)) return { status: 410 };
      judged.set(request.body, await judge(request));
      return { status: 201, headers: { location: `${receiver.url}/message/${judged.size}` } };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      faults.push(`${request.method} ${request.path}: ${error.message}`);
      return { status: error.status, body: error.message };
    }
  }

  async function judge(request: ArrivedRequest): Promise<Omit<PushMessage, 'accepted'>> {
    const { headers, body } = request;
    const subscribed = subscriptions.get(request.path);
    if (subscribed === undefined) throw new Refused(404, 'no such subscription');
    if (request.method !== 'POST') throw new Refused(405, 'a message is sent by POST');
    if (body.length > MOST_OCTETS) throw new Refused(413, `a body of ${body.length} octets`);
    const sender = await senderOf(String(headers.authorization ?? ''), subscribed.vapidKey);
    const ttl = String(headers['ttl'] ?? '');
    if (!/^\d{1,10}$/.test(ttl)) throw new Refused(400, `TTL ${JSON.stringify(ttl)}`);
    const urgency = headers['urgency'] as Urgency | undefined;
    if (urgency !== undefined && !/^(very-low|low|normal|high)$/.test(urgency)) {
      throw new Refused(400, `urgency ${urgency}`);
    }
    const topic = headers['topic'] as string | undefined;
    if (topic !== undefined && !/^[\w-]{1,32}$/.test(topic)) throw new Refused(400, `topic ${topic}`);
    if (headers['content-encoding'] !== 'aes128gcm') {
      throw new Refused(415, `content encoding ${headers['content-encoding']}`);
    }
    const text = decrypted(body, subscribed);
    const endpoint = receiver.url + request.path;
    return { endpoint, text, octets: body.length, ttl: Number(ttl), urgency, topic, ...sender, at: request.at };
  }

  async function senderOf(authorization: string, expectedKey: string | undefined) {
    const [, token = ''] = /^vapid .*\bt=([\w.-]+)/i.exec(authorization) ?? [];
    const [, vapidKey = ''] = /^vapid .*\bk=([\w-]+)/i.exec(authorization) ?? [];
    if (token === '' || vapidKey === '') throw new Refused(401, `authorization ${authorization.slice(0, 20)}`);
    if (expectedKey !== undefined && vapidKey !== expectedKey) throw new Refused(403, `VAPID key ${vapidKey}`);
    const point = Buffer.from(vapidKey, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((octets) => octets.toString('base64url'));
    try {
      const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x!, y: y! }, 'ES256');
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['ES256'],
        audience: receiver.url,
        requiredClaims: ['exp', 'sub'],
      });
      const seconds = payload.exp! - Date.now() / 1000;
      if (seconds > LONGEST_TOKEN_SECONDS) throw new Error(`valid for another ${seconds} s`);
      if (!/^(mailto:.+@|https:\/\/)./.test(payload.sub!)) throw new Error(`sub ${payload.sub}`);
      return { sender: payload.sub!, vapidKey };
    } catch (error) {
      throw new Refused(403, `VAPID token: ${(error as Error).message}`);
    }
  }

  const receiver = await startHttpReceiver(t, { ...place, working });
  const messages = () =>
    receiver.requests.flatMap(({ body, answer }) => {
      const message = judged.get(body);
      const accepted = typeof answer === 'object' && answer.status === 201;
      return message === undefined ? [] : [{ ...message, accepted }];
    });
  return {
    receiver,
    faults,
    get messages() {
      return messages();
    },
    subscribe(vapidKey) {
      const ecdh = createECDH('prime256v1');
      const path = `/push/${randomBytes(16).toString('base64url')}`;
      const auth = randomBytes(16).toString('base64url');
      const p256dh = ecdh.generateKeys('base64url');
      subscriptions.set(path, { ecdh, auth, vapidKey });
      return { endpoint: receiver.url + path, p256dh, auth };
    },
    unsubscribe: (endpoint) => void gone.add(new URL(endpoint).pathname),
    payloads: <T>(endpoint?: string) =>
      messages()
        .filter((message) => message.accepted && (endpoint === undefined || message.endpoint === endpoint))
        .map(({ text }) => JSON.parse(text) as T),
  };
}

/** RFC 8291 §4: there is one record, so its size is larger than its content. */
function decrypted(body: Buffer, { ecdh, auth }: Subscribed): string {
  if (body.length <= HEADER_OCTETS) throw new Refused(400, `a body of ${body.length} octets`);
  if (body.readUInt32BE(RECORD_SIZE_AT) < body.length - HEADER_OCTETS) throw new Refused(400, 'more than one record');
  try {
    const content = decrypt(body, { version: 'aes128gcm', privateKey: ecdh, authSecret: auth });
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch (error) {
    throw new Refused(400, `not decrypted: ${(error as Error).message}`);
  }
}
