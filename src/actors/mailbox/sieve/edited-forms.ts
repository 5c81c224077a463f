// The messages that a delivery places and sends on when a script has edited headers: the email, its copies, and what each target gets.
import { Fault } from '../../../concurrency/fault.js';
import type { HeaderEdit } from '../../../mail-format/sieve/header-edit.js';
import { type Arrived, dueForwards, type Forwards, isCheckedBy } from '../commands/forwarding.js';
import type { EditedCopy, ScriptEffects } from '../filters/delivery-plan.js';
import { grouped } from '../state/grouped.js';
import type { MailboxTransaction } from '../state/transaction.js';
import type { MessageForm } from './edited-messages.js';

export interface DeliveredForms {
  readonly email: MessageForm;
  /** Further emails. */
  readonly copies: readonly (MessageForm & Omit<EditedCopy, 'edit'>)[];
  /** What is sent on, by target; others get the message as it came. */
  readonly sent: ReadonlyMap<string, MessageForm>;
  readonly isEdited: boolean;
}

const NONE_SENT: DeliveredForms['sent'] = new Map();
const NO_EDITS: Pick<ScriptEffects, 'edit' | 'copies' | 'sentEdits'> = {
  edit: undefined,
  copies: [],
  sentEdits: new Map(),
};

interface DeliveredMail extends Arrived {
  /** The message is in the store. */
  readonly isStored: boolean;
}

/**
 * `unstored`: the message must be stored before it is edited. `later`: what is edited could not be stored now. What was not asked for before is
 * the message as it came, and the plan is not committed. @throws a fault of the message that stays
 */
export function deliveredForms(
  tx: MailboxTransaction,
  mail: DeliveredMail,
  script: ScriptEffects | undefined,
): DeliveredForms | 'unstored' | 'later' {
  const { blob, summary, envelope, isStored } = mail;
  const asCame = { blob, summary };
  const { edit, copies, sentEdits } = script ?? NO_EDITS;
  const isEdited = edit !== undefined || copies.length + sentEdits.size > 0;
  if (!isEdited) return { email: asCame, copies: [], sent: NONE_SENT, isEdited };
  if (!isStored) return 'unstored';
  let isLate = false;
  const formOf = (edit: HeaderEdit | undefined): MessageForm => {
    if (edit === undefined) return asCame;
    const about = { blob, edit, sender: envelope.sender, isChecked: isCheckedBy(summary) };
    const form = tx.messages.edited.get(about) ?? asCame;
    if (!('fault' in form)) return form;
    if (!(form.fault instanceof Fault && form.fault.temporary)) throw form.fault;
    isLate = true;
    return asCame;
  };
  const forms = {
    email: formOf(edit),
    copies: copies.map(({ edit, ...placing }) => ({ ...formOf(edit), ...placing })),
    sent: new Map([...sentEdits].map(([target, edit]) => [target, formOf(edit)])),
    isEdited,
  };
  return isLate ? 'later' : forms;
}

/** Records the mail that is due: one row for the targets that get the same message. */
export function dueForms(
  tx: MailboxTransaction,
  mail: Arrived,
  { sent }: DeliveredForms,
  { targets, isKept }: Forwards,
  about: Parameters<typeof dueForwards>[3],
): void {
  const { blob, summary } = mail;
  const formOf = (target: string): MessageForm => sent.get(target) ?? { blob, summary };
  for (const alike of grouped(targets, (target) => formOf(target).blob).values())
    dueForwards(tx, { ...mail, ...formOf(alike[0]!) }, { targets: alike, isKept }, about);
}
