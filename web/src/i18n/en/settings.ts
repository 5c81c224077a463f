// The English texts of the settings.
export const settings = {} as const;
