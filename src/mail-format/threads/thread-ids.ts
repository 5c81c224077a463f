// Message ids in the form in which threading compares them: a hash of 64 bits each, as four characters of a string. Ten thousand messages
// have tens of thousands of ids; hashes are found faster than ids and take a quarter of the memory.

/** The characters of a packed id. */
const WIDTH = 4;
const ABSENT = '\0'.repeat(WIDTH);
const MESSAGE_IDS = /<(?:"(?:[^"\\\r\n]|\\.)*"|[^<>"\s@]+)@[^<>\s]+>/g;
const QUOTED_LOCAL_PART = /^<"((?:[^"\\]|\\.)*)"@/;

/**
 * Packs the message's own id, which may be missing, and those that it refers to, oldest first: the ids of References, or the first one of
 * In-Reply-To (RFC 5256 §3). Fields are passed as they are written; '' when a field is missing.
 */
export function threadIdsOf(messageId: string, references: string, inReplyTo: string): string {
  const [own] = messageIds(messageId);
  const others = messageIds(references);
  if (others.length === 0) others.push(...messageIds(inReplyTo).slice(0, 1));
  return packedIds(own, others);
}

export function packedIds(own: string | undefined, references: readonly string[]): string {
  return (own === undefined ? ABSENT : packed(own)) + references.map(packed).join('');
}

/** Returns the id at this place: 0 is the message's own id, '' when it is missing; the ids that it refers to follow from 1 on. */
export function idAt(ids: string, place: number): string {
  const id = ids.slice(place * WIDTH, (place + 1) * WIDTH);
  return id === ABSENT ? '' : id;
}

/** Returns the number of ids that a message refers to. */
export const referenceCount = (ids: string): number => ids.length / WIDTH - 1;

/** Returns normalized ids: a local part has quotes only where they are necessary (RFC 5256 §3). */
function messageIds(field: string): string[] {
  return (field.match(MESSAGE_IDS) ?? []).map((id) => {
    const quoted = QUOTED_LOCAL_PART.exec(id);
    return quoted === null ? id : `<${quoted[1]!.replace(/\\(.)/g, '$1')}@${id.slice(quoted[0].length)}`;
  });
}

/** Returns two 32-bit hashes (FNV-1a). */
function packed(id: string): string {
  let a = 0x811c_9dc5;
  let b = 0x1000_0193;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    a = Math.imul(a ^ code, 0x0100_0193);
    b = Math.imul(b ^ code ^ (a >>> 15), 0x0100_0193);
  }
  // The hash of an id never equals ABSENT.
  return String.fromCharCode(a >>> 16, a & 0xffff, b >>> 16, b & 0xffff || 1);
}
