import { faultsIn, int, unit } from '../fault.js';

const PARSE = unit('parse-answer');

const RPC = [
  ...faultsIn('modules/chain/infrastructure/parse-answer.ts', PARSE, [
    {
      id: 'receipt-any-status-is-success',
      text: `number === 1n ? 'success' : 'reverted'`,
      becomes: `number >= 0n ? 'success' : 'reverted'`,
      why: 'a revert is CONFIRMED',
    },
    {
      id: 'receipt-status-two-is-read',
      text: 'if (number > 1n) throw',
      becomes: 'if (number > 2n) throw',
      why: 'an answer that means nothing fails a tx',
    },
    {
      id: 'receipt-without-a-block',
      text: `if (raw['blockHash'] === null || raw['blockHash'] === undefined) return null;`,
      becomes: '',
      why: 'a transaction that is only known fails the look at all receipts',
    },
    {
      id: 'receipt-without-old-price',
      text: `raw['effectiveGasPrice'] ?? raw['gasPrice']`,
      becomes: `raw['effectiveGasPrice']`,
      why: 'no receipt of a chain without London can be read',
    },
    {
      id: 'receipt-forgets-the-contract',
      text: `contract === null || contract === undefined ? null : address(contract, 'receipt.contractAddress')`,
      becomes: 'null',
      why: 'nobody learns the address of a contract that was created',
    },
    {
      id: 'block-swaps-hash-and-parent',
      text: `hash(block['parentHash'], 'block.parentHash')`,
      becomes: `hash(block['hash'], 'block.parentHash')`,
      why: 'every block looks like a reorg',
    },
    {
      id: 'answer-number-above-2-53',
      text: 'if (!Number.isSafeInteger(number)) throw',
      becomes: 'if (Number.isNaN(number)) throw',
      why: 'a block number is rounded',
    },
    {
      id: 'answer-quantity-without-end',
      text: '/^0x[0-9a-f]{1,64}$/i',
      becomes: '/^0x[0-9a-f]{0,64}$/i',
      why: 'an empty answer is the number 0',
    },
  ]),
  ...faultsIn('modules/chain/infrastructure/broadcast-reply.ts', unit('chain/broadcast'), [
    {
      id: 'broadcast-lost-is-not-sent',
      text: 'if (!reply.failure.mayHaveArrived)',
      becomes: 'if (reply.failure.mayHaveArrived)',
      why: 'a transaction that may be out counts as not sent (I6)',
    },
    {
      id: 'broadcast-any-hash',
      text: `if (typeof value === 'string' && value.toLowerCase() === transaction.hash)`,
      becomes: `if (typeof value === 'string')`,
      why: 'a node that took something else counts as one that took ours',
    },
    {
      id: 'broadcast-refusal-is-doubt',
      text: `return isRejected ? { kind: 'rejected', errorClass, message }`,
      becomes: `return !isRejected ? { kind: 'rejected', errorClass, message }`,
      why: 'a nonce is freed while its transaction is in a pool',
    },
    {
      id: 'broadcast-known-is-refused',
      text: `if (isAcceptance(errorClass)) return { kind: 'accepted', errorClass };`,
      becomes: '',
      why: 'a transaction that the node has already is treated as in doubt',
    },
  ]),
  ...faultsIn('modules/chain/infrastructure/fee-history.ts', unit('fee-quote'), [
    {
      id: 'fees-with-empty-blocks',
      text: 'rewards.filter((_, i) => (ratios[i] ?? 0) > 0)',
      becomes: 'rewards.filter((_, i) => (ratios[i] ?? 0) >= 0)',
      why: 'empty blocks pull the tip to 0',
    },
    {
      id: 'fees-of-the-newest-block',
      text: 'quantity(baseFees.at(-1)',
      becomes: 'quantity(baseFees.at(-2)',
      why: 'the price is that of a block that is over',
    },
    {
      id: 'fees-of-one-block-later',
      text: 'oldest + ratios.length - 1',
      becomes: 'oldest + ratios.length',
      why: 'a quote seems newer than it is',
    },
    {
      id: 'fees-in-no-order',
      text: '(a < b ? -1 : a > b ? 1 : 0)',
      becomes: '(a < b ? 1 : a > b ? -1 : 0)',
      why: 'of two middle values the lower is paid',
    },
    {
      id: 'fees-of-chains-without-blobs',
      text: 'fee === 0n ? null : fee',
      becomes: 'fee',
      why: 'a chain without blobs seems to take them for nothing',
    },
  ]),
  ...faultsIn('modules/chain/infrastructure/quote-from.ts', unit('plain-quotes'), [
    {
      id: 'fees-lower-for-faster',
      text: '(floor = tip > floor ? tip : floor)',
      becomes: '(floor = tip)',
      why: 'urgent can be cheaper than slow',
      caughtBy: unit('fee-quote'),
    },
    {
      id: 'fees-plain-where-the-base-fee-is-zero',
      text: 'const headHasBaseFee = head !== null && head.baseFeePerGas !== null;',
      becomes: 'const headHasBaseFee = head !== null && (head.baseFeePerGas ?? 0n) > 0n;',
      why: 'a chain of EIP-1559 whose base fee is 0 is taken for one without a base fee',
    },
    {
      id: 'fees-plain-price-of-one-speed',
      text: 'scaled(gasPrice, PERCENT_OF_GAS_PRICE)',
      becomes: 'scaled(gasPrice)',
      why: 'on a chain without fee history urgent pays no more than slow',
    },
  ]),
  ...faultsIn('modules/chain/infrastructure/endpoint-quotes.ts', unit('plain-quotes'), [
    {
      id: 'fees-zero-is-a-base-fee',
      text: 'histories.some(({ nextBaseFee }) => nextBaseFee === 0n)',
      becomes: 'false',
      why: 'every chain without EIP-1559 but with a fee history gets transactions that it does not take',
    },
  ]),
];

