// The one rule for comparing words case-insensitively: composed (NFC), then Unicode lower case without a particular language.

export const caseFolded = (text: string): string => text.normalize('NFC').toLowerCase();
