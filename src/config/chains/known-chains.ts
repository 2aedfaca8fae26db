import type { ChainProfile } from './chain-profile.js';

// Read in November 2026. What differs from the chain that is met is told in the log; the config wins over each value.
const VIEM = 'viem/chains 2.57.20';
const chainlink = (file: string): string => `smartcontractkit/chainlink-evm pkg/config/toml/defaults/${file}.toml`;
const EIP_7607 = 'EIP-7607 (Fusaka), table of activations: EIP-7825 caps a transaction at 2^24 gas';
const PECTRA = 'EIP-7600 (Pectra), table of activations';
const KARST = 'ethereum-optimism/optimism release op-node/v1.19.1: Karst (Osaka, EIP-7825) since 2026-07-08';
const CAP_OF_OSAKA = 2 ** 24;

const EIP_1559 = ['eip1559', 'headers have baseFeePerGas'] as const;
const NO_DATA_FEE = ['none', 'the gas price has it, or the chain has no L1'] as const;
const NO_BLOBS = [false, 'its docs have no transactions of type 3'] as const;
const NO_CAP = [null, 'no cap of one transaction in its docs'] as const;
const NOT_KNOWN = [null, 'not known: not in its docs'] as const;

const of = (
  id: number,
  name: string,
  nativeSymbol: string,
  explorer: string,
): Pick<ChainProfile, 'id' | 'name' | 'nativeSymbol' | 'explorer'> => ({
  id,
  name: [name, VIEM],
  nativeSymbol: [nativeSymbol, VIEM],
  explorer: [explorer, VIEM],
});

const PLAIN = { feeType: EIP_1559, l1DataFee: NO_DATA_FEE, blobs: NO_BLOBS } as const;

const ETHEREUM = {
  blockTimeMs: [12_000, 'ethereum/consensus-specs: SECONDS_PER_SLOT'],
  finality: [
    'finalized',
    `two epochs: never reorged without slashing a third of the stake; every client has the tag; ${chainlink('Ethereum_Mainnet')}`,
  ],
  feeType: EIP_1559,
  l1DataFee: NO_DATA_FEE,
  transactionGasCap: [CAP_OF_OSAKA, EIP_7607],
  blobs: [true, 'EIP-4844, since Dencun'],
  authorizations: [true, PECTRA],
} as const;

const OP_STACK = {
  blockTimeMs: [2_000, 'viem/op-stack 2.57.20'],
  finality: [
    'finalized',
    `the batch is in a final block of the L1: the sequencer alone can reorg what is not; every op-node has the tag; ${chainlink('Base_Mainnet')}`,
  ],
  feeType: EIP_1559,
  l1DataFee: [
    'optimism',
    'docs.optimism.io: GasPriceOracle is predeployed at 0x420000000000000000000000000000000000000F',
  ],
  blobs: NO_BLOBS,
  authorizations: [
    true,
    'docs.base.org/base-chain/specs/upgrades/isthmus/overview: Isthmus has Pectra for all chains of the stack',
  ],
} as const;

