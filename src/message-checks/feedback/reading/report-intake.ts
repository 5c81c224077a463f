// Notes messages that may be feedback reports before MX accepts them, so that none is lost: the message itself goes to its mailbox as any
// other. What is noted and then not accepted has no blob, and is dropped.
import type { Authenticated } from '../../../mail-format/authentication/authentication.js';
import type { MessageIndex } from '../../../mail-format/message-index.js';
import type { ArrivedReports } from '../../../store/feedback/arrived-reports.js';
import { reportPart } from './report-part.js';
import { reportSender } from './report-senders.js';

export interface ArrivingMessage {
  readonly content: { readonly hash: string; readonly index: MessageIndex };
  readonly authenticated: Authenticated | undefined;
}

const MOST_RECIPIENTS = 20;
const POSTMASTER = /^postmaster@/i;

export class ReportIntake {
  readonly #store: Pick<ArrivedReports, 'expect'>;

  constructor(store: Pick<ArrivedReports, 'expect'>) {
    this.#store = store;
  }

  /** `recipients`: as the peer wrote them. @throws StoreFault */
  async note({ content, authenticated }: ArrivingMessage, recipients: readonly string[]): Promise<void> {
    const { hash: blob, index } = content;
    if (authenticated === undefined || reportPart(index, recipients.some(isPostmaster)) === undefined) return;
    const sender = reportSender(index, authenticated);
    if (sender === undefined) return;
    await this.#store.expect({ blob, recipients: recipients.slice(0, MOST_RECIPIENTS), sender });
  }
}

export const isPostmaster = (address: string): boolean => POSTMASTER.test(address);
