// The message that tells a browser of a new email: the JSON for its service worker, and the fields that the push service obeys (RFC 8030
// §5). Pure. The message is useful for a day: after that the push service drops it, and this server does not send it any more.

/** The payload of the client event `NewEmail`. */
export interface NewEmailShown {
  readonly id: string;
  readonly from: string;
  readonly fromDisplay: string;
  readonly subject: string;
}

export interface PushMessage {
  /** JSON: title, body, icon, badge, data. */
  readonly content: string;
  /** The seconds for which the push service stores the message for a browser that is offline. */
  readonly ttl: number;
  readonly urgency: 'normal';
  /** A later message with the same topic replaces one that is not delivered yet, so an email that is sent twice shows once. */
  readonly topic: string;
}

export const USEFUL_MS = 24 * 3_600_000;

/** In code points. */
const LONGEST_TITLE = 120;
const LONGEST_BODY = 400;
/** Push services accept bodies of 4,096 octets (RFC 8030 §7.2); encryption adds a header of 86, a delimiter and a tag (RFC 8291 §4). */
const MOST_OCTETS = 4096 - 86 - 1 - 16;
const NO_SUBJECT = '(no subject)';

/** `publicUrl`: the URL of the web app; without it, URLs are paths on the origin of the service worker. */
export function pushMessage(email: NewEmailShown, publicUrl: string | undefined, ageMs: number): PushMessage {
  const base = (publicUrl ?? '').replace(/\/+$/, '');
  const content = (title: string, body: string) =>
    JSON.stringify({
      title,
      body,
      icon: `${base}/icons/icon-192.png`,
      badge: `${base}/icons/badge-72.png`,
      data: { emailId: email.id, url: `${base}/emails/${email.id}` },
    });
  const title = cut(email.fromDisplay.trim() || email.from, LONGEST_TITLE);
  const body = email.subject.trim() || NO_SUBJECT;
  let length = LONGEST_BODY;
  let text = content(title, cut(body, length));
  while (Buffer.byteLength(text) > MOST_OCTETS && length > 1) {
    length >>= 1;
    text = content(title, cut(body, length));
  }
  const ttl = Math.max(0, Math.round((USEFUL_MS - ageMs) / 1000));
  return { content: text, ttl, urgency: 'normal', topic: email.id.replaceAll('-', '') };
}

function cut(text: string, codePoints: number): string {
  // No text has fewer code units than code points.
  if (text.length <= codePoints) return text;
  const points = [...text.slice(0, 2 * codePoints + 2)];
  return points.length <= codePoints ? text : `${points.slice(0, codePoints - 1).join('')}…`;
}
