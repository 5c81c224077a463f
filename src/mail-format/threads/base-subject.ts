// The base subject (RFC 5256 §2.1), by which messages are sorted and threaded: the subject without what replies, forwards and mailing lists
// add around it. The input is decoded text; its end and its start are moved inwards, in linear time.

export interface BaseSubject {
  readonly text: string;
  /** True when a mark of a reply or a forward was removed. */
  readonly isReplyOrForward: boolean;
}

const FORWARD_MARK = '(FWD)';
const FORWARD_START = '[FWD:';
const FORWARD_END = ']';

/** `subj-blob`. */
const BLOB = /\[[^[\]]*\] ?/y;
/** `subj-refwd`. */
const REPLY = /(?:re|fwd?) ?(?:\[[^[\]]*\] ?)?:/iy;

export function baseSubject(subject: string): BaseSubject {
  let text = subject.replace(/[\t\r\n ]+/g, ' ');
  let isReplyOrForward = false;
  for (;;) {
    const end = endWithoutTrailers(text);
    if (end.isForward) isReplyOrForward = true;
    text = text.slice(0, end.at);
    const start = startWithoutLeaders(text);
    if (start.isReply) isReplyOrForward = true;
    text = text.slice(start.at);
    if (!isForwarded(text)) return { text, isReplyOrForward };
    isReplyOrForward = true;
    text = text.slice(FORWARD_START.length, -FORWARD_END.length);
  }
}

/** Step 2. */
function endWithoutTrailers(text: string): { at: number; isForward: boolean } {
  let at = text.length;
  let isForward = false;
  for (;;) {
    if (text[at - 1] === ' ') at--;
    else if (at >= FORWARD_MARK.length && text.slice(at - FORWARD_MARK.length, at).toUpperCase() === FORWARD_MARK) {
      at -= FORWARD_MARK.length;
      isForward = true;
    } else return { at, isForward };
  }
}

/** Steps 3 to 5. */
function startWithoutLeaders(text: string): { at: number; isReply: boolean } {
  let at = 0;
  let isReply = false;
  for (;;) {
    while (text[at] === ' ') at++;
    let behindBlobs = at;
    let lastBlob = at;
    for (BLOB.lastIndex = at; BLOB.test(text); BLOB.lastIndex = behindBlobs) {
      lastBlob = behindBlobs;
      behindBlobs = BLOB.lastIndex;
    }
    REPLY.lastIndex = behindBlobs;
    if (!REPLY.test(text)) {
      // No reply mark follows the blobs, whichever of them are removed. The last blob stays when there is no other text.
      return { at: behindBlobs < text.length ? behindBlobs : lastBlob, isReply };
    }
    at = REPLY.lastIndex;
    isReply = true;
  }
}

function isForwarded(text: string): boolean {
  return (
    text.length > FORWARD_START.length &&
    text.endsWith(FORWARD_END) &&
    text.slice(0, FORWARD_START.length).toUpperCase() === FORWARD_START
  );
}
