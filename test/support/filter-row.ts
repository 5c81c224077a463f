// The parts of filters that tests leave out.

/** Conditions that are not set. */
export const NO_CONDITIONS = {
  fromAddressContains: null,
  toContains: null,
  ccContains: null,
  subjectContains: null,
  bodyContains: null,
  headerName: null,
  headerContains: null,
  listId: null,
  hasAttachments: null,
  minSizeBytes: null,
  maxSizeBytes: null,
  matches: null,
};

/** Actions that are not taken. */
export const NO_ACTIONS = {
  markAsRead: null,
  assignLabelId: null,
  moveToFolderId: null,
  flag: null,
  forwardTo: null,
  delete: null,
  stop: null,
};

/** A rule without conditions and actions. */
export const NO_RULE = { name: 'rule', isEnabled: true, priority: 0, ...NO_CONDITIONS, ...NO_ACTIONS };
