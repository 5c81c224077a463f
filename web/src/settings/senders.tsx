// The senders whose mail goes to Junk, and those whose mail does not: two lists, saved as they are written.
import { useId, useMemo } from 'preact/hooks';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { ChangedElsewhere } from './following/changed-elsewhere.js';
import { Merged } from './following/merged.js';
import { useSetting } from './following/use-setting.js';
import { Problem } from './problem.js';
import { SavingNote, useSaving } from './saving.js';
import { namesIn, refusedNames, type SenderTexts } from './sender-lines.js';
import { useDelayedSave } from './use-delayed-save.js';

const PATH = '/api/senders';

/** The server has the names in lower case and in order. */
const sorted = (text: string) =>
  [...new Set(namesIn(text).map((name) => name.toLowerCase()))].sort((a, b) => (a < b ? -1 : 1)).join('\n');
const isSame = (one: string, other: string) => sorted(one) === sorted(other);

export function Senders() {
  const { client } = useStore();
  const form = useMemo(() => new Merged<SenderTexts>({ isSame }), [client]);
  const saving = useSaving();
  const save = () =>
    saving.save(async () => {
      // As it is now: what another window has changed meanwhile stays.
      const written = form.shown.peek()!;
      const body = { allowed: namesIn(written.allowed), blocked: namesIn(written.blocked) };
      try {
        await client.request('PUT', PATH, { body });
        form.saved(written);
      } catch (error) {
        const [name] = refusedNames(error, written);
        throw name === undefined ? error : new Error(t('settings.senders.noName', { name }));
      }
    });
  const delayed = useDelayedSave<undefined>(save);
  const { problem, again } = useSetting(PATH, ({ allowed, blocked }) =>
    form.take({ allowed: allowed.join('\n'), blocked: blocked.join('\n') }),
  );
  const shown = form.shown.value;
  const fieldOf = (name: keyof SenderTexts) => ({
    onHold: () => form.hold(name),
    onWrite: (text: string) => {
      form.write({ [name]: text });
      delayed.change(undefined);
    },
    onLeave: () => {
      form.release();
      void delayed.flush();
    },
  });
  return (
    <>
      <p class="hint">{t('settings.senders.about')}</p>
      <Problem
        text={problem.value === undefined ? '' : t('settings.senders.notRead', { reason: reasonOf(problem.value) })}
        again={again}
      />
      {shown !== undefined && (
        <>
          <Names
            label={t('settings.senders.blocked')}
            hint={t('settings.senders.blockedHint')}
            text={shown.blocked}
            {...fieldOf('blocked')}
          />
          <Names
            label={t('settings.senders.allowed')}
            hint={t('settings.senders.allowedHint')}
            text={shown.allowed}
            {...fieldOf('allowed')}
          />
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
              delayed.change(undefined);
              void delayed.flush();
            }}
          />
        </>
      )}
    </>
  );
}

interface NamesProps {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  readonly onHold: () => void;
  readonly onWrite: (text: string) => void;
  readonly onLeave: () => void;
}

function Names({ label, hint, text, onHold, onWrite, onLeave }: NamesProps) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="input"
        rows={6}
        dir="ltr"
        spellcheck={false}
        autocapitalize="off"
        aria-describedby={`${id}-hint`}
        value={text}
        onFocus={onHold}
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
        onBlur={onLeave}
      />
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
}
