// Another window has changed, sent or deleted the draft: both versions, and the choice.

import { undo } from '../../app/undo.js';
import { longDate } from '../../i18n/format.js';
import { t } from '../../i18n/t.js';
import type { ComposeWindow } from '../compose-window.js';
import type { DraftSaver } from '../draft-saver.js';
import { textBeginning } from '../editor-html.js';

interface PanelProps {
  readonly saver: DraftSaver;
  readonly window: ComposeWindow;
}

export function ConflictPanel({ saver, window }: PanelProps) {
  const { phase } = saver.state.value;
  if (phase === 'gone') {
    return (
      <div class="compose-conflict" role="alert">
        <p>{t('compose.gone')}</p>
        <div class="compose-choices">
          <button type="button" class="button" onClick={() => saver.keepMine()}>
            {t('compose.gone.keep')}
          </button>
        </div>
      </div>
    );
  }
  const other = saver.other.value;
  if (phase !== 'conflict' || other === undefined) return null;
  const { draft } = other;
  const mine = window.fields();
  const takeTheirs = () => {
    const before = { fields: window.fields(), files: window.files.value };
    saver.takeTheirs();
    undo.offer({
      text: t('compose.conflict.taken'),
      undo: async () => {
        window.show(before);
        saver.changed();
      },
    });
  };
  return (
    <div class="compose-conflict" role="alert">
      <p>{t('compose.conflict')}</p>
      <div class="compose-versions">
        <Version title={t('compose.conflict.here')} subject={mine.subject} text={textBeginning(mine.html)} />
        <Version
          title={t('compose.conflict.there', { time: longDate(new Date(draft.updatedAt)) })}
          subject={draft.subject}
          text={draft.textBody ?? textBeginning(draft.htmlBody ?? '')}
        />
      </div>
      <div class="compose-choices">
        <button type="button" class="button" onClick={() => saver.keepMine()}>
          {t('compose.conflict.mine')}
        </button>
        <button type="button" class="button" onClick={takeTheirs}>
          {t('compose.conflict.theirs')}
        </button>
        <button type="button" class="button" onClick={() => saver.keepBoth()}>
          {t('compose.conflict.both')}
        </button>
      </div>
    </div>
  );
}

const SHOWN_CHARACTERS = 160;

function Version({
  title,
  subject,
  text,
}: {
  readonly title: string;
  readonly subject: string;
  readonly text: string;
}) {
  return (
    <section>
      <h3>{title}</h3>
      <p dir="auto">
        <strong>{subject || t('compose.noSubject')}</strong> {text.slice(0, SHOWN_CHARACTERS)}
      </p>
    </section>
  );
}
