// Hostile messages by families: each family is a list of variations of one idea, and each variation makes one message. `$JS` stands for
// a script that tells if it ran, `$U` for an address on a host of the message's own that nobody may contact, `$H` for that host.
// html-vectors.ts, style-vectors.ts and message-vectors.ts hold them; messages.ts makes the messages.

/** What differs from an ordinary message with this HTML. */
export interface Vector {
  readonly family: string;
  readonly html?: string;
  readonly text?: string;
  readonly subject?: string;
  readonly fromName?: string;
  /** The charset that the HTML is said to have, and its octets in base64 when they are no UTF-8. */
  readonly charset?: string;
  readonly octets?: string;
  readonly attachments?: readonly HostileAttachment[];
}

export interface HostileAttachment {
  readonly type: string;
  readonly name: string;
  readonly contentId?: string;
  readonly content: string;
}

export function family(name: string, variations: readonly string[]): Vector[] {
  return variations.map((html) => ({ family: name, html }));
}

/** A variation for each combination of a template, which contains `$X`, and a value. */
export function combined(name: string, templates: readonly string[], values: readonly string[]): Vector[] {
  return templates.flatMap((template) =>
    values.map((value) => ({ family: name, html: template.replaceAll('$X', value) })),
  );
}
