// What a mailbox needs of the junk filter (decision 0106): the words that its account and its domain have learnt, and somebody who learns
// from its moves.
import type { JudgingWords } from '../../../mail-format/junk/junk-verdict.js';

export interface JunkLearningNotes {
  /** Reports that lessons of the account are due. */
  note(accountId: string): void;
}

export interface AccountWords {
  /** The words by which mail of the account is judged; undefined when too little is known. Never rejects. */
  of(accountId: string): JudgingWords | undefined | Promise<JudgingWords | undefined>;
}

export interface MailboxJunk {
  readonly learning: JunkLearningNotes;
  /** Absent: no mail is judged by words. */
  readonly words?: AccountWords | undefined;
}
