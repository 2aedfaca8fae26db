import { expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../../../src/dev/dev-accounts.js';
import { firstTransactionLines } from '../../../src/dev/welcome.js';

it('the first transaction is one line to paste, with a valid body', () => {
  const line = firstTransactionLines('http://localhost:3000', '/x/dev-key', 'first-1').find((text) =>
    text.includes('-d '),
  );
  const body: unknown = JSON.parse(/-d '(.*)'$/.exec(line ?? '')?.[1] ?? '');
  expect(line).toContain('http://localhost:3000/api/v1/tx ');
  expect(line).toContain(`-H "Authorization: Bearer $(cat '/x/dev-key')"`);
  expect(body).toEqual({
    signer: DEV_ACCOUNTS[0],
    requestId: 'first-1',
    payload: { to: DEV_ACCOUNTS[1], value: '1000000000000000' },
  });
});
