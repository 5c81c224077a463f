// A row of the list: who, when, the subject, the labels and the beginning of the text.
import type { EmailListItem } from '../../../src/client/index.js';
import { Avatar } from '../design/avatar.js';
import { Icon } from '../design/icon.js';
import { longDate, shortDate } from '../i18n/format.js';
import { formatNumber, t } from '../i18n/t.js';
import { LabelChip } from './label-chip.js';

export interface RowProps {
  readonly item: EmailListItem;
  readonly index: number;
  readonly total: number;
  readonly top: number;
  readonly now: Date;
  readonly isOpen: boolean;
  readonly isCursor: boolean;
  readonly isSelected: boolean;
  /** Sent mail and drafts show whom they are for. */
  readonly showsRecipients: boolean;
  readonly showsPreview: boolean;
  /** The label of the list that is shown says nothing new. */
  readonly hiddenLabelId: string | undefined;
  readonly isDraft: boolean;
}

export function Row(props: RowProps) {
  const { item, index, total, top, isOpen, isCursor, isSelected, now } = props;
  const classes = ['row', !item.isRead && 'is-unread', isOpen && 'is-open', isSelected && 'is-selected'];
  const { name, address } = personOf(item, props.showsRecipients);
  const then = new Date(item.receivedAt);
  return (
    <div
      role="option"
      class={classes.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${top}px)` }}
      id={`row-${item.id}`}
      data-id={item.id}
      draggable
      tabIndex={isCursor ? 0 : -1}
      aria-selected={isSelected || isOpen}
      aria-posinset={index + 1}
      aria-setsize={total}
    >
      <span class="row-avatar" data-part="select">
        {isSelected ? <Icon name="check" /> : <Avatar name={name} address={address} />}
      </span>
      {!item.isRead && <span class="unseen">{t('list.isUnread')}: </span>}
      <span class="row-from" dir="auto">
        {props.showsRecipients ? t('list.to', { names: name || t('list.noRecipient') }) : namesOf(item)}
      </span>
      <Marks item={item} />
      <time class="row-time" dateTime={item.receivedAt} title={longDate(then)}>
        {shortDate(then, now)}
      </time>
      <span class="row-subject" dir="auto">
        {item.subject || t('list.noSubject')}
      </span>
      <span class="row-preview">
        {item.hasAttachments && (
          <>
            <Icon name="paperclip" />
            <span class="unseen">{t('list.hasAttachment')}</span>
          </>
        )}
        {(props.isDraft || item.draftId !== undefined) && <span class="row-draft">{t('list.draft')}</span>}
        {item.labels.map((label) => label.id !== props.hiddenLabelId && <LabelChip key={label.id} label={label} />)}
        {props.showsPreview && (
          <span class="row-text" dir="auto">
            {item.previewText}
          </span>
        )}
      </span>
    </div>
  );
}

/** The row in which an event happens. */
export function rowOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-id]') : null;
}

/** Gives the focus to the row that the keys are at, when nothing has it and a list is shown. */
export function focusRow(): void {
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>('.list > .row[tabindex="0"]')?.focus({ preventScroll: true });
}

function Marks({ item }: { readonly item: EmailListItem }) {
  return (
    <span class="row-marks">
      {item.thread !== undefined && (
        <>
          <span class="row-count" aria-hidden="true">
            {formatNumber(item.thread.count)}
          </span>
          <span class="unseen">{t('list.threadSize', { count: item.thread.count })}</span>
        </>
      )}
      {item.isAnswered && (
        <>
          <Icon name="reply" />
          <span class="unseen">{t('list.isAnswered')}</span>
        </>
      )}
      {item.isFlagged && (
        <>
          <Icon name="star" />
          <span class="unseen">{t('list.isFlagged')}</span>
        </>
      )}
    </span>
  );
}

/** The senders of a thread, oldest first, or the sender of the email. */
function namesOf({ thread, fromDisplayName, fromAddress }: EmailListItem): string {
  const senders = thread?.senders ?? [{ displayName: fromDisplayName, address: fromAddress }];
  return senders.map(({ displayName, address }) => displayName || address).join(', ');
}

function personOf(item: EmailListItem, showsRecipients: boolean): { readonly name: string; readonly address: string } {
  if (!showsRecipients) return { name: item.fromDisplayName || item.fromAddress, address: item.fromAddress };
  const to = item.to ?? [];
  return {
    name: to.map(({ displayName, address }) => displayName || address).join(', '),
    address: to[0]?.address ?? item.fromAddress,
  };
}

/** What is seen of a row whose email is not loaded yet. */
export function WaitingRow({ top }: { readonly top: number }) {
  return (
    <div role="presentation" class="row is-waiting" style={{ transform: `translateY(${top}px)` }}>
      <span class="row-avatar" />
      <span class="row-from" />
      <span class="row-subject" />
      <span class="row-preview" />
    </div>
  );
}
