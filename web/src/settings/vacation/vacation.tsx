// What the account answers while its owner is away. A change of the text lets everybody get an answer again, so it is saved when the field is
// left, or when nothing has been written for some seconds.
import { useId, useMemo } from 'preact/hooks';
import type { Vacation as Chosen } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { Select, Switch } from '../controls.js';
import { ChangedElsewhere } from '../following/changed-elsewhere.js';
import { Merged } from '../following/merged.js';
import { useSetting } from '../following/use-setting.js';
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
  const form = useMemo(() => new Merged<Chosen>(), [client]);
  const saving = useSaving();
  const save = () =>
    saving.save(async () => {
      // As it is now: what another window has changed meanwhile stays.
      const body = form.shown.peek()!;
      await client.request('PUT', PATH, { body });
      form.saved(body);
    });
  const delayed = useDelayedSave<undefined>(save, MOMENT_MS);
  const { problem, again } = useSetting(PATH, (vacation) => form.take(vacation));
  const write = (changed: Partial<Chosen>) => {
    const written = form.write(changed);
    if (problemOf(written) === undefined) delayed.change(undefined);
    else delayed.drop();
  };
  const leave = () => {
    form.release();
    void delayed.flush();
  };
  const shown = form.shown.value;
  return (
    <>
      <p class="hint">{t('settings.vacation.about')}</p>
      <Problem
        text={problem.value === undefined ? '' : t('settings.vacation.notRead', { reason: reasonOf(problem.value) })}
        again={again}
      />
      {shown !== undefined && (
        <>
          <Fields chosen={shown} onWrite={write} onHold={(name) => form.hold(name)} onLeave={leave} />
          <ChangedElsewhere
            isShown={form.isContested.value}
            onShow={() => {
              delayed.drop();
              form.yield();
            }}
          />
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
  /** A text gets the focus. */
  readonly onHold: (name: keyof Chosen) => void;
  /** What was written is saved now. */
  readonly onLeave: () => void;
}

function Fields({ chosen, onWrite, onHold, onLeave }: FieldsProps) {
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
          onFocus={() => onHold('subject')}
          onInput={({ currentTarget }) => onWrite({ subject: currentTarget.value || null })}
          onBlur={onLeave}
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
          onFocus={() => onHold('textBody')}
          onInput={({ currentTarget }) => onWrite(withText(currentTarget.value))}
          onBlur={onLeave}
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
