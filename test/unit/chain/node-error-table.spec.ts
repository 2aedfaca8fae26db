import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../../src/kernel/node-error-class.js';
import { actionOf } from '../../../src/modules/chain/domain/node-error-action.js';
import { classifyNodeError, errorPattern } from '../../../src/modules/chain/domain/node-error-table.js';

interface Row {
  readonly client: string;
  readonly message: string;
  readonly class: NodeErrorClass;
  readonly source: string;
  readonly code?: number;
  /** Whose answer it is; a send's when left out. */
  readonly method?: string;
}

const rowsOf = (file: string): readonly Row[] =>
  JSON.parse(readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8'));
const PUBLIC = rowsOf('node-errors.json');
const FROM_SOURCES = [...rowsOf('node-errors-from-sources.json'), ...rowsOf('node-errors-of-other-clients.json')];
/** Those whose words say something: what surrounds the others may say more than they do. */
const ROWS = [...PUBLIC, ...FROM_SOURCES].filter((row) => row.class !== 'unknown');

const SEND = 'eth_sendRawTransaction';
const send = (message: string, code?: number) => classifyNodeError({ method: SEND, message, code });
const ask = ({ method = SEND }: Row, message: string, code?: number) => classifyNodeError({ method, message, code });
/** The numbers of a standard, of HTTP or of a bound are words; an allowance is a balance or a cap by its size. */
const isMeantLiterally = (message: string) => /allowance|\b50\d\b|2\^\d+|(eip|rip)-?\d|error code: \d/i.test(message);
const withNumbers = (message: string, number: string) => message.replace(/(?<![\w.])\d+(?![\w.])/g, number);
const inJson = (text: string) => JSON.stringify({ jsonrpc: '2.0', id: 7, error: { message: text } });

describe('the node-error table', () => {
  it.each(PUBLIC.map((row) => [row.client, row.message, row.class, row.code] as const))(
    '%s: %s -> %s',
    (_client, message, expected, code) => {
      expect(send(message, code)).toBe(expected);
      expect(send(message)).toBe(expected);
    },
  );

  it.each([...new Set(FROM_SOURCES.map((row) => row.source))])('knows every message of %s', (source) => {
    const lost = FROM_SOURCES.filter((row) => row.source === source).flatMap((row) => {
      const answers = [ask(row, row.message, row.code), ask(row, row.message)];
      return answers.every((answer) => answer === row.class) ? [] : [{ ...row, answers }];
    });
    expect(lost).toEqual([]);
  });

  it('keeps the class whatever stands around the words, in any case, with any code', () => {
    const prefix = fc.constantFrom(
      '',
      'rpc error: ',
      'RPC error response: ',
      '[Request ID: 7f65] ',
      'err: ',
      'upstream said: "',
      'failed with 50000000 gas: ',
      'INTERNAL_ERROR: ',
    );
    const suffix = fc.constantFrom(
      '',
      ' (request 17)',
      '", id 42',
      ' [node-3]',
      ', address 0x71562b71999873DB5b286dF957af199Ec94617F7',
    );
    const letters = fc.constantFrom(
      (s: string) => s,
      (s: string) => s.toUpperCase(),
      (s: string) => s.toLowerCase(),
    );
    const wrap = fc.constantFrom(
      (s: string) => s,
      (s: string) => JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: s } }),
      (s: string) =>
        `processing response error (body=${JSON.stringify(JSON.stringify({ error: { message: s } }))}, requestMethod="POST")`,
    );
    const code = fc.constantFrom(undefined, -32000, -32003, -32603, -32010);
    fc.assert(
      fc.property(
        fc.constantFrom(...ROWS),
        prefix,
        suffix,
        letters,
        wrap,
        code,
        (row, before, after, spell, put, number) => {
          expect(ask(row, put(spell(before + row.message + after)), number)).toBe(row.class);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('keeps the class whatever numbers and addresses are inside', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ROWS.filter(({ message }) => !isMeantLiterally(message))),
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        (row, number) => {
          const message = row.message
            .replace(/0x[0-9a-fA-F]{40}/g, `0x${number.toString(16).padStart(40, '0')}`)
            .replace(/\b\d+\b/g, String(number));
          expect(ask(row, message)).toBe(row.class);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, (message: string) => string]>([
    ['as a proxy says it', (text) => `RPC error: ${text}`],
    ['as geth’s estimator says it', (text) => `err: ${text} (supplied gas 15010499)`],
    ['with a code before it', (text) => `Error code -32000: ${text}`],
    ['as a Rust error', (text) => `ErrorObject { code: ServerError(-32000), message: "${text}", data: None }`],
    ['in double quotes', (text) => `"${text}"`],
    ['in single quotes', (text) => `the node said '${text}'`],
    ['in backticks', (text) => `the node said \`${text}\`.`],
    ['in capitals', (text) => text.toUpperCase()],
    ['in small letters', (text) => text.toLowerCase()],
    ['with a capital at the start', (text) => text.charAt(0).toUpperCase() + text.slice(1)],
    ['over several lines', (text) => `request failed:\n\t${text}\n`],
    ['with two spaces for one', (text) => text.replaceAll(' ', '  ')],
    ['as JSON', (text) => JSON.stringify({ code: -32000, message: text })],
    ['as JSON inside JSON', (text) => inJson(JSON.stringify({ error: { code: -32000, message: text } }))],
    ['as JSON inside JSON inside JSON', (text) => inJson(inJson(JSON.stringify({ message: text })))],
    ['with the request beside it', (text) => `${text} (requestBody="{\\"method\\":\\"eth_sendRawTransaction\\"}")`],
    ['with a hash before it', (text) => `[0x${'5e'.repeat(32)}] ${text}`],
  ])('keeps the class of every row %s', (_name, wrap) => {
    const lost = ROWS.flatMap((row) => {
      const answer = ask(row, wrap(row.message), row.code);
      return answer === row.class ? [] : [{ message: row.message, expected: row.class, answer }];
    });
    expect(lost).toEqual([]);
  });

  it.each<[string, (message: string) => string]>([
    ['small', (text) => withNumbers(text, '1')],
    ['those of a cheap chain', (text) => withNumbers(text, '16777216')],
    ['wei of a rich account', (text) => withNumbers(text, '123456789012345678901234567890')],
    ['in hex', (text) => withNumbers(text, '0x5208')],
    ['in groups', (text) => withNumbers(text, '1,000,000')],
    ['with a fraction', (text) => withNumbers(text, '1.5')],
    ['of another account', (text) => text.replace(/0x[0-9a-f]{40}\b/gi, `0x${'C0ffee00'.repeat(5)}`)],
    ['of another transaction', (text) => text.replace(/(0x)?[0-9a-f]{64}\b/gi, `0x${'deadbeef'.repeat(8)}`)],
  ])('keeps the class of every row whatever it counts: %s', (_name, change) => {
    const lost = ROWS.filter(({ message }) => !isMeantLiterally(message)).flatMap((row) => {
      const answer = ask(row, change(row.message));
      return answer === row.class ? [] : [{ message: change(row.message), expected: row.class, answer }];
    });
    expect(lost).toEqual([]);
  });

  it('takes a revert for a revert, whatever its text quotes', () => {
    for (const { message } of ROWS) {
      expect(send(`execution reverted: ${message}`)).toBe('execution_reverted');
      expect(send(`VM Exception while processing transaction: reverted with reason string '${message}'`)).toBe(
        'execution_reverted',
      );
    }
  });

  it('lets a chain add its own words, but not over a revert', () => {
    const extraPatterns = [
      errorPattern('flux capacitor (full|hot)', 'txpool_full'),
      errorPattern('nonce too low', 'nonce_too_high'),
    ];
    const say = (message: string) => classifyNodeError({ method: SEND, message, extraPatterns });
    expect(say('Flux Capacitor HOT')).toBe('txpool_full');
    expect(say('nonce too low')).toBe('nonce_too_high');
    expect(say('execution reverted: flux capacitor full')).toBe('execution_reverted');
    expect(say('underpriced')).toBe('underpriced');
  });

  it.each([
    '',
    'the frobnicator is unhappy',
    'determined by undetermined',
    'unknown transaction',
    '💥',
    'x'.repeat(200_000),
  ])('does not guess: %#', (message) => expect(send(message)).toBe('unknown'));

  it.each([-32000, -32003, -32005, -32007, -32010, -32601, -32602, -32603, 3, 429])(
    'never classifies by the code %d alone',
    (code) => {
      expect(send('the frobnicator is unhappy', code)).toBe('unknown');
    },
  );

  it.each<[string, NodeErrorClass, number?]>([
    [
      'Your transaction was dropped due to limit. There are too many transactions in the queue. Try increasing the fee.',
      'txpool_full',
    ],
    ['submit transaction to pool failed: Pool(TooLowPriority { old: 50000, new: 10000 })', 'replacement_underpriced'],
    ['submit transaction to pool failed: Pool(Stale)', 'nonce_too_low'],
    ['ALREADY_EXISTS: already known', 'already_known'],
    ['account sequence mismatch, expected 5, got 4: incorrect account sequence', 'nonce_too_low'],
    ["the tx doesn't have the correct nonce. account has nonce of: 5 tx has nonce of: 4", 'nonce_too_low'],
    ['transaction already finalized', 'already_mined'],
    ['lack of funds (0) for max fee (1000)', 'insufficient_funds'],
    ['Intrinsic gas exceeds gas limit', 'intrinsic_gas_too_low'],
    ['transaction gas limit too high (cap: 16777216, tx: 20000000)', 'gas_limit_exceeds_block'],
    ['max initcode size exceeded: code size 50000, limit 49152', 'oversized_data'],
    ['in-flight transaction limit reached for delegated accounts', 'delegated_account_limit'],
    ['sequencer pending tx pool full, please try again', 'txpool_full'],
    ['Failed to decode transaction', 'invalid_transaction', -32602],
    ['limit exceeded', 'rate_limited', -32005],
    ['limit exceeded', 'unknown', -32000],
    ['429 Too Many Requests', 'rate_limited'],
    ['502 Bad Gateway', 'transient'],
    ['connect ECONNREFUSED 127.0.0.1:8545', 'transient'],
    ['Client network socket disconnected: read ECONNRESET', 'transient'],
  ])('knows other clients: %s -> %s', (...[message, expected, code]) => {
    expect(send(message, code)).toBe(expected);
  });

  it.each<[string, NodeErrorClass]>([
    ['out of gas in location: ReadFlat; gasWanted: 21000, gasUsed: 25000', 'intrinsic_gas_too_low'],
    ['tx gas limit 40000000 exceeds the gas limit of the block 30000000', 'gas_limit_exceeds_block'],
    ["transaction's gas limit is above the block gas limit", 'gas_limit_exceeds_block'],
    ['gas limit above block gas limit', 'gas_limit_exceeds_block'],
    ['GasUintOverflow', 'invalid_transaction'],
    ['gas uint64 overflow', 'invalid_transaction'],
    ['max fee per gas below block base fee', 'fee_cap_too_low'],
    ['MaxFeePerGas below block base fee', 'fee_cap_too_low'],
    ['maxFeePerGas: 100 is smaller than baseFeePerGas: 250', 'fee_cap_too_low'],
    ['max fee per gas less than block base fee: fee 5, base fee 7', 'fee_cap_too_low'],
    ['effective gas price is below the base fee', 'fee_cap_too_low'],
    ['retry limit exceeded', 'transient'],
    ['maximum number of retries exceeded', 'transient'],
    ['monthly usage limit has been reached', 'rate_limited'],
    ['Your app has exceeded its throughput limit', 'rate_limited'],
    ['daily request limit reached for this key', 'rate_limited'],
    ['request was throttled', 'rate_limited'],
    ['you are sending requests too fast, slow down', 'rate_limited'],
    ['credits exhausted', 'rate_limited'],
    ['too many connections', 'rate_limited'],
  ])('knows what is not in any list of sources, whatever is around it: %s -> %s', (message, expected) => {
    const around = [message, `rpc error: code = Unknown desc = ${message}`, `${message} [trace 7f65-ab]`];
    for (const text of [...around, inJson(message), message.toUpperCase()]) expect(send(text)).toBe(expected);
  });

  it('reads the failures of a simulation as the payload’s', () => {
    const ask = (message: string, code?: number) => classifyNodeError({ method: 'eth_estimateGas', message, code });
    expect(ask('EVM error InvalidFEOpcode', -32603)).toBe('execution_reverted');
    expect(ask('invalid opcode: opcode 0xfe not defined')).toBe('execution_reverted');
    expect(ask('anything a contract says', 3)).toBe('execution_reverted');
    expect(ask('Transaction ran out of gas', -32000)).toBe('gas_limit_exceeds_block');
    expect(ask('out of gas', -32000)).toBe('gas_limit_exceeds_block');
    expect(ask('Out of gas: gas required exceeds allowance: 30000000', -32003)).toBe('gas_limit_exceeds_block');
    expect(ask('gas required exceeds allowance (0)', -32000)).toBe('insufficient_funds');
  });

  it.each([
    'stack limit reached 1024 (1023)',
    'contract address collision',
    'invalid code: must not begin with 0xef',
    'gas uint64 overflow',
    'return data out of bounds',
    'max code size exceeded',
    'code size limit',
    'InvalidFEOpcode',
    'CreateContractSizeLimit',
    'CreateCollision',
    'PrecompileError',
    'Bad instruction 0xfe',
    'BadInstruction',
    'OutOfStack',
    'VM execution error.',
  ])('ends a payload that cannot execute: %s', (message) => {
    const estimate = classifyNodeError({ method: 'eth_estimateGas', message, code: -32000 });
    expect(actionOf(estimate).response).toBe('fail_payload');
  });

  it('stops the signer whose nonces are used up, and not the payload', () => {
    expect(classifyNodeError({ method: 'eth_estimateGas', message: 'nonce uint64 overflow' })).toBe('nonce_max_value');
  });

  it.each([
    // A reason that nobody knows may pass.
    'Invalid transaction: the stars are wrong',
    'EVM reported invalid transaction (0x7f65): Custom(12)',
    'transaction rejected',
    'Transaction failed',
    'failed to send transaction',
    // Words of a payload's faults, about the node, the request or our plan.
    'runtime error: integer divide by zero',
    'goroutine stack exceeds 1000000000-byte limit',
    'stack overflow',
    'Transaction ran out of gas',
    'response data too large',
    'request size exceeded',
    'error encountered getting blob base fee',
    'failed to open blobstore',
    'Your account has reached its daily limit',
    'account quota exceeded',
    'the request is not signed',
    'insufficient permissions',
    'submit transaction to pool failed: Pool(TemporarilyBanned)',
    'chain not synced beyond EIP-155 replay-protection fork block',
    // Something with this nonce is there.
    'tx with this nonce already in mempool',
    'all upstreams failed: [insufficient gas price to replace existing transaction, nonce too low, timeout]',
  ])('does not take for a refusal what may be in a pool, or may pass: %s', (message) => {
    expect(actionOf(send(message)).outcome).toBe('unknown');
  });

  it('believes an upstream that has the transaction, whatever the others say', () => {
    expect(send('all upstreams failed: [insufficient funds for gas * price + value, already known]')).toBe(
      'already_known',
    );
  });

  it('has a sample for every class it can answer', () => {
    expect(new Set([...ROWS.map((row) => row.class), 'unknown'])).toEqual(new Set(NODE_ERROR_CLASSES));
  });
});