const ROWS = [
  ...faultsIn('modules/transactions/infrastructure/managed-tx.rows.ts', int('managed-tx-reads'), [
    {
      id: 'row-without-confirmations',
      text: 'confirmations: row.confirmations,',
      becomes: 'confirmations: null,',
      why: 'a request with confirmations of its own is signed as one without',
    },
    {
      id: 'row-swaps-hash-and-id',
      text: 'requestHash: parseHash(row.request_hash)',
      becomes: 'requestHash: parseHash(row.tx_hash ?? row.request_hash.replace(/.$/, "f"))',
      why: 'a repeated request is taken for another one',
    },
  ]),
  ...faultsIn('modules/transactions/infrastructure/pg-managed-tx.repository.ts', int('managed-tx-reads'), [
    {
      id: 'next-pending-priority-not-turned',
      text: 'after ? -after.priority : BELOW_ALL_RANKS',
      becomes: 'after ? after.priority + 1 : BELOW_ALL_RANKS',
      why: 'a lane begins in the wrong place of its queue',
    },
    {
      id: 'ask-receipts-behind-the-first-signers',
      text: `after?.signer.address ?? '',`,
      becomes: `after?.signer.address ?? '0x1',`,
      why: 'the receipts of the first signers are not asked for after a change of owner',
    },
    {
      id: 'insert-pending-forgets-metadata',
      text: '(request.metadata === null ? null : JSON.stringify(request.metadata))',
      becomes: 'null',
      why: 'what a client wants to find again is lost',
      caughtBy: int('intake-rows'),
    },
    {
      id: 'save-swaps-timers',
      text: 'timerColumn(tx.timers.resubmit)',
      becomes: 'timerColumn(tx.timers.receiptCheck)',
      why: 'a tx is sent again when its receipt is due',
      caughtBy: int('managed-tx-save'),
    },
    {
      id: 'save-keeps-a-timer-that-is-cleared',
      text: `if (timer === 'keep') return -1;`,
      becomes: `if (timer === 'keep') return null;`,
      why: 'a timer that was to be kept is cleared',
      caughtBy: int('managed-tx-save'),
    },
    {
      id: 'save-of-some',
      text: 'if (rowCount !== ordered.length)',
      becomes: 'if (rowCount === 0)',
      why: 'a batch is written although one of its copies was outdated',
      caughtBy: int('managed-tx-repository'),
    },
  ]),
];

/** What stands between us and nodes, rows and clients. */
export const ADAPTERS = [...RPC, ...ROWS];
