// The way of a sent email to each of its recipients, live: queued, the hosts that were asked with their replies, delivered, bounced or
// failed. While it still waits, it can be taken back.
import './timeline.css';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { MansioClient, OutboundState } from '../../../../src/client/index.js';
import { bindKeys } from '../../app/keyboard.js';
import { reasonOf } from '../../app/reason.js';
import { undo } from '../../app/undo.js';
import { clock, longDate } from '../../i18n/format.js';
import { currentLocale, t } from '../../i18n/t.js';
import { deliverySteps, isSettled, type RecipientSteps, type Tried } from '../delivery-steps.js';

export interface TimelineProps {
  readonly client: MansioClient;
  readonly outboundId: string;
  /** The email was taken back and is this draft again. */
  readonly onUndone: (draftId: string) => Promise<void> | void;
  /** Nothing more happens, apart from bounces that come later. */
  readonly onSettled?: () => void;
}

const SECOND_MS = 1_000;

export function Timeline({ client, outboundId, onUndone, onSettled }: TimelineProps) {
  const state = useSignal<OutboundState | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const subscription = client.outbound(outboundId).subscribe({
      next(value) {
        state.value = value;
        if (isSettled(value.email)) onSettled?.();
      },
      error(error: unknown) {
        problem.value = reasonOf(error);
      },
    });
    return () => subscription.unsubscribe();
  }, [outboundId]);
  if (problem.value !== undefined) return <p class="timeline hint">{problem}</p>;
  const shown = state.value;
  if (shown === undefined) return <p class="timeline hint">{t('compose.timeline.loading')}</p>;
  const { email, attempts } = shown;
  return (
    <div class="timeline">
      <TakeBack client={client} email={email} onUndone={onUndone} />
      <ol aria-label={t('compose.timeline')} aria-live="polite">
        {deliverySteps(email, attempts, shown.queuedAt).map((steps) => (
          <RecipientRow key={steps.id} steps={steps} queuePosition={shown.queuePosition} />
        ))}
      </ol>
      {email.status === 'Failed' && <Retry client={client} outboundId={outboundId} />}
    </div>
  );
}

type Email = OutboundState['email'];
type TakeBackProps = Pick<TimelineProps, 'client' | 'onUndone'> & { readonly email: Email };

/** A countdown for the seconds of undo, a date for what is sent later. */
function TakeBack({ client, email, onUndone }: TakeBackProps) {
  const now = useSignal(Date.now());
  const isAsked = useSignal(false);
  const dueAt = email.status === 'Queued' && email.sendAt !== null ? Date.parse(email.sendAt) : undefined;
  useEffect(() => {
    if (dueAt === undefined) return;
    const timer = setInterval(() => {
      now.value = Date.now();
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [dueAt]);
  const seconds = Math.max(0, Math.ceil(((dueAt ?? 0) - now.value) / SECOND_MS));
  const takeBack = async () => {
    isAsked.value = true;
    try {
      const { cancelled, draftId } = await client.cancel(email.id);
      if (cancelled && draftId !== null) await onUndone(draftId);
      else undo.say(t('compose.undo.late'));
    } catch (error) {
      undo.say(reasonOf(error));
    }
    isAsked.value = false;
  };
  const isSoon = seconds <= 60;
  const take = useRef(takeBack);
  take.current = takeBack;
  const isHeld = dueAt !== undefined;
  // The key undoes the newest action: while the email waits for its seconds, that is its sending.
  useEffect(
    () => (isHeld && isSoon ? bindKeys('act', [{ keys: 'z', run: () => void take.current() }]) : undefined),
    [isHeld && isSoon],
  );
  if (dueAt === undefined) return null;
  return (
    <div class="timeline-hold">
      <p>
        {isSoon
          ? t('compose.undo.countdown', { count: seconds })
          : t('compose.undo.later', { date: longDate(new Date(dueAt)) })}
      </p>
      <button type="button" class="button" disabled={isAsked.value} onClick={() => void takeBack()}>
        {isSoon ? t('compose.undo') : t('compose.undo.cancel')}
      </button>
    </div>
  );
}

function Retry({ client, outboundId }: { readonly client: MansioClient; readonly outboundId: string }) {
  return (
    <button
      type="button"
      class="button"
      onClick={() => {
        client.retry(outboundId).catch((error: unknown) => undo.say(reasonOf(error)));
      }}
    >
      {t('compose.timeline.retry')}
    </button>
  );
}

interface RowProps {
  readonly steps: RecipientSteps;
  readonly queuePosition: number | null;
}

function RecipientRow({ steps, queuePosition }: RowProps) {
  const { address, name, state, tries, dueAt, queued, deliveredAt, error } = steps;
  const last = tries.at(-1);
  return (
    <li class={`timeline-recipient is-${state}`} data-state={state}>
      <span class="timeline-mark" aria-hidden="true" />
      <span class="timeline-who" title={address}>
        <bdi>{name || address}</bdi>
      </span>
      <span class="timeline-state">
        {t(`compose.timeline.${state}`)}
        {state === 'delivered' && last !== undefined && ` · ${duration(last.durationMs)}`}
        {state === 'retrying' && dueAt !== null && ` · ${t('compose.timeline.next', { time: clock(new Date(dueAt)) })}`}
        {state === 'queued' &&
          queuePosition !== null &&
          queuePosition > 0 &&
          ` · ${t('compose.timeline.before', { count: queuePosition })}`}
      </span>
      <ol class="timeline-tries">
        {queued !== null && (
          <li>
            <At time={queued.at} /> {t('compose.timeline.queued')}
          </li>
        )}
        {tries.map((one) => (
          <Try key={one.id} one={one} state={state} />
        ))}
        {(state === 'delivered' || state === 'bounced') && tries.length === 0 && deliveredAt !== null && (
          <li>
            <At time={deliveredAt} />{' '}
            {t(state === 'delivered' ? 'compose.timeline.here' : 'compose.timeline.delivered')}
          </li>
        )}
        {error !== null && (
          <li>
            {state === 'bounced' && `${t('compose.timeline.bounced')}: `}
            <bdi>{error}</bdi>
          </li>
        )}
      </ol>
    </li>
  );
}

interface TryProps {
  readonly one: Tried;
  readonly state: RecipientSteps['state'];
}

function Try({ one: { at, host, reply, outcome }, state }: TryProps) {
  if (host === '' && outcome === 'delivered') {
    return (
      <li>
        <At time={at} /> {t('compose.timeline.here')}
      </li>
    );
  }
  // Where the row is headed by what came later, the delivery says its name.
  const isNamed = outcome === 'bounced' || (outcome === 'delivered' && state !== 'delivered');
  return (
    <li>
      <At time={at} /> {isNamed && `${t(`compose.timeline.${outcome}`)}: `}
      <bdi>{host === '' ? reply : `${host}: ${reply}`}</bdi>
    </li>
  );
}

function At({ time }: { readonly time: string | null }) {
  return time === null ? null : <time dateTime={time}>{clock(new Date(time), { seconds: true })}</time>;
}

function duration(ms: number): string {
  const [value, unit] = ms < SECOND_MS ? [ms, 'millisecond'] : [ms / SECOND_MS, 'second'];
  return new Intl.NumberFormat(currentLocale(), {
    style: 'unit',
    unit,
    maximumFractionDigits: ms < SECOND_MS ? 0 : 1,
  }).format(value);
}
