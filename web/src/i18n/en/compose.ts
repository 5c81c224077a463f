// The English texts of writing.
export const compose = {} as const;
