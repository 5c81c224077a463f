// Port: what accounts teach the junk filter (decision 0106). The commit that moves an email to or from Junk writes that a lesson is due; the
// lesson is learnt later, in one transaction with what ends it.

/** The user's judgment of an email. */
export interface JunkLesson {
  readonly emailId: string;
  readonly isJunk: boolean;
}

/** `blob`: of its message; null when the email is deleted. */
export interface DueLesson extends JunkLesson {
  readonly blob: string | null;
}

/** An email that serves as an example of mail that is no junk. */
export interface KeptEmail {
  readonly emailId: string;
  readonly blob: string;
}

/** A message that changes what is known. `before`: what was learnt of it; undefined when nothing was. */
export interface NewLesson {
  readonly blob: string;
  readonly isJunk: boolean;
  readonly before: boolean | undefined;
}

/** Messages that an account remembers to have taught; of older ones, a repeated lesson counts again. */
export const MOST_LESSONS = 20_000;

export interface JunkLessonStore {
  /** Accounts of these shards with due lessons. */
  accountsDue(shards: readonly number[], limit: number): Promise<readonly string[]>;
  /** The due lessons of an account, at most `limit`. */
  due(accountId: string, limit: number): Promise<readonly DueLesson[]>;
  /** Read emails outside of Junk, Trash, Sent and Drafts that have taught nothing yet, the newest first. */
  kept(accountId: string, limit: number): Promise<readonly KeptEmail[]>;
  /** The stored words of accounts, and their domains. Accounts that are gone are left out. */
  words(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountJunkWords>>;
  /**
   * Ends due lessons, unless the user has judged the email again since, and learns from those that it has ended and from `kept`, in one
   * transaction. `change` gets the stored words, undefined for none, and the lessons that are new, and returns the words to store; undefined
   * stores nothing. It may be called again when the database asks for that.
   */
  learn(
    accountId: string,
    due: readonly DueLesson[],
    kept: readonly KeptEmail[],
    change: (words: Uint8Array | undefined, lessons: readonly NewLesson[]) => LearntWords | undefined,
  ): Promise<void>;
  /** Ends due lessons, unless the user has judged the email again since. */
  end(accountId: string, due: readonly DueLesson[]): Promise<void>;
}

export interface AccountJunkWords {
  /** Null when the account has learnt nothing. */
  readonly words: Uint8Array | null;
  /** Null for an unclaimed mailbox. */
  readonly domain: string | null;
}

/** `taught`: the messages that count as learnt from now on. */
export interface LearntWords {
  readonly words: Uint8Array;
  readonly taught: readonly Pick<NewLesson, 'blob' | 'isJunk'>[];
}