/** The chains that need no more than their id and endpoints in the config. */
export const KNOWN_CHAINS: readonly ChainProfile[] = [
  { ...of(1, 'Ethereum', 'ETH', 'https://etherscan.io'), ...ETHEREUM },
  { ...of(11_155_111, 'Sepolia', 'ETH', 'https://sepolia.etherscan.io'), ...ETHEREUM },
  { ...of(17_000, 'Holesky', 'ETH', 'https://holesky.etherscan.io'), ...ETHEREUM },
  { ...of(560_048, 'Hoodi', 'ETH', 'https://hoodi.etherscan.io'), ...ETHEREUM },
  {
    ...of(10, 'OP Mainnet', 'ETH', 'https://optimistic.etherscan.io'),
    ...OP_STACK,
    transactionGasCap: [CAP_OF_OSAKA, KARST],
  },
  {
    ...of(8_453, 'Base', 'ETH', 'https://basescan.org'),
    ...OP_STACK,
    transactionGasCap: [
      CAP_OF_OSAKA,
      'docs.base.org/base-chain/network-information/throughput-and-limits: Azul (EIP-7825)',
    ],
  },
  {
    ...of(130, 'Unichain', 'ETH', 'https://uniscan.xyz'),
    ...OP_STACK,
    blockTimeMs: [1_000, VIEM],
    transactionGasCap: [CAP_OF_OSAKA, KARST],
  },
  {
    ...of(480, 'World Chain', 'ETH', 'https://worldscan.org'),
    ...OP_STACK,
    transactionGasCap: [null, 'not among the chains with Karst (Osaka) in the release op-node/v1.19.1'],
  },
  {
    ...of(81_457, 'Blast', 'ETH', 'https://blastscan.io'),
    ...OP_STACK,
    transactionGasCap: [null, 'not among the chains with Karst (Osaka) in the release op-node/v1.19.1'],
    authorizations: NOT_KNOWN,
  },
  {
    ...of(5_000, 'Mantle', 'MNT', 'https://mantlescan.xyz'),
    ...OP_STACK,
    blockTimeMs: [2_000, chainlink('Mantle_Mainnet')],
    finality: ['finalized', `the batch is in a final block of the L1; ${chainlink('Mantle_Mainnet')}`],
    l1DataFee: ['optimism', 'mantle-xyz/op-geth release v1.5.4: Arsia has the oracle and the cost function of Fjord'],
    transactionGasCap: [null, 'mantle-xyz/op-geth core/txpool/validation.go: EIP-7825 is not enforced on the L2'],
    authorizations: [true, 'mantle-xyz/op-geth release v1.3.1: Skadi'],
  },
  {
    ...of(42_220, 'Celo', 'CELO', 'https://celoscan.io'),
    ...OP_STACK,
    blockTimeMs: [1_000, 'docs.celo.org/cel2/whats-changed/op-l2'],
    l1DataFee: ['none', 'docs.celo.org/specs/transaction-fees: L1 and operator fees are always zero'],
    transactionGasCap: NO_CAP,
  },
  {
    ...of(42_161, 'Arbitrum One', 'ETH', 'https://arbiscan.io'),
    ...PLAIN,
    blockTimeMs: [250, VIEM],
    finality: [
      'finalized',
      `the batch is in a final block of the L1: the sequencer alone can reorg what is not; Nitro has the tag; ${chainlink('Arbitrum_Mainnet')}`,
    ],
    transactionGasCap: [
      32_000_000,
      'OffchainLabs/nitro l2pricing InitialPerTxGasLimitV50; docs.arbitrum.io: ArbOS 51 since 2026-01-08',
    ],
    authorizations: [true, 'portal.thirdweb.com/changelog/eip-7702-smart-eoas-now-available-on-arbitrum (ArbOS 40)'],
  },
  {
    ...of(137, 'Polygon', 'POL', 'https://polygonscan.com'),
    ...PLAIN,
    blockTimeMs: [2_000, VIEM],
    finality: [
      500,
      `reorgs of hundreds of blocks were seen, and the tag was violated; ${chainlink('Polygon_Mainnet')}`,
    ],
    minPriorityFeePerGas: [
      30_000_000_000n,
      `bor's pool takes 25 gwei (params.BorDefaultTxPoolPriceLimit), many providers 30; ${chainlink('Polygon_Mainnet')}`,
    ],
    transactionGasCap: [2 ** 25, '0xPolygon/bor params.MaxTxGas, since Madhugiri (EIP-7825)'],
    authorizations: [true, '0xPolygon/bor: Bhilai (Pectra)'],
  },
  {
    ...of(56, 'BNB Smart Chain', 'BNB', 'https://bscscan.com'),
    ...PLAIN,
    blockTimeMs: [450, 'docs.bnbchain.org/announce/fermi-bsc (BEP-619)'],
    finality: [
      'finalized',
      'BEP-126: two of three validators voted for it, usually two blocks later; every node has the tag',
    ],
    minPriorityFeePerGas: [
      50_000_000n,
      'the base fee is 0 (BEP-226), and validators take 0.05 gwei; chainflip-io/chainflip-eth-contracts#535',
    ],
    transactionGasCap: [CAP_OF_OSAKA, 'BEP-652 (EIP-7825), of the hard fork Mendel (BEP-658)'],
    blobs: [true, 'BEP-336 (EIP-4844)'],
    authorizations: [true, 'BEP-441, since Pascal'],
  },
  {
    ...of(43_114, 'Avalanche', 'AVAX', 'https://snowtrace.io'),
    ...PLAIN,
    blockTimeMs: [1_700, VIEM],
    finality: [
      20,
      `an accepted block is final; our default is above the 10 of ${chainlink('Avalanche_Mainnet')}, and works at every endpoint`,
    ],
    transactionGasCap: NO_CAP,
    authorizations: NOT_KNOWN,
  },
  {
    ...of(100, 'Gnosis', 'XDAI', 'https://gnosisscan.io'),
    blockTimeMs: [5_000, VIEM],
    finality: [
      'finalized',
      'docs.gnosischain.com: a beacon chain as Ethereum has, with epochs of 16 slots of 5 s; every client has the tag',
    ],
    minPriorityFeePerGas: [1_000_000_000n, `the least that validators take; ${chainlink('Gnosis_Mainnet')}`],
    feeType: EIP_1559,
    l1DataFee: NO_DATA_FEE,
    transactionGasCap: [null, 'gnosischain/reth_gnosis v1.0.2 has Fusaka on the test chain Chiado only'],
    blobs: [true, 'docs.gnosischain.com/about/specs/hard-forks/dencun'],
    authorizations: [true, 'docs.gnosischain.com: Pectra'],
  },
  {
    ...of(59_144, 'Linea', 'ETH', 'https://lineascan.build'),
    ...PLAIN,
    blockTimeMs: [2_000, VIEM],
    finality: [300, `no docs promise the tags at public endpoints; ${chainlink('Linea_Mainnet')}`],
    transactionGasCap: NO_CAP,
    authorizations: [false, 'docs.linea.build/network/how-to/gas-fees: types 0, 1 and 2'],
  },
  {
    ...of(534_352, 'Scroll', 'ETH', 'https://scrollscan.com'),
    ...PLAIN,
    blockTimeMs: [3_000, 'docs.scroll.io/en/technology/chain/blocks'],
    finality: [20, 'docs.scroll.io: reorgs are 17 blocks deep at most, since DarwinV2'],
    l1DataFee: [
      'none',
      'its oracle (0x5300000000000000000000000000000000000002) is not that of the OP stack: the fee is not counted',
    ],
    transactionGasCap: NO_CAP,
    authorizations: [true, 'docs.scroll.io: Euclid'],
  },
  {
    ...of(324, 'ZKsync Era', 'ETH', 'https://explorer.zksync.io'),
    ...PLAIN,
    blockTimeMs: [200, VIEM],
    finality: [
      20,
      `a sequencer orders, and proofs take hours; our default is above the 10 of ${chainlink('ZKsync_Mainnet')}`,
    ],
    transactionGasCap: NO_CAP,
    inFlightStart: [50, 'matter-labs/zksync-era etc/env/base/api.toml: max_nonce_ahead'],
    authorizations: [
      false,
      'matter-labs.github.io/zksync-os-server/latest/design/rpc.html: nothing of EIP-4844 and EIP-7702',
    ],
  },
  {
    ...of(1_284, 'Moonbeam', 'GLMR', 'https://moonscan.io'),
    ...PLAIN,
    blockTimeMs: [6_000, 'docs.moonbeam.network/learn/features/consensus: asynchronous backing'],
    finality: [
      'finalized',
      'docs.moonbeam.network/learn/features/consensus: GRANDPA of the relay chain; Frontier has the tag',
    ],
    transactionGasCap: NO_CAP,
    authorizations: [true, 'moonbeam-foundation/moonbeam release v0.47.0'],
  },
  {
    ...of(314, 'Filecoin', 'FIL', 'https://filfox.info/en'),
    ...PLAIN,
    name: ['Filecoin', `${VIEM}, shorter`],
    blockTimeMs: [30_000, 'FIP-0086: 900 epochs are 7.5 hours'],
    finality: [
      'safe',
      'filecoin-project/lotus#13026: final by F3 (FIP-0086), or 200 epochs deep without it; finalized is 900 epochs (7.5 hours) at /rpc/v1',
    ],
    transactionGasCap: NO_CAP,
    inFlightStart: [
      10,
      'filecoin-project/lotus chain/messagepool MaxUntrustedActorPendingMessages: a public endpoint (gateway) keeps no more',
    ],
    authorizations: [false, 'FIP-0091: legacy and EIP-1559 transactions only'],
  },
  {
    ...of(295, 'Hedera', 'HBAR', 'https://hashscan.io/mainnet'),
    ...PLAIN,
    name: ['Hedera', `${VIEM}, shorter`],
    blockTimeMs: [2_000, chainlink('Hedera_Mainnet')],
    finality: [20, `consensus is final within seconds; our default is above the 10 of ${chainlink('Hedera_Mainnet')}`],
    transactionGasCap: [15_000_000, 'hiero-ledger/hiero-json-rpc-relay v0.79.0: MAX_TRANSACTION_GAS_LIMIT'],
    inFlightStart: [
      1,
      'hiero-ledger/hiero-json-rpc-relay#4454: no mempool, what has not the next nonce is refused (WRONG_NONCE)',
    ],
    authorizations: [null, 'not known: the relay has it since v0.79.0, which not every endpoint runs'],
  },
  {
    ...of(1_329, 'Sei', 'SEI', 'https://seiscan.io'),
    ...PLAIN,
    name: ['Sei', `${VIEM}, shorter`],
    blockTimeMs: [400, 'docs.sei.io/develop/faq'],
    finality: [
      20,
      'docs.sei.io/evm/evm-parity/finality: every block is final, and the tags are the head; our default covers endpoints that differ',
    ],
    transactionGasCap: NO_CAP,
    authorizations: [true, 'docs.sei.io/develop/faq: Pectra without blobs'],
  },
  {
    ...of(80_094, 'Berachain', 'BERA', 'https://berascan.com'),
    ...PLAIN,
    blockTimeMs: [2_000, VIEM],
    finality: [
      20,
      'docs.berachain.com: CometBFT, a block is final when it is there; our default covers endpoints that differ',
    ],
    transactionGasCap: NO_CAP,
    blobs: NOT_KNOWN,
    authorizations: [true, 'blog.berachain.com: Bectra'],
  },
  {
    ...of(143, 'Monad', 'MON', 'https://monadscan.com'),
    ...PLAIN,
    blockTimeMs: [300, VIEM],
    finality: [
      'finalized',
      'docs.monad.xyz/monad-arch/consensus/block-states: the head is only proposed; two blocks later it has the tag',
    ],
    transactionGasCap: [30_000_000, 'docs.monad.xyz/developer-essentials/gas-pricing'],
    authorizations: [true, 'docs.monad.xyz/developer-essentials/summary'],
  },
  {
    ...of(999, 'HyperEVM', 'HYPE', 'https://hyperevmscan.io'),
    ...PLAIN,
    blockTimeMs: [1_000, 'hyperliquid.gitbook.io: small blocks'],
    finality: [20, 'hyperliquid.gitbook.io: HyperBFT, a block is final when it is there; its docs have no tags'],
    transactionGasCap: NO_CAP,
    inFlightStart: [
      8,
      'hyperliquid.gitbook.io/Hyperliquid-docs/for-developers/hyperevm/dual-block-architecture: the next 8 nonces of an account',
    ],
    authorizations: [false, 'hyperliquid.gitbook.io/Hyperliquid-docs/for-developers/hyperevm: Cancun without blobs'],
  },
];
