// What the account answers while its owner is away. A change of the text lets everybody get an answer again, so it is saved when the field is
// left, or when nothing has been written for some seconds.
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { Vacation as Chosen } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { Select, Switch } from '../controls.js';
import { Problem } from '../problem.js';
import { SavingNote, useSaving } from '../saving.js';
import { useDelayedSave } from '../use-delayed-save.js';
import {
  intervals,
  LONGEST_SUBJECT,
  LONGEST_TEXT,
  problemOf,
  readTime,
  shownTime,
  withText,
} from './vacation-values.js';

const PATH = '/api/vacation';
const MOMENT_MS = 5_000;

export function Vacation() {
  const { client } = useStore();
  const chosen = useSignal<Chosen | undefined>(undefined);
  const notRead = useSignal('');
  const saving = useSaving();
  const save = (body: Chosen) => saving.save(() => client.request('PUT', PATH, { body }));
  const delayed = useDelayedSave(save, MOMENT_MS);
  const read = () => {
    notRead.value = '';
    client.request('GET', PATH).then(
      (vacation) => {
        chosen.value = vacation;
      },
      (error: unknown) => {
        notRead.value = t('settings.vacation.notRead', { reason: reasonOf(error) });
      },
    );
  };
  useEffect(read, [client]);
  const write = (changed: Partial<Chosen>) => {
    const written = { ...chosen.peek()!, ...changed };
    chosen.value = written;
    if (problemOf(written) === undefined) delayed.change(written);
    else delayed.drop();
  };
  const leave = () => void delayed.flush();
  const shown = chosen.value;
  return (
    <>
      <p class="hint">{t('settings.vacation.about')}</p>
      <Problem text={notRead.value} again={read} />
      {shown !== undefined && (
        <>
          <Fields chosen={shown} onWrite={write} onLeave={leave} />
          <SavingNote
            saving={saving}
            kept={(reason) => t('settings.textKept', { reason })}
            retry={() => {
              write({});
              leave();
            }}
          />
        </>
      )}
    </>
  );
}

interface FieldsProps {
  readonly chosen: Chosen;
  readonly onWrite: (changed: Partial<Chosen>) => void;
  /** What was written is saved now. */
  readonly onLeave: () => void;
}

function Fields({ chosen, onWrite, onLeave }: FieldsProps) {
  const id = useId();
  const problem = problemOf(chosen);
  const choose = (changed: Partial<Chosen>) => {
    onWrite(changed);
    onLeave();
  };
  return (
    <>
      <Switch
        label={t('settings.vacation.isEnabled')}
        value={chosen.isEnabled}
        onChoose={(isEnabled) => choose({ isEnabled })}
      />
      <div role="alert">{problem !== undefined && <p class="problem">{t(`settings.vacation.${problem}`)}</p>}</div>
      <Time
        label={t('settings.vacation.startsAt')}
        time={chosen.startsAt}
        onChoose={(startsAt) => choose({ startsAt })}
      />
      <Time label={t('settings.vacation.endsAt')} time={chosen.endsAt} onChoose={(endsAt) => choose({ endsAt })} />
      <div class="setting">
        <label for={`${id}-subject`}>{t('settings.vacation.subject')}</label>
        <input
          id={`${id}-subject`}
          class="input"
          type="text"
          dir="auto"
          maxLength={LONGEST_SUBJECT}
          aria-describedby={`${id}-subject-hint`}
          value={chosen.subject ?? ''}
          onInput={({ currentTarget }) => onWrite({ subject: currentTarget.value || null })}
          onChange={onLeave}
        />
        <p id={`${id}-subject-hint`} class="hint">
          {t('settings.vacation.subjectHint')}
        </p>
      </div>
      <div class="setting">
        <label for={`${id}-text`}>{t('settings.vacation.text')}</label>
        <textarea
          id={`${id}-text`}
          class="input"
          rows={8}
          dir="auto"
          maxLength={LONGEST_TEXT}
          aria-invalid={problem === 'empty'}
          aria-describedby={`${id}-text-hint`}
          value={chosen.textBody ?? ''}
          onInput={({ currentTarget }) => onWrite(withText(currentTarget.value))}
          onChange={onLeave}
        />
        <p id={`${id}-text-hint`} class="hint">
          {t('settings.vacation.textHint')}
        </p>
      </div>
      <Select
        label={t('settings.vacation.interval')}
        options={intervals(chosen.intervalDays).map((days) => ({
          value: days,
          text: t('settings.vacation.days', { count: days }),
        }))}
        value={chosen.intervalDays}
        onChoose={(intervalDays) => choose({ intervalDays })}
      />
    </>
  );
}

interface TimeProps {
  readonly label: string;
  readonly time: string | null;
  readonly onChoose: (time: string | null) => void;
}

function Time({ label, time, onChoose }: TimeProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        aria-describedby={`${id}-hint`}
        value={shownTime(time)}
        onChange={({ currentTarget }) => {
          // A time that is half written is none yet.
          if (!currentTarget.validity.badInput) onChoose(readTime(currentTarget.value));
        }}
      />
      <p id={`${id}-hint`} class="hint">
        {t('settings.vacation.timeHint')}
      </p>
    </div>
  );
}
