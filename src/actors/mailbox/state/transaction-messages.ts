// The messages that commands of one transaction name by handles (src/store/inline/inline-messages.ts): opened to plan with them, accepted when the
// plan of the command succeeds. The commit stores the octets of accepted inline messages (docs/decisions/0055).
import type { MessageSummary } from '../../../mail-format/summary.js';
import type { BlobContent } from '../../../store/blobs.js';
import type { InlineMessage } from '../../../store/inline/inline-message.js';
import type { InlineMessages, MessageHandle } from '../../../store/inline/inline-messages.js';
import type { SharedDelivery } from '../../../store/inline/shared-message.js';
import { type EditedForms, EditedMessages } from '../sieve/edited-messages.js';

/** The messages of one command, in the order of its handles. */
export interface OpenedMessages {
  readonly messages: readonly { readonly blob: string; readonly summary: MessageSummary }[];
  /** Those that are not stored yet. */
  readonly inline: readonly InlineMessage[];
}

export class TransactionMessages {
  /** Inline messages that the commit accepts, with the replies of their commands. */
  readonly accepted = new Map<InlineMessage, unknown>();
  /** Octets that the commit stores. */
  readonly contents: BlobContent[] = [];
  readonly shared: SharedDelivery[] = [];
  /** Deliveries of messages that came with their commands, with the replies. */
  readonly placed = new Map<string, { readonly emailId: string | null }>();
  readonly edited: EditedMessages;
  readonly #inlineMessages: Pick<InlineMessages, 'find' | 'decline'>;
  readonly #accountId: string;

  constructor(inlineMessages: Pick<InlineMessages, 'find' | 'decline'>, accountId: string, edited?: EditedForms) {
    this.edited = new EditedMessages(edited);
    this.#inlineMessages = inlineMessages;
    this.#accountId = accountId;
  }

  /** `R`: the reply of the command, which is returned when this commit or an earlier one has accepted the messages. */
  open<R>(
    handles: readonly MessageHandle[],
  ): { readonly opened: OpenedMessages } | { readonly reply: R } | { readonly refusal: 'unstored' } {
    const messages: OpenedMessages['messages'][number][] = [];
    const inline: InlineMessage[] = [];
    for (const handle of handles) {
      if ('blob' in handle) {
        messages.push(handle);
        continue;
      }
      const inlineMessage = this.#inlineMessages.find(handle.inlineId);
      if (inlineMessage?.result !== undefined) return { reply: inlineMessage.result.result as R };
      if (inlineMessage?.isOpen !== true) return { refusal: 'unstored' };
      if (this.accepted.has(inlineMessage)) return { reply: this.accepted.get(inlineMessage) as R };
      const { content, summary } = inlineMessage.message;
      messages.push({ blob: content.hash, summary });
      inline.push(inlineMessage);
    }
    return { opened: { messages, inline } };
  }

  /** `isKept`: whether an email of the commit needs the octets. */
  accept({ inline }: OpenedMessages, reply: unknown, isKept = true): void {
    for (const inlineMessage of inline) {
      this.accepted.set(inlineMessage, reply);
      if (inlineMessage.shared !== undefined) this.shared.push(inlineMessage.shared);
      else if (isKept) this.contents.push(inlineMessage.message.content);
    }
  }

  /** Declines inline messages for a while: they are stored first. */
  decline(): { readonly refusal: 'unstored' } {
    this.#inlineMessages.decline(this.#accountId);
    return { refusal: 'unstored' };
  }
}
