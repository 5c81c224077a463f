// The English texts of signing in and of passkeys.
export const signIn = {
  'signIn.title': 'Sign in',
  'signIn.ended': 'Your session has ended. Sign in again and go on where you were: what you wrote is kept.',
  'signIn.key': 'API key',
  'signIn.submit': 'Sign in',
  'signIn.hint': 'A key of your account; it begins with mansio_. It is not kept: it begins a session of this browser.',
  'signIn.link': 'Without a key, the operator makes a link that signs you in once:',
  'signIn.demo': 'The demo (npm start) prints such a link when it starts.',
  'signIn.refused': 'This key is not valid. Check that all of it was pasted; it may also have been revoked.',
  'signIn.passkey': 'Use a passkey',
  'signIn.oidc': 'Continue with {provider}',
  'signIn.oidc.foreign': 'Nobody was signed in: this sign-in was not begun here, or it is over. Begin it again.',
  'signIn.oidc.late': 'Nobody was signed in: the answer of the provider was used, or came too late. Begin again.',
  'signIn.oidc.denied':
    'The provider did not sign you in: access was refused there. Begin again, or sign in another way. {description}',
  'signIn.oidc.refused':
    'The provider did not sign you in ({code}). Try again later, or sign in another way. {description}',
  'passkeys.title': 'Passkeys',
  'passkeys.about': 'With a passkey you sign in by fingerprint, face or PIN, without a key or a link.',
  'passkeys.offer': 'Next time, sign in by fingerprint, face or PIN of this device.',
  'passkeys.make': 'Make a passkey',
  'passkeys.notNow': 'Do not offer a passkey again',
  'passkeys.added': 'The passkey is made. The settings have it under Devices.',
  'passkeys.addedNamed': '{name} is added.',
  'passkeys.name': 'Name of a new passkey',
  'passkeys.add': 'Add a passkey',
  'passkeys.made': 'Not used yet; made: {date}',
  'passkeys.remove': 'Remove',
  'passkeys.removeNamed': 'Remove: {name}',
  'passkeys.removeQuestion': 'This passkey signs in no more. Browsers that are signed in with it stay signed in.',
  'passkeys.removed': '{name} is removed. Delete it on the device too, so that the device no longer offers it.',
  'passkeys.notRemoved': '{name} is not removed and still signs in. {reason}',
  'passkeys.notAdded': 'No passkey was added. {reason}',
  'passkeys.notRead': 'The passkeys cannot be shown now. {reason}',
  'passkeys.elsewhere': 'Passkeys cannot be added at this address. They need the name of the server, over https.',
  'passkeys.fault.unknown':
    'This passkey does not sign in: it was removed from the account, or the answer came too late. Try again; if that fails too, sign in with a key and add a passkey in the settings.',
  'passkeys.fault.late': 'No passkey was added: the answer came too late, or did not fit. Try again.',
  'passkeys.fault.cancelled': 'No passkey was used. Try again, or sign in with a key or a link.',
  'passkeys.fault.notAdded':
    'No passkey was added: the question was closed, or its time has passed. Try again when you like.',
  'passkeys.fault.known': 'This device has a passkey of the account already. Sign in with it, or remove it first.',
  'passkeys.fault.unable':
    'This device cannot keep a passkey that asks for a fingerprint, face or PIN. Set up a screen lock, or use another device.',
  'passkeys.fault.elsewhere':
    'Passkeys do not work at this address. Open the page under the name of the server, over https.',
} as const;
