// The Sieve scripts of the account: which there are, which one runs, and a form to write them. The server compiles each before it stores it.
import './scripts.css';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ListedSieveScript as Listed } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { Icon } from '../../design/icon.js';
import { t } from '../../i18n/t.js';
import { useSetting } from '../following/use-setting.js';
import { Problem } from '../problem.js';
import { Question } from '../question.js';
import { ScriptEditor, type WrittenScript } from './script-editor.js';

const PATH = '/api/sieve/{name}';

export function Scripts() {
  const { all, said, problem, status, notRead, again, put, activate, remove, edit, edited, contentOf } = useScripts();
  const isAsked = useSignal('');
  if (edited.value !== undefined)
    return (
      <ScriptEditor
        script={edited.value}
        read={contentOf}
        onSave={put}
        onLeave={() => {
          edited.value = undefined;
        }}
      />
    );
  const begin = () => {
    edited.value = { name: '', content: '' };
  };
  return (
    <>
      <p class="hint">{t('settings.scripts.about')}</p>
      <div role="alert">{problem.value !== '' && <p class="problem">{problem}</p>}</div>
      <Problem
        text={notRead.value === undefined ? '' : t('settings.scripts.notRead', { reason: reasonOf(notRead.value) })}
        again={again}
      />
      {all.value !== undefined && (
        <>
          {all.value.length === 0 && <p>{t('settings.scripts.none')}</p>}
          <ul class="setting-items" aria-label={t('settings.section.scripts')}>
            {all.value.map((script) => (
              <Row
                key={script.name}
                script={script}
                isAsked={isAsked.value === script.name}
                onAsk={(asks) => {
                  isAsked.value = asks ? script.name : '';
                }}
                onEdit={() => void edit(script)}
                onActivate={() => void activate(script)}
                onDelete={() => void remove(script)}
              />
            ))}
          </ul>
          <div>
            <button type="button" class="button is-main" onClick={begin}>
              {t('settings.scripts.new')}
            </button>
          </div>
        </>
      )}
      <p ref={status} class="saving-note" role="status" tabIndex={-1}>
        {said}
      </p>
    </>
  );
}

interface RowProps {
  readonly script: Listed;
  /** The reader is asked whether the script is to be deleted. */
  readonly isAsked: boolean;
  readonly onAsk: (asks: boolean) => void;
  readonly onEdit: () => void;
  readonly onActivate: () => void;
  readonly onDelete: () => void;
}

function Row({ script: { name, isActive }, isAsked, onAsk, onEdit, onActivate, onDelete }: RowProps) {
  return (
    <li>
      <Icon name="file-text" />
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {isActive && <span>{t('settings.scripts.active')}</span>}
      </div>
      <div class="script-buttons">
        <button type="button" class="button" aria-label={t('settings.scripts.editNamed', { name })} onClick={onEdit}>
          {t('settings.scripts.edit')}
        </button>
        <button
          type="button"
          class="button"
          aria-label={t(isActive ? 'settings.scripts.stopNamed' : 'settings.scripts.useNamed', { name })}
          onClick={onActivate}
        >
          {t(isActive ? 'settings.scripts.stop' : 'settings.scripts.use')}
        </button>
        {!isActive && (
          <button
            type="button"
            class="button"
            aria-label={t('settings.scripts.deleteNamed', { name })}
            onClick={() => onAsk(true)}
          >
            {t('settings.scripts.delete')}
          </button>
        )}
      </div>
      {isAsked && (
        <Question
          label={t('settings.scripts.deleteNamed', { name })}
          text={t('settings.scripts.deleteAsk')}
          action={t('settings.scripts.delete')}
          onSure={() => {
            onAsk(false);
            onDelete();
          }}
          onCancel={() => onAsk(false)}
        />
      )}
    </li>
  );
}

/** The scripts, and what the reader does with them; `said` tells what was done. */
function useScripts() {
  const { client } = useStore();
  const all = useSignal<readonly Listed[] | undefined>(undefined);
  const edited = useSignal<WrittenScript | undefined>(undefined);
  const said = useSignal('');
  const problem = useSignal('');
  const status = useRef<HTMLParagraphElement>(null);
  const { problem: notRead, again } = useSetting('/api/sieve', (scripts) => {
    all.value = scripts;
  });
  const readAll = async () => {
    all.value = await client.request('GET', '/api/sieve');
  };
  const attempt = async (task: () => Promise<string>) => {
    said.value = '';
    problem.value = '';
    try {
      said.value = await task();
      // The button that did it may be gone.
      status.current?.focus();
    } catch (error) {
      problem.value = t('settings.scripts.failed', { reason: reasonOf(error) });
    }
  };
  const contentOf = async (name: string) => (await client.request('GET', PATH, { params: { name } })).content;
  const edit = ({ name }: Listed) =>
    attempt(async () => {
      edited.value = { name, content: await contentOf(name) };
      return '';
    });
  /** Throws when it is not stored. */
  const put = async ({ name, content }: WrittenScript) => {
    const before = edited.value?.name ?? '';
    if (name !== before) {
      // Another program may have made one since.
      await readAll();
      if (all.value?.some((one) => one.name === name) === true) throw new Error(t('settings.scripts.exists'));
    }
    // A script that does not compile keeps its name.
    await client.request('PUT', PATH, { params: { name: before || name }, body: { content } });
    if (before !== '' && name !== before)
      await client.request('PATCH', PATH, { params: { name: before }, body: { name } });
    edited.value = undefined;
    await attempt(async () => {
      await readAll();
      return t('settings.saved');
    });
  };
  const activate = ({ name, isActive }: Listed) =>
    attempt(async () => {
      await client.request('PATCH', PATH, { params: { name }, body: { isActive: !isActive } });
      await readAll();
      return t(isActive ? 'settings.scripts.stopped' : 'settings.scripts.used', { name });
    });
  const remove = ({ name }: Listed) =>
    attempt(async () => {
      await client.request('DELETE', PATH, { params: { name } });
      await readAll();
      return t('settings.scripts.deleted', { name });
    });
  return { all, edited, said, problem, status, notRead, again, put, activate, remove, edit, contentOf };
}
