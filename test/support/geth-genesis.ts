import { DEV_CHAIN_ID } from '../../src/dev/dev-accounts.js';
import { devAddresses } from './dev-wallets.js';

export interface GenesisOptions {
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  /** Places in the dev mnemonic of accounts whose code is an EIP-7702 delegation from block 0 on. */
  readonly delegated: readonly number[];
  /** Whether Osaka is in force, from which on blobs have a proof for each cell. */
  readonly osaka: boolean;
}

const FUNDED = 20;
/** 1,000,000 ETH each. */
const BALANCE = 10n ** 24n;
/** To an account without code, so that it changes nothing but the account's place in the pool. */
const DELEGATION = `0xef0100${'c0de'.padStart(40, '0')}`;
const BLOBS = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 };

type Alloc = Readonly<Record<string, { readonly code?: string }>>;

/**
 * For `geth init`: merged from block 0 on, with every fork up to Prague or Osaka, and with money for the accounts of the dev mnemonic.
 * @param ofDev the accounts of geth's own dev chain, of which the contracts are taken: without the queues of Prague geth 1.17 builds no block
 */
export function gethGenesis(
  { gasLimit, baseFeePerGas, delegated, osaka }: GenesisOptions,
  ofDev: Alloc,
): Readonly<Record<string, unknown>> {
  return {
    config: {
      chainId: DEV_CHAIN_ID,
      ...Object.fromEntries(FORKS_BY_BLOCK.map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      ...Object.fromEntries([...FORKS_BY_TIME, ...(osaka ? ['osaka'] : [])].map((name) => [`${name}Time`, 0])),
      blobSchedule: { cancun: BLOBS, prague: BLOBS, ...(osaka && { osaka: BLOBS }) },
    },
    difficulty: '0x0',
    gasLimit: hex(gasLimit),
    baseFeePerGas: hex(baseFeePerGas),
    alloc: Object.fromEntries([
      ...Object.entries(ofDev).filter(([, { code }]) => code !== undefined),
      ...devAddresses(FUNDED).map((address, index) => [
        address,
        { balance: hex(BALANCE), ...(delegated.includes(index) && { code: DELEGATION }) },
      ]),
    ]),
  };
}

const FORKS_BY_BLOCK = [
  'homestead',
  'eip150',
  'eip155',
  'eip158',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
];
const FORKS_BY_TIME = ['shanghai', 'cancun', 'prague'];

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
