// The round sign of a person: initials on a colour of their own.
import './avatar.css';
import { avatarHue, initials } from './initials.js';

export function Avatar({ name, address }: { readonly name: string; readonly address: string }) {
  return (
    <span class="avatar" style={{ '--hue': String(avatarHue(address)) }} aria-hidden="true">
      {initials(name, address)}
    </span>
  );
}
