// The one rule for comparing words without regard to case: composed (NFC), then Unicode lower case of no particular
// language.

export const caseFolded = (text: string): string => text.normalize('NFC').toLowerCase();
