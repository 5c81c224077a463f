// The English texts of the list, the folders and the search.
export const list = {} as const;
