// Where the mail of the account is sent on: to one of its verified addresses elsewhere, with or without a copy.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AdditionalAddress, Forwarding as Chosen } from '../../../../src/client/index.js';
import { reasonOf } from '../../app/reason.js';
import { useStore } from '../../app/store.js';
import { t } from '../../i18n/t.js';
import { Select, Switch } from '../controls.js';
import { useSetting } from '../following/use-setting.js';
import { Problem } from '../problem.js';
import { SavingNote, useSaving } from '../saving.js';
import { Addresses } from './addresses.js';
import { ReadChoice } from './read-choice.js';

const PATH = '/api/forwarding';

export function Forwarding() {
  const { client } = useStore();
  const chosen = useSignal<Chosen | undefined>(undefined);
  const addresses = useSignal<readonly AdditionalAddress[]>([]);
  const problem = useSignal('');
  const saving = useSaving();
  const choice = useRef(new ReadChoice()).current;
  const followed = useSetting('/api/forwarding', (forwarding) => {
    if (choice.read()()) chosen.value = forwarding;
  });
  const readAddresses = () => {
    problem.value = '';
    client.request('GET', '/api/profile').then(
      ({ additionalAddresses }) => {
        addresses.value = additionalAddresses.filter(({ canSend }) => !canSend);
      },
      (error: unknown) => {
        problem.value = t('settings.forwarding.notRead', { reason: reasonOf(error) });
      },
    );
  };
  useEffect(() => {
    readAddresses();
    // The link of a mail is opened in another window.
    window.addEventListener('focus', readAddresses);
    return () => window.removeEventListener('focus', readAddresses);
  }, [client]);
  const change = async (changed: Partial<Chosen>) => {
    const before = chosen.peek()!;
    const body = { ...before, ...changed };
    chosen.value = body;
    const isSaved = await choice.change(() => saving.save(() => client.request('PUT', PATH, { body })));
    if (!isSaved) chosen.value = before;
  };
  const shown = chosen.value;
  return (
    <>
      <p class="hint">{t('settings.forwarding.about')}</p>
      <Problem text={problem.value} again={readAddresses} />
      <Problem
        text={
          followed.problem.value === undefined
            ? ''
            : t('settings.forwarding.notRead', { reason: reasonOf(followed.problem.value) })
        }
        again={followed.again}
      />
      {shown !== undefined && (
        <>
          <Choices
            chosen={shown}
            targets={addresses.value.filter(({ isVerified }) => isVerified).map(({ address }) => address)}
            onChange={change}
          />
          <SavingNote saving={saving} kept={(reason) => t('app.failed', { reason })} />
          <Addresses addresses={addresses.value} onChange={readAddresses} />
        </>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly chosen: Chosen;
  readonly targets: readonly string[];
  readonly onChange: (changed: Partial<Chosen>) => void;
}

function Choices({ chosen: { isEnabled, address, keepCopy }, targets, onChange }: ChoicesProps) {
  // The address is shown although the account has removed it since.
  const all = address === null || targets.includes(address) ? targets : [address, ...targets];
  const [first] = all;
  if (first === undefined) return <p>{t('settings.forwarding.noAddress')}</p>;
  return (
    <>
      <Switch
        label={t('settings.forwarding.isEnabled')}
        value={isEnabled}
        onChoose={(value) => onChange({ isEnabled: value, address: address ?? first })}
      />
      <Select
        label={t('settings.forwarding.address')}
        options={all.map((one) => ({ value: one, text: one }))}
        value={address ?? first}
        onChoose={(value) => onChange({ address: value })}
      />
      <Switch
        label={t('settings.forwarding.keepCopy')}
        value={keepCopy}
        onChoose={(value) => onChange({ keepCopy: value })}
      />
      <p class="hint">{t('settings.forwarding.keepCopyHint')}</p>
    </>
  );
}
