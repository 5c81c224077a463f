// Who sent an email to whom and when, and what was proven of it; details on request. What the list knows is shown before the email is there.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { EmailDetail } from '../../../src/client/index.js';
import { useStore } from '../app/store.js';
import { Avatar } from '../design/avatar.js';
import { Icon } from '../design/icon.js';
import { longDate, shortDate } from '../i18n/format.js';
import { t } from '../i18n/t.js';
import { proofOf } from './authentication.js';
import { recipientNames } from './recipient-names.js';

interface HeadProps {
  readonly known: Pick<EmailDetail, 'fromAddress' | 'fromDisplayName' | 'receivedAt'>;
  readonly email: EmailDetail | undefined;
}

export function MessageHead({ known, email }: HeadProps) {
  const { now } = useStore();
  const isOpen = useSignal(false);
  const { fromAddress, fromDisplayName, receivedAt } = known;
  const received = new Date(receivedAt);
  return (
    <div class="message-head">
      <Avatar name={fromDisplayName} address={fromAddress} />
      <div class="message-who">
        <div class="message-from" dir="auto">
          <strong>{fromDisplayName || fromAddress}</strong>{' '}
          {fromDisplayName !== '' && (
            <bdi class="message-address" dir="ltr">
              {fromAddress}
            </bdi>
          )}
        </div>
        {email && <DetailsButton email={email} isOpen={isOpen} />}
      </div>
      <div class="message-when">
        <time dateTime={receivedAt} title={longDate(received)}>
          {shortDate(received, now.value)}
        </time>
        {email && <Proof email={email} />}
      </div>
      {email && isOpen.value && <Details email={email} />}
    </div>
  );
}

function DetailsButton({ email, isOpen }: { readonly email: EmailDetail; readonly isOpen: Signal<boolean> }) {
  const own = useStore().profile.value;
  const ownAddresses = own === undefined ? [] : [own.email, ...own.additionalAddresses.map(({ address }) => address)];
  const names = recipientNames(email.recipients, ownAddresses, t('message.me'));
  return (
    <button
      type="button"
      class="message-details-button"
      aria-expanded={isOpen.value}
      aria-controls="message-details"
      onClick={() => {
        isOpen.value = !isOpen.value;
      }}
    >
      <bdi>{names === '' ? t('message.noRecipients') : t('message.to', { names })}</bdi>
      <span class="unseen">{t('message.details')}</span>
      <Icon name={isOpen.value ? 'chevron-up' : 'chevron-down'} />
    </button>
  );
}

function Proof({ email }: { readonly email: EmailDetail }) {
  const proof = proofOf(email.authentication, email.fromAddress);
  if (proof === undefined) return null;
  const { kind, domain } = proof;
  if (kind === 'signed') return <Proven text={t('message.signedBy', { domain })} />;
  if (kind === 'confirmed') return <Proven text={t('message.confirmedBy', { domain })} />;
  return kind === 'failed' ? (
    <span class="message-proof is-danger" title={t('message.notProven', { domain })}>
      <Icon name="shield-alert" /> {t('message.mayNotBe', { domain })}
    </span>
  ) : (
    <span class="message-proof is-waiting" title={t('message.nothingProven', { domain })}>
      <Icon name="shield-alert" /> {t('message.notSigned', { domain })}
    </span>
  );
}

function Proven({ text }: { readonly text: string }) {
  return (
    <span class="message-proof">
      <Icon name="check" /> {text}
    </span>
  );
}

function Details({ email }: { readonly email: EmailDetail }) {
  const { authentication: found, date, receivedAt, recipients, replyTo } = email;
  const of = (type: 'To' | 'Cc' | 'Bcc') => recipients.filter((one) => one.type === type);
  const results = (['spf', 'dkim', 'dmarc'] as const).map((name) => {
    const { result, domain } = found[name];
    return `${name.toUpperCase()} ${result}${domain === '' ? '' : ` (${domain})`}`;
  });
  const proof = proofOf(found, email.fromAddress);
  return (
    <dl id="message-details" class="message-details">
      <Row name={t('message.from')}>
        <People people={[{ address: email.fromAddress, displayName: email.fromDisplayName }]} />
      </Row>
      <PeopleRow name={t('message.replyTo')} people={replyTo} />
      <PeopleRow name={t('message.toField')} people={of('To')} />
      <PeopleRow name={t('message.cc')} people={of('Cc')} />
      <PeopleRow name={t('message.bcc')} people={of('Bcc')} />
      {date !== null && <Row name={t('message.sent')}>{longDate(new Date(date))}</Row>}
      <Row name={t('message.received')}>{longDate(new Date(receivedAt))}</Row>
      <Row name={t('message.checks')}>
        <bdi dir="ltr">{results.join(' · ')}</bdi>
        {proof?.kind === 'failed' && <p>{t('message.notProven', { domain: proof.domain })}</p>}
        {proof?.kind === 'unproven' && <p>{t('message.nothingProven', { domain: proof.domain })}</p>}
      </Row>
    </dl>
  );
}

interface NamedPerson {
  readonly address: string;
  readonly displayName: string;
}

function PeopleRow({ name, people }: { readonly name: string; readonly people: readonly NamedPerson[] }) {
  if (people.length === 0) return null;
  return (
    <Row name={name}>
      <People people={people} />
    </Row>
  );
}

function People({ people }: { readonly people: readonly NamedPerson[] }) {
  return (
    <ul>
      {people.map(({ address, displayName }) => (
        <li key={address} dir="auto">
          {displayName !== '' && <bdi>{displayName}</bdi>} <bdi dir="ltr">{address}</bdi>
        </li>
      ))}
    </ul>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
