import { PauseDto } from './pauses.dto.js';
import { CHAIN_BEHIND, ChainBehindDto } from './chain-behind.dto.js';
import { NONCE_GAP, NonceGapDto } from './nonce-gap.dto.js';
import { ApiProperty } from '@nestjs/swagger';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { ENDPOINT_STATES } from '../../../chain/index.js';
import { COMMAND_KINDS } from '../../../commands/index.js';
import { TX_STATES, TX_SUB_STATES } from '../../../ledger/index.js';

class NextDto {
  @ApiProperty({ example: 'Lockstep sends the same bytes again' }) what!: string;
  @ApiProperty({ type: String, nullable: true, example: '2026-11-21T08:01:00.000Z' }) at!: string | null;
}

class QueueDto {
  @ApiProperty({ type: Number, nullable: true, example: 3, description: 'Null beyond 10,000' }) position!:
    | number
    | null;
  @ApiProperty({
    example: 2,
    description: 'Transactions of its signer that come before it; at most 10,000 are counted',
  })
  ahead!: number;
}

class BlockedByDto {
  @ApiProperty({
    type: String,
    nullable: true,
    example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
    description: 'Null for a transaction of another account',
  })
  txId!: string | null;
  @ApiJsonInteger({ example: 7 }) nonce!: number | string;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', example: 'IN_MEMPOOL' }) state!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'The name of the account that reserved the nonce for a system that signs itself, or `another account` for callers that may not know it; null for a transaction',
  })
  heldBy!: string | null;
}

class WeiPerGasDto {
  @ApiProperty({ example: '3000000000' }) maxFeePerGas!: string;
  @ApiProperty({ example: '1000000000' }) maxPriorityFeePerGas!: string;
}

class PriceDto {
  @ApiProperty({ type: WeiPerGasDto, nullable: true, description: 'Of the attempts that may be out' })
  highestAttempt!: WeiPerGasDto | null;
  @ApiProperty({ type: WeiPerGasDto, description: 'Of its speed' }) market!: WeiPerGasDto;
  @ApiProperty({ example: '2000000000', description: '90th percentile of the tips of recent transactions' })
  congestedTip!: string;
  @ApiProperty({
    type: Boolean,
    nullable: true,
    example: false,
    description: 'It pays that tip: price is not the reason',
  })
  aboveMarket!: boolean | null;
}

class EndpointDto {
  @ApiProperty({ example: '#0 https://rpc.example' }) endpoint!: string;
  @ApiProperty({ enum: ENDPOINT_STATES, enumName: 'EndpointState', example: 'up' }) state!: string;
  @ApiProperty({ type: String, nullable: true, example: null }) lastError!: string | null;
}

class BalanceDto {
  @ApiProperty({ example: '1000000000000000000' }) balance!: string;
  @ApiProperty({ example: '126000000000000', description: 'What the transactions in flight may take' })
  committed!: string;
  @ApiProperty({ example: '0', description: 'What the transactions before it in the queue may take; an estimate' })
  queuedAhead!: string;
  @ApiProperty({ example: '0', description: 'What the balance lacks for all of them and for this one' })
  missing!: string;
}

class ExplainedLimitDto {
  @ApiProperty({ example: 1000 }) configured!: number;
  @ApiProperty({ type: Number, nullable: true, example: 64, description: 'Known only by the owner of the lease' })
  learnt!: number | null;
  @ApiProperty({ example: false, description: 'Its account runs the code of a contract (EIP-7702)' })
  delegated!: boolean;
}

class ExplainedSignerDto {
  @ApiProperty({ type: PauseDto, nullable: true, example: null, description: 'The oldest pause that holds for it' })
  paused!: PauseDto | null;
  @ApiProperty({ type: ChainBehindDto, nullable: true, example: null, description: CHAIN_BEHIND })
  behind!: ChainBehindDto | null;
  @ApiProperty({
    example: false,
    description: 'Its custody is `external`: outside senders sign, and Lockstep signs nothing',
  })
  external!: boolean;
  @ApiProperty({ type: NonceGapDto, nullable: true, example: null, description: NONCE_GAP })
  nonceGap!: NonceGapDto | null;
  @ApiProperty({ type: String, nullable: true, example: 'pod-1-3f9a1c' }) leaseOwner!: string | null;
  @ApiProperty({ example: 3 }) inFlight!: number;
  @ApiProperty({ type: ExplainedLimitDto }) inFlightLimit!: ExplainedLimitDto;
}

class WaitingCommandDto {
  @ApiProperty({ enum: COMMAND_KINDS, enumName: 'CommandKind', example: 'cancel' }) kind!: string;
  @ApiProperty({ example: '2026-11-21T08:00:30.000Z' }) since!: string;
  @ApiProperty({ example: 0, description: 'How often it could not be carried out' }) tries!: number;
  @ApiProperty({ example: '2026-11-21T08:00:30.000Z' }) nextTryAt!: string;
}

class FactsDto {
  @ApiProperty({
    type: WaitingCommandDto,
    nullable: true,
    description: 'The oldest command about it that waits for the owner of its signer',
  })
  command!: WaitingCommandDto | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'When the first no-op was signed that competes with it for its nonce',
  })
  noOpSignedAt!: string | null;
  @ApiProperty({ type: QueueDto, nullable: true, description: 'Null once it is mined' }) queue!: QueueDto | null;
  @ApiProperty({ type: BlockedByDto, nullable: true, description: 'The lowest unmined nonce of its signer before it' })
  blockedBy!: BlockedByDto | null;
  @ApiProperty({
    type: PriceDto,
    nullable: true,
    description: 'Null once it is mined, and while the chain does not answer',
  })
  price!: PriceDto | null;
  @ApiProperty({ example: 1 }) attempts!: number;
  @ApiProperty({ type: [EndpointDto], description: 'As the node sees them that answers' }) endpoints!: EndpointDto[];
  @ApiProperty({
    type: BalanceDto,
    nullable: true,
    description: 'Null once it is mined, and while the chain does not answer',
  })
  balance!: BalanceDto | null;
  @ApiProperty({ type: ExplainedSignerDto }) signer!: ExplainedSignerDto;
}

export class ExplanationDto {
  @ApiProperty({ example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8c' }) txId!: string;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', example: 'IN_MEMPOOL' }) state!: string;
  @ApiProperty({ enum: TX_SUB_STATES, enumName: 'TxSubState', nullable: true, example: 'STALE' }) subState!:
    | string
    | null;
  @ApiProperty({
    example:
      'The transaction was sent more than once and is not mined: transaction 019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b with the lower nonce 7 must be mined first.',
  })
  summary!: string;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z', description: 'When it entered this state or sub state' })
  since!: string;
  @ApiProperty({ type: NextDto }) next!: NextDto;
  @ApiProperty({ type: [String], example: [], description: 'What an operator can do' }) operator!: string[];
  @ApiProperty({ type: FactsDto }) facts!: FactsDto;
}
