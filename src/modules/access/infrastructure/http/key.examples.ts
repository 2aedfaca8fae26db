export const CREATE_EXAMPLES = {
  payouts: {
    summary: 'A key for a program that sends transactions and reads them',
    value: { name: 'payouts', scopes: ['tx:read', 'tx:write'], expiresAt: '2030-01-01T00:00:00.000Z' },
  },
  oneSigner: {
    summary: 'A key for one signer',
    value: {
      name: 'payouts',
      scopes: ['tx:read', 'tx:write'],
      signers: [{ chainId: 31337, address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }],
    },
  },
};

export const ROTATE_EXAMPLES = {
  anHour: { summary: 'The old key can be used for an hour', value: { overlapSeconds: 3_600 } },
  leaked: { summary: 'The old key has leaked, and ends at once', value: { overlapSeconds: 0 } },
};
