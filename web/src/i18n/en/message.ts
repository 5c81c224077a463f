// The English texts of the message view.
export const message = {} as const;
