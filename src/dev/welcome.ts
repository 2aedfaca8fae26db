import { randomBytes } from 'node:crypto';
import { DEV_ACCOUNTS } from './dev-accounts.js';

export function urlLines(baseUrl: string, probesUrl: string): string[] {
  return [`Swagger   ${baseUrl}/docs`, `Health    ${probesUrl}/health/ready`, `Metrics   ${probesUrl}/metrics`];
}

export function keyLines(keyFile: string): string[] {
  return [`A key that may do everything is in ${keyFile}; lockstep keys (docs/operations.md) makes others.`, ''];
}

/** Two commands to paste: submit a first transaction between dev accounts, and wait until it is final. */
export function firstTransactionLines(
  baseUrl: string,
  keyFile: string,
  requestId = `first-${randomBytes(4).toString('hex')}`,
): string[] {
  const [signer, to] = DEV_ACCOUNTS;
  const key = `-H "Authorization: Bearer $(cat '${keyFile}')"`;
  const body = JSON.stringify({ signer, requestId, payload: { to, value: '1000000000000000' } });
  return [
    'Send a first transaction:',
    '',
    `  curl -sS ${baseUrl}/api/v1/tx ${key} -H 'content-type: application/json' -d '${body}'`,
    '',
    'and, with the txId of the answer, wait until it is final:',
    '',
    `  curl -sS '${baseUrl}/api/v1/tx/{txId}?waitFor=CONFIRMED&timeoutMs=30000' ${key}`,
    '',
  ];
}
