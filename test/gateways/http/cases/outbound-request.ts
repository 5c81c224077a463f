// Gives the cases of outbound mail their paths and the message that they send.

export const O = '/api/outbound';
export const D = `${O}/drafts`;

export const bob = { address: 'bob@remote.test', displayName: 'Bob', type: 'To' };
export const mail = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello', recipients: [bob] };
