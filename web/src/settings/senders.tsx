// The senders whose mail goes to Junk, and those whose mail does not: two lists, saved as they are written.
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { reasonOf } from '../app/reason.js';
import { useStore } from '../app/store.js';
import { t } from '../i18n/t.js';
import { Problem } from './problem.js';
import { SavingNote, useSaving } from './saving.js';
import { namesIn, refusedNames, type SenderTexts } from './sender-lines.js';
import { useDelayedSave } from './use-delayed-save.js';

const PATH = '/api/senders';

export function Senders() {
  const { client } = useStore();
  const texts = useSignal<SenderTexts | undefined>(undefined);
  const problem = useSignal('');
  const saving = useSaving();
  const save = (written: SenderTexts) =>
    saving.save(async () => {
      const body = { allowed: namesIn(written.allowed), blocked: namesIn(written.blocked) };
      try {
        await client.request('PUT', PATH, { body });
      } catch (error) {
        const [name] = refusedNames(error, written);
        throw name === undefined ? error : new Error(t('settings.senders.noName', { name }));
      }
    });
  const delayed = useDelayedSave(save);
  const read = () => {
    problem.value = '';
    client.request('GET', PATH).then(
      ({ allowed, blocked }) => {
        texts.value = { allowed: allowed.join('\n'), blocked: blocked.join('\n') };
      },
      (error: unknown) => {
        problem.value = t('settings.senders.notRead', { reason: reasonOf(error) });
      },
    );
  };
  useEffect(read, [client]);
  const shown = texts.value;
  const write = (written: SenderTexts) => {
    texts.value = written;
    delayed.change(written);
  };
  return (
    <>
      <p class="hint">{t('settings.senders.about')}</p>
      <Problem text={problem.value} again={read} />
      {shown !== undefined && (
        <>
          <Names
            label={t('settings.senders.blocked')}
            hint={t('settings.senders.blockedHint')}
            text={shown.blocked}
            onWrite={(blocked) => write({ ...shown, blocked })}
            onLeave={() => void delayed.flush()}
          />
          <Names
            label={t('settings.senders.allowed')}
            hint={t('settings.senders.allowedHint')}
            text={shown.allowed}
            onWrite={(allowed) => write({ ...shown, allowed })}
            onLeave={() => void delayed.flush()}
          />
          <SavingNote
            saving={saving}
            kept={(reason) => t('settings.textKept', { reason })}
            retry={() => {
              delayed.change(shown);
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
  readonly onWrite: (text: string) => void;
  readonly onLeave: () => void;
}

function Names({ label, hint, text, onWrite, onLeave }: NamesProps) {
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
        onInput={({ currentTarget }) => onWrite(currentTarget.value)}
        onChange={onLeave}
      />
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
}
