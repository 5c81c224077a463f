// One rule for comparing words of people without regard to case, wherever Mansio does it: composed (NFC), then lower case
// as Unicode has it without a language.

export const caseFolded = (text: string): string => text.normalize('NFC').toLowerCase();
