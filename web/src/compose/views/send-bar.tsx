// What can be done with an email that is written: send it now or later, attach files, discard it.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Icon } from '../../design/icon.js';
import { Menu, MenuItem } from '../../design/menu.js';
import { currentLocale, t } from '../../i18n/t.js';
import { fieldValue, readSendTime, sendTimes } from '../send-times.js';
import type { CardProps } from './compose-card.js';

interface BarProps extends CardProps {
  /** `sendAt`: ISO 8601, null for now. */
  readonly onSend: (sendAt: string | null) => void;
  readonly onFiles: (files: readonly File[]) => void;
}

export function SendBar({ windows, one, onSend, onFiles }: BarProps) {
  const { phase, wish } = one.saver.state.value;
  const isSending = wish !== null || phase === 'sending';
  const isBlocked = isSending || phase === 'conflict' || phase === 'gone';
  const picker = useRef<HTMLInputElement>(null);
  const isPicking = useSignal(false);
  return (
    <footer class="compose-foot">
      {isPicking.value && (
        <DateRow
          id={`${one.window.id}-later`}
          onPick={(at) => {
            isPicking.value = false;
            onSend(at);
          }}
          onCancel={() => {
            isPicking.value = false;
          }}
        />
      )}
      <div class="compose-actions">
        <span class="compose-send">
          <button type="button" class="button is-main" disabled={isBlocked} onClick={() => onSend(null)}>
            {t('compose.send')}
          </button>
          {!isBlocked && (
            <Menu label={<Icon name="clock" />} name={t('compose.later')} class="icon-button">
              {(close) => (
                <>
                  {sendTimes(new Date()).map(({ name, at }) => (
                    <MenuItem
                      key={name}
                      onChoose={() => {
                        close();
                        onSend(at.toISOString());
                      }}
                    >
                      <span>{t(`compose.later.${name}`)}</span>
                      <span class="hint">{shortTime(at)}</span>
                    </MenuItem>
                  ))}
                  <MenuItem
                    onChoose={() => {
                      close();
                      isPicking.value = true;
                    }}
                  >
                    {t('compose.later.pick')}
                  </MenuItem>
                </>
              )}
            </Menu>
          )}
        </span>
        <button
          type="button"
          class="icon-button"
          aria-label={t('compose.attach')}
          title={t('compose.attach')}
          onClick={() => picker.current?.click()}
        >
          <Icon name="paperclip" />
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            onFiles([...(currentTarget.files ?? [])]);
            currentTarget.value = '';
          }}
        />
        <button
          type="button"
          class="icon-button compose-discard"
          aria-label={t('compose.discard')}
          title={t('compose.discard')}
          disabled={isSending}
          onClick={() => windows.discard(one)}
        >
          <Icon name="trash-2" />
        </button>
      </div>
    </footer>
  );
}

interface DateRowProps {
  readonly id: string;
  readonly onPick: (at: string) => void;
  readonly onCancel: () => void;
}

function DateRow({ id, onPick, onCancel }: DateRowProps) {
  const now = new Date();
  const value = useSignal(fieldValue(new Date(now.getTime() + 3_600_000)));
  const problem = useSignal<string | undefined>(undefined);
  const pick = () => {
    const read = readSendTime(value.value, new Date());
    if ('at' in read) onPick(read.at.toISOString());
    else problem.value = t(`compose.later.${read.problem}`);
  };
  return (
    <div class="compose-later">
      <label for={id}>{t('compose.later.at')}</label>
      <input
        ref={(element) => {
          if (element !== null && element.dataset['shown'] === undefined) {
            element.dataset['shown'] = '';
            element.focus();
          }
        }}
        id={id}
        class="input"
        type="datetime-local"
        min={fieldValue(now)}
        value={value}
        aria-describedby={`${id}-problem`}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      <button type="button" class="button is-main" onClick={pick}>
        {t('compose.later.schedule')}
      </button>
      <button type="button" class="button is-plain" onClick={onCancel}>
        {t('app.cancel')}
      </button>
      <p id={`${id}-problem`} class="compose-later-problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

const shortTime = (at: Date): string =>
  new Intl.DateTimeFormat(currentLocale(), { weekday: 'short', hour: '2-digit', minute: '2-digit' }).format(at);
