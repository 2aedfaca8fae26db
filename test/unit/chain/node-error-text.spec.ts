import { describe, expect, it } from '@jest/globals';
import { classifyNodeError, errorPattern } from '../../../src/modules/chain/domain/node-error-table.js';
import { normalErrorText } from '../../../src/modules/chain/domain/node-error-text.js';
import { nodeTxFeeCap } from '../../../src/modules/chain/domain/demanded-fee.js';
import { RpcUnavailable } from '../../../src/modules/chain/domain/rpc-unavailable.js';
import { DEV_CHAIN } from '../../support/builders.js';

describe('the text of a node error', () => {
  it.each([
    ['constants as words, in lower case', 'NONCE_TOO_LOW', 'nonce too low'],
    ['single spaces, and none around it', '  nonce\n\t too   low ', 'nonce too low'],
    ['straight quotes', 'can’t pay ‘gas’', "can't pay 'gas'"],
    ['quotes and slashes that JSON escaped, once or twice', String.raw`\"a\" \\\'b\' c\/d`, `"a" 'b' c/d`],
    ['the line breaks that JSON escaped as spaces', String.raw`nonce\ntoo\\\rlow\tnow`, 'nonce too low now'],
  ])('has %s', (_what, message, text) => {
    expect(normalErrorText(message)).toBe(text);
  });

  it('ends after ten thousand characters: what follows is a page or a payload', () => {
    expect(normalErrorText(`${'x'.repeat(10_000)}nonce too low`)).toHaveLength(10_000);
  });
});

describe("a chain's own words", () => {
  const classOf = (message: string, pattern: string) =>
    classifyNodeError({ method: 'eth_call', message, extraPatterns: [errorPattern(pattern, 'txpool_full')] });

  it('are found in the message as it came, and in its normal form, in any case', () => {
    expect(classOf('Sequencer_Says_Later', 'says_later')).toBe('txpool_full');
    expect(classOf('SEQUENCER_SAYS_LATER', 'Sequencer says')).toBe('txpool_full');
    expect(classOf('something else', 'says later')).toBe('unknown');
  });
});

describe('the most that a node lets a transaction cost', () => {
  it.each([
    ['in ether', 'tx fee (1.20 ether) exceeds the configured cap (1.00 ether)', 10n ** 18n],
    ['in whole ether', 'exceeds the configured cap (12 ether)', 12n * 10n ** 18n],
    ['in parts of one', 'Tx Fee Exceeds The Configured Cap (0.125 Ether)', 125n * 10n ** 15n],
    ['in wei', 'exceeds the configured cap (1500 WEI)', 1_500n],
  ])('is read from its refusal %s', (_unit, message, wei) => {
    expect(nodeTxFeeCap(message)).toBe(wei);
  });

  it.each([
    'exceeds the configured cap (0.00 ether)',
    'cap (0 wei)',
    'tx fee exceeds the configured cap',
    'cap (x ether)',
    'cap (1.x ether)',
    'cap (1 gwei)',
  ])('is unknown when it says "%s"', (message) => {
    expect(nodeTxFeeCap(message)).toBeNull();
  });
});

it('a chain that could not be asked says who asked what, and what to look at', () => {
  const error = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'eth_call' }, 'no answer in time');
  expect(error).toMatchObject({
    code: 'rpc_unavailable',
    message: `chain ${DEV_CHAIN}, eth_call: no answer in time`,
    advice: 'try again; when it lasts, check the RPC endpoints of this chain',
    facts: { chainId: DEV_CHAIN, method: 'eth_call' },
  });
});
