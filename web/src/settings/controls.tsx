// The controls of settings: one of a few choices, one of many, yes or no. They show the setting; what is chosen is the caller's to save.
import { useId } from 'preact/hooks';

interface Option<T> {
  readonly value: T;
  readonly text: string;
}

interface ChoiceProps<T> {
  readonly label: string;
  readonly hint?: string;
  readonly options: readonly Option<T>[];
  readonly value: T | undefined;
  readonly onChoose: (value: T) => void;
}

export function Choice<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="setting">
      <legend>{label}</legend>
      <div class="setting-choices">
        {options.map((option) => (
          <label key={option.value}>
            <input type="radio" name={name} checked={option.value === value} onChange={() => onChoose(option.value)} />
            {option.text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Select<T extends string | number>({ label, hint, options, value, onChoose }: ChoiceProps<T>) {
  const id = useId();
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        aria-describedby={hint && `${id}-hint`}
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options[currentTarget.selectedIndex];
          if (chosen !== undefined) onChoose(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChoose: (value: boolean) => void;
}

export function Switch({ label, value, onChoose }: SwitchProps) {
  return (
    <label class="setting-switch">
      <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChoose(currentTarget.checked)} />
      {label}
    </label>
  );
}
